// Whatever is in a file: load gives a trace or an error, never anything else; and a trace that it
// gives can be looked at.
#include "core/trace/file.h"
#include "core/trace/lookup.h"
#include "tests/support/random_trace.h"
#include "tests/support/synthetic_trace.h"
#include "tests/trace/file_support.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace pallascope::trace {

namespace {

// Asks everything of a trace that got through, at a few times.
void lookAt(const std::shared_ptr<const Trace>& trace)
{
    const Index index(trace);
    const auto count = [](const auto& list) { return static_cast<std::int32_t>(list.size()); };
    const Info& info = trace->info();
    for (int i = 0; i <= 4; ++i) {
        const Picoseconds t(trace->end().value() / 4 * i);
        const std::int32_t step = stepAt(*trace, t);
        for (std::int32_t buffer = 0; buffer < count(info.buffers); ++buffer) {
            (void)slotStateAt(*trace, buffer, t);
        }
        for (std::int32_t operand = 0; operand < count(info.operands); ++operand) {
            (void)visitAt(*trace, operand, step);
            (void)index.operandBytes(operand, true, t);
            (void)index.blocksWritten(operand, t);
            (void)index.blockStateAt(operand, i, t);
        }
        for (std::int32_t agent = 0; agent < count(info.agents); ++agent) {
            (void)operationAt(*trace, agent, t);
            (void)waitAt(*trace, agent, t);
        }
        for (std::int32_t link = 0; link < count(info.links); ++link) {
            (void)copiesInFlight(*trace, link, t);
            (void)index.linkBusy(link, false, t);
        }
        for (std::int32_t unit = 0; unit < count(info.units); ++unit) {
            (void)index.unitBusy(unit, t);
        }
        (void)index.flops(t);
        (void)index.waiting(t);
    }
}

// True when the text was refused, with a sentence.
bool refused(std::string text)
{
    const Result<std::shared_ptr<const Trace>> trace = fromJson(std::move(text), "f");
    if (trace) {
        lookAt(*trace);
        return false;
    }
    EXPECT_EQ(trace.error().message.find('f'), 0U) << trace.error().message;
    return true;
}

bool isDigit(char character)
{
    return character >= '0' && character <= '9';
}

// Replaces one number somewhere behind `from` by another that is likely to hurt.
std::string withOtherNumber(const std::string& text, std::size_t from, std::mt19937_64& random)
{
    static const char* const kNumbers[] = {"-1",
                                           "0",
                                           "1",
                                           "2",
                                           "3",
                                           "7",
                                           "64",
                                           "2147483647",
                                           "2147483648",
                                           "4294967296",
                                           "-9223372036854775808",
                                           "9223372036854775807",
                                           "18446744073709551615",
                                           "0.5",
                                           "1e300",
                                           "null",
                                           "\"a\"",
                                           "[]"};
    for (;;) {
        std::size_t first = from + random() % (text.size() - from);
        if (!isDigit(text[first])) {
            continue;
        }
        while (isDigit(text[first - 1]) || text[first - 1] == '-') {
            --first;
        }
        const std::size_t last = text.find_first_not_of("-0123456789.", first);
        return text.substr(0, first) + kNumbers[random() % std::size(kNumbers)] + text.substr(last);
    }
}

} // namespace

TEST(HostileFiles, everyTruncationIsRefused)
{
    const std::string text = toJson(*test::mainJob(2048));
    for (std::size_t length = 0; length + 2 < text.size(); length += 1 + length % 7) {
        ASSERT_TRUE(refused(text.substr(0, length))) << length;
    }
}

TEST(HostileFiles, everyTruncationOfAGzipFileIsRefused)
{
    const ScratchFolder folder;
    ASSERT_TRUE(save(*test::mainJob(2048), folder / "a.json.gz"));
    const std::string packed = contentOf(folder / "a.json.gz");
    for (std::size_t length = 0; length < packed.size(); length += 41) {
        writeContent(folder / "b.json.gz", packed.substr(0, length));
        ASSERT_FALSE(load(folder / "b.json.gz")) << length;
    }
}

TEST(HostileFiles, flippedBytesOfAGzipFileAreRefused)
{
    const ScratchFolder folder;
    ASSERT_TRUE(save(*test::mainJob(2048), folder / "a.json.gz"));
    const std::string packed = contentOf(folder / "a.json.gz");
    for (std::size_t at = 10; at < packed.size();
         at += 53) { // past the header, which holds no data
        std::string flipped = packed;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
        writeContent(folder / "b.json.gz", flipped);
        ASSERT_FALSE(load(folder / "b.json.gz")) << at;
    }
}

TEST(HostileFiles, flippedBytesNeverCrash)
{
    const std::string text = toJson(*test::mainJob(2048));
    const std::size_t section = text.find("\"pallascope\":");
    std::mt19937_64 random(7);
    int refusals = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string flipped = text;
        for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
            const std::size_t from = i % 3 == 0 ? 0 : section;
            const std::size_t at = from + random() % (text.size() - from);
            flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
        }
        refusals += refused(std::move(flipped)) ? 1 : 0;
    }
    EXPECT_GT(refusals, 1000);
}

TEST(HostileFiles, otherNumbersNeverCrash)
{
    std::mt19937_64 random(11);
    int refusals = 0, accepted = 0;
    for (int i = 0; i < 6000; ++i) {
        const auto trace = i % 2 == 0 ? test::mainJob(2048) : test::randomTrace(random() % 50);
        const std::string text = toJson(*trace);
        const std::size_t from = i % 8 == 0 ? 0 : text.find("\"pallascope\":");
        std::string changed = withOtherNumber(text, from, random);
        if (i % 3 == 0) {
            changed = withOtherNumber(changed, std::min(from, changed.size() / 2), random);
        }
        (refused(std::move(changed)) ? refusals : accepted) += 1;
    }
    EXPECT_GT(refusals, 3000);
    EXPECT_GT(accepted, 100); // some changes are harmless, so the look-ups ran too
}

} // namespace pallascope::trace
