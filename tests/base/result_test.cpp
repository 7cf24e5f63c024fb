// Results and errors as values.
#include "core/base/result.h"
#include "core/base/sentence.h"

#include <gtest/gtest.h>

#include <memory>

namespace pallascope {

namespace {

TEST(ResultTest, holdsAValueOrAnErrorWithItsOwner)
{
    const Result<int> value = 3;
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(*value, 3);
    const Result<int> error = limitError("The thing is 5; expected 4.");
    EXPECT_FALSE(error);
    EXPECT_EQ(error.error().kind, ErrorKind::Limit);
    EXPECT_EQ(error.error().message, "The thing is 5; expected 4.");
    EXPECT_EQ(userError("x").kind, ErrorKind::User);
}

TEST(ResultTest, theWrongSideThrowsInReleaseToo)
{
    const Result<int> value = 3;
    const Result<int> error = userError("no");
    EXPECT_THROW(static_cast<void>(value.error()), std::bad_variant_access);
    EXPECT_THROW(static_cast<void>(error.value()), std::bad_variant_access);
}

TEST(ResultTest, givesAwayWhatCannotBeCopied)
{
    Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
    const std::unique_ptr<int> taken = *std::move(result);
    EXPECT_EQ(*taken, 7);
}

TEST(ErrorTest, saysWhatItIsAboutAlsoInOtherWords)
{
    const Error error = limitError("bm is 7.", {{Subject::Parameter, "bm"}});
    EXPECT_TRUE(error.isAbout(Subject::Parameter));
    EXPECT_FALSE(error.isAbout(Subject::File));
    const Error other = reworded(error, "line 4: bm\nis 7.");
    EXPECT_EQ(other.message, "line 4: bm\\x0ais 7.");
    EXPECT_EQ(other.kind, ErrorKind::Limit);
    EXPECT_EQ(other.about, error.about);
}

TEST(ErrorTest, isAboutTheFileThatIsSaidFirst)
{
    const Error inner = aboutFile(userError("a.npz is damaged."), "a.npz");
    ASSERT_EQ(inner.about, (std::vector<About>{{Subject::File, "a.npz"}}));
    EXPECT_EQ(aboutFile(inner, "b.json").about, inner.about);
    EXPECT_TRUE(aboutFile(Result<int>(7), "a.npz").has_value());
    EXPECT_EQ(aboutFile(Result<int>(inner), "b.json").error().about, inner.about);
}

TEST(ErrorTest, whatWasCancelledIsAboutNothing)
{
    EXPECT_EQ(cancelled().kind, ErrorKind::Cancelled);
    EXPECT_TRUE(aboutFile(cancelled(), "a.npz").about.empty());
    EXPECT_EQ(asSentence(cancelled()).kind, ErrorKind::Cancelled);
}

} // namespace

} // namespace pallascope
