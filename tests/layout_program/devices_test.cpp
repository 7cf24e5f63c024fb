// The devices view, against every row of the trace.
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/device_times.h"
#include "tests/layout_program/runs.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "views/layout/devices/devices.h"
#include "views/layout/devices/now.h"
#include "views/layout/devices/places.h"
#include "views/layout/roofline/roofline.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/tooltip/tooltip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace pallascope;
using namespace pallascope::layout;
using trace::at;

namespace {

const RunView& ring()
{
    return *test::runOf("a ring of devices").view;
}

std::vector<Picoseconds> moments(const RunView& run, std::uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<Picoseconds> times{Picoseconds(0), run.trace->end()};
    const trace::Copies& copies = run.trace->copies();
    for (int i = 0; i < 40; ++i) {
        const std::size_t row = random() % copies.size();
        times.emplace_back(copies.start[row]);
        times.emplace_back(copies.end[row]);
        times.emplace_back(static_cast<std::int64_t>(random()) % run.trace->end().value());
    }
    return times;
}

ViewState looking(Picoseconds now, std::int32_t device)
{
    ViewState state;
    state.now = now;
    state.device = device;
    return state;
}

} // namespace

TEST(Mesh, isReadOffTheProgram)
{
    EXPECT_EQ(trace::meshOf(ring().trace->info()), (std::vector<trace::MeshAxis>{{"d", 8}}));
    EXPECT_EQ(trace::meshOf(test::sharedMainJob().trace->info()),
              (std::vector<trace::MeshAxis>{{"", 1}}));
    trace::Info info = ring().trace->info();
    info.listing.edit()[0].text = "f(x) mesh=(a:2, long:2, b:2) {";
    EXPECT_EQ(trace::meshOf(info), (std::vector<trace::MeshAxis>{{"a", 2}, {"long", 2}, {"b", 2}}));
    for (const char* head : {"f() mesh=(a:3) {", "f() mesh=(a:-2, b:-4) {", "f() mesh=(a) {",
                             "f() mesh=(a:99999999999) {", "f() mesh=( {", ""}) {
        info.listing.edit()[0].text = head;
        EXPECT_EQ(trace::meshOf(info), (std::vector<trace::MeshAxis>{{"", 8}})) << head;
    }
}

TEST(Mesh, numbersPlacesRowMajor)
{
    const std::vector<trace::MeshAxis> mesh{{"a", 2}, {"b", 3}, {"c", 4}};
    std::set<std::vector<std::int32_t>> seen;
    for (std::int32_t device = 0; device < 24; ++device) {
        const auto place = trace::placeInMesh(mesh, device);
        EXPECT_EQ((place[0] * 3 + place[1]) * 4 + place[2], device);
        EXPECT_TRUE(seen.insert(place).second);
    }
}

TEST(Links, carryWhatTheTraceSaysMoves)
{
    const RunView& run = ring();
    const trace::Copies& copies = run.trace->copies();
    const auto mesh = trace::meshOf(run.trace->info());
    std::size_t seen = 0;
    for (const Picoseconds now : moments(run, 1)) {
        const auto links = devices::linksNow(run, mesh, now);
        ASSERT_EQ(links.size(), 16U);
        for (const devices::LinkNow& link : links) {
            std::vector<std::size_t> moving, queued;
            for (std::size_t row = 0; row < copies.size(); ++row) {
                if (at(copies.link[row]) != link.link || copies.issue[row] > now.value()
                    || copies.end[row] <= now.value()) {
                    continue;
                }
                (copies.start[row] <= now.value() ? moving : queued).push_back(row);
            }
            EXPECT_EQ(link.copy.has_value(), !moving.empty());
            EXPECT_EQ(link.queued, queued.size());
            if (link.copy) {
                EXPECT_EQ(link.copy->index(), moving.front());
                EXPECT_EQ(link.fraction,
                          trace::copyFraction(*run.trace, trace::CopyRow::at(moving.front()), now));
                EXPECT_EQ(trace::receiverOf(*run.trace, mesh, *link.copy), link.to.device);
                ++seen;
            }
            const std::int32_t step = link.to.forwards ? 1 : 7;
            EXPECT_EQ(link.to.device, (link.from + step) % 8);
        }
    }
    EXPECT_GT(seen, 50U);
}

// A trace of an earlier version has no ends of copies.
TEST(Receivers, areTheSameWithoutTheEndsOfCopies)
{
    const trace::Trace& trace = *ring().trace;
    trace::TraceBuilder builder{
        trace.info(),         trace.steps(),  trace.segments(), trace.copies(), {},
        trace.waits(),        trace.visits(), trace.signals(),  trace.rounds(), trace.gridBlocks(),
        trace.cacheChanges(), trace.end()};
    builder.info.copiedShapes = {};
    const auto without = std::move(builder).finish();
    ASSERT_TRUE(without) << without.error().message;
    const auto mesh = trace::meshOf(trace.info());
    std::size_t seen = 0;
    for (std::size_t row = 0; row < trace.copies().size(); ++row) {
        if (trace.info().joinsDevices(at(trace.copies().link[row]))) {
            const trace::CopyRow copy = trace::CopyRow::at(row);
            EXPECT_EQ(trace::receiverOf(trace, mesh, copy),
                      trace::receiverOf(**without, mesh, copy))
                << row;
            ++seen;
        }
    }
    EXPECT_EQ(seen, 16U);
}

// Together the devices are as busy as the unit is in the whole run, which is summed elsewhere.
TEST(DeviceTimes, sumUpToThoseOfTheRun)
{
    const RunView& run = ring();
    const trace::DeviceTimes& times = run.index->devices();
    const trace::Waits& waits = run.trace->waits();
    ASSERT_TRUE(times.unit());
    for (const Picoseconds now : moments(run, 2)) {
        Picoseconds busy;
        for (std::int32_t device = 0; device < 8; ++device) {
            busy += times.busy(device, now);
            Picoseconds waited;
            for (std::size_t row = 0; row < waits.size(); ++row) {
                const bool forOthers =
                    waits.copy[row] == trace::kNone
                    || run.trace->info()
                               .links[at(run.trace->copies().link[at(waits.copy[row])])]
                               .kind
                           == "ICI";
                if (waits.agent[row] == device && forOthers && waits.begin[row] < now.value()) {
                    waited += Picoseconds(std::min(now.value(), waits.end[row]) - waits.begin[row]);
                }
            }
            EXPECT_EQ(times.waited(device, now), waited) << device;
        }
        EXPECT_EQ(busy, run.index->unitBusy(*times.unit(), now)) << now.value();
    }
}

TEST(DeviceTimes, nameTheDeviceForWhichTheOthersWait)
{
    EXPECT_EQ(ring().index->devices().straggler(), 3);
    EXPECT_GT(ring().index->devices().lead(), Picoseconds(0));
    // All have the same to do.
    EXPECT_EQ(test::runOf("a pipeline on each device").view->index->devices().straggler(),
              trace::kNone);
}

TEST(Places, closeARingInTwoRows)
{
    const devices::Places places = devices::placesOf({{"x", 8}});
    EXPECT_TRUE(places.closes);
    for (std::size_t device = 0; device < 8; ++device) {
        const devices::Place a = places.all[device], b = places.all[(device + 1) % 8];
        EXPECT_EQ(std::abs(a.row - b.row) + std::abs(a.column - b.column), 1) << device;
    }
}

TEST(Places, areTheCoordinatesInAMesh)
{
    const devices::Places places = devices::placesOf({{"a", 2}, {"b", 4}});
    EXPECT_FALSE(places.closes);
    for (std::int32_t device = 0; device < 8; ++device) {
        EXPECT_EQ(places.all[at(device)], (devices::Place{device / 4, device % 4}));
    }
}

TEST(Places, areApartForAnyNumberOfDevices)
{
    for (std::int32_t devices = 2; devices <= 300; ++devices) {
        const devices::Places places = devices::placesOf({{"x", devices}});
        std::set<std::pair<std::int32_t, std::int32_t>> taken;
        for (const devices::Place& place : places.all) {
            EXPECT_TRUE(taken.emplace(place.row, place.column).second) << devices;
            EXPECT_LT(place.row, places.rows);
            EXPECT_LT(place.column, places.columns);
        }
    }
}

TEST(DevicesView, showsEachDeviceWithATooltip)
{
    const RunView& run = ring();
    for (const Size size : {Size{333, 420}, Size{495, 660}, Size{800, 640}, Size{1400, 300}}) {
        for (const Picoseconds now : moments(run, 3)) {
            const Scene scene = layoutDevices(run, looking(now, 3), size);
            std::set<std::int32_t> shown;
            for (const Hit& hit : scene.hits) {
                EXPECT_LE(hit.rect.right(), size.width + 4);
                if (const auto* device = std::get_if<target::Device>(&hit.target)) {
                    shown.insert(device->device);
                    EXPECT_GE(tooltip(run, looking(now, 3), hit.target).size(), 3U);
                }
            }
            EXPECT_EQ(shown.size(), 8U);
            EXPECT_TRUE(test::textsOutside(scene).empty()) << size.width;
        }
    }
}

TEST(DevicesView, listsWhatIsOnTheLinksInWords)
{
    const RunView& run = ring();
    const trace::Copies& copies = run.trace->copies();
    const auto mesh = trace::meshOf(run.trace->info());
    // In the middle of a copy between devices.
    std::size_t row = 0;
    while (!trace::neighbourOver(run.trace->info(), mesh, at(copies.link[row]))) {
        ++row;
    }
    const Picoseconds now((copies.start[row] + copies.end[row]) / 2);
    const Scene scene = layoutDevices(run, looking(now, 0), {800, 640});
    EXPECT_TRUE(test::hasText(scene, "0 → 1"));
    EXPECT_TRUE(test::hasText(scene, "0 → 7"));
    const std::string left = timeText(Picoseconds(copies.end[row]) - now);
    EXPECT_TRUE(test::hasText(scene, left)) << left;
    const auto links = devices::linksNow(run, mesh, now);
    const auto moving = std::count_if(links.begin(), links.end(), [](const devices::LinkNow& link) {
        return link.copy.has_value();
    });
    EXPECT_NE(
        parts::plain(scene.caption).find(std::to_string(moving) + " of 16 links carry something"),
        std::string::npos)
        << scene.caption;
    EXPECT_TRUE(test::hasText(scene, "straggler"));
}

TEST(DevicesView, saysWhyItIsEmpty)
{
    const Scene scene =
        layoutDevices(test::sharedMainJob(), looking(Picoseconds(0), 0), {400, 300});
    EXPECT_TRUE(test::hasText(scene, "one device"));
}

// Without FLOPs the caption of the roofline says what HBM moves. Links between devices move bytes
// of HBM too, but do not take its bandwidth.
TEST(Roofline, ofDevicesSaysWhatTheLinksOfHbmMove)
{
    RunView run = ring();
    run.report.flops = Flops(0);
    run.report.roofline.peak.reset();
    const trace::Copies& copies = run.trace->copies();
    double between = 0;
    for (const double share : {0.3, 0.7, 1.0}) {
        const Picoseconds now(std::llround(share * static_cast<double>(run.trace->end().value())));
        double moved = 0;
        for (std::size_t row = 0; row < copies.size(); ++row) {
            const bool isOfHbm = run.trace->info().links[at(copies.link[row])].kind == "HBM";
            (isOfHbm ? moved : between) +=
                static_cast<double>(copies.bytes[row])
                * trace::copyFraction(*run.trace, trace::CopyRow::at(row), now);
        }
        const std::string rate = bandwidthText(moved / toSeconds(now).value());
        const std::string caption =
            analysis::plain(layoutRoofline(run, looking(now, 0), {669, 318}).caption);
        EXPECT_NE(caption.find(" " + rate + " of "), std::string::npos) << caption << " " << rate;
    }
    EXPECT_GT(between, 0);
}
