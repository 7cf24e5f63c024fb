// The table of views, on which pictures and the window rely.
#include "tests/support/run_view_fixture.h"
#include "views/layout/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace pallascope;
using namespace pallascope::layout;

TEST(Views, haveNamesAndKeysOfTheirOwn)
{
    std::set<std::string_view> names;
    std::set<int> keys;
    for (const View& view : allViews()) {
        EXPECT_EQ(findView(view.name), &view);
        names.insert(view.name);
        keys.insert(view.key);
    }
    EXPECT_EQ(names.size(), allViews().size());
    ASSERT_EQ(keys.size(), allViews().size());
    EXPECT_EQ(*keys.begin(), 1);
    EXPECT_EQ(*keys.rbegin(), static_cast<int>(keys.size()));
    EXPECT_EQ(findView("window"), nullptr);
}

TEST(Views, haveTheTitlesOfTheirScenes)
{
    const RunView& run = test::sharedMainJob();
    ViewState state;
    state.visible = firstFrame(*run.trace);
    for (const View& view : allViews()) {
        EXPECT_EQ(view.layout(run, state, view.pictureSize).title, view.title);
    }
}

TEST(Views, fillColumnsWithoutAGap)
{
    for (const bool large : {false, true}) {
        std::set<int> columns;
        for (const View& view : allViews()) {
            const Size size = large ? view.dock.large : view.dock.small;
            if (size.height > 0) {
                // The first dock of a column sets its width.
                EXPECT_TRUE(view.dock.column == DockPlace::kStrip || size.width > 0) << view.name;
                columns.insert(view.dock.column);
            }
        }
        ASSERT_FALSE(columns.empty());
        EXPECT_EQ(*columns.begin(), DockPlace::kStrip);
        EXPECT_EQ(*columns.rbegin() + 2, static_cast<int>(columns.size()));
    }
}
