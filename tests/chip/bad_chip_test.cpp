// Chip files that people edit and break. For each there must be one sentence with the place, the
// value and what is expected.
#include "core/base/visible.h"
#include "core/chip/chip.h"
#include "tests/chip/chip_file.h"
#include "tests/support/tried.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace pallascope::chip {

namespace {

using nlohmann::json;

std::string messageOf(const std::string& text)
{
    const Result<Chip> chip = parse(text, "my.json");
    EXPECT_FALSE(chip) << "was accepted";
    if (chip) {
        return {};
    }
    const std::string message = chip.error().message;
    EXPECT_EQ(chip.error().kind, ErrorKind::User);
    EXPECT_EQ(message.rfind("The chip file my.json", 0), 0U) << message;
    EXPECT_EQ(message.back(), '.') << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 300U) << message;
    return message;
}

// The message for the v5e's file with one value replaced; without a value, the key is removed.
std::string messageWith(const char* pointer, const std::optional<json>& value)
{
    json file = json::parse(v5eText());
    const json::json_pointer place(pointer);
    if (value) {
        file[place] = *value;
    } else {
        file[place.parent_pointer()].erase(place.back());
    }
    return messageOf(file.dump());
}

void collectKeys(const json& node, const json::json_pointer& at,
                 std::vector<json::json_pointer>& found)
{
    if (node.is_object()) {
        for (const auto& [key, value] : node.items()) {
            found.push_back(at / key);
            collectKeys(value, at / key, found);
        }
    } else if (node.is_array()) {
        for (std::size_t i = 0; i < node.size(); ++i) {
            found.push_back(at / i);
            collectKeys(node[i], at / i, found);
        }
    }
}

} // namespace

TEST(BadChipFiles, aBandwidthThatIsNoneNamesItsPlaceItsValueAndWhatIsRight)
{
    const char* place = "/links/0/bytes_per_s/value";
    EXPECT_EQ(messageWith(place, 0), "The chip file my.json: /links/0/bytes_per_s/value is 0; "
                                     "expected a number of bytes a second from 1 to 1e18.");
    for (const json& bad : {json(-1), json(1e300), json(1e-300), json("819e9"), json(nullptr),
                            json(true), json::array({819e9}), json::object()}) {
        const std::string message = messageWith(place, bad);
        EXPECT_NE(message.find(place), std::string::npos) << message;
        EXPECT_NE(message.find(bad.dump()), std::string::npos) << message;
    }
}

TEST(BadChipFiles, whatIsWrongIsNamedAtEveryLevel)
{
    const auto expect = [](const char* pointer, const std::optional<json>& value,
                           const std::string& part) {
        const std::string message = messageWith(pointer, value);
        EXPECT_NE(message.find(part), std::string::npos) << pointer << ": " << message;
    };
    expect("/format", "pallascope.trace",
           "/format is \"pallascope.trace\"; expected \"pallascope.chip\"");
    expect("/version", 2, "/version is 2; expected 1");
    expect("/version", 1.5, "/version is 1.5; expected 1");
    expect("/links/0/to", "L2",
           "/links/0/to is \"L2\"; expected the name of one of the file's memories");
    expect("/units/1/kind", "tensor", "/units/1/kind is \"tensor\"; expected matrix, vector,");
    expect("/agents/0/owns/2", "SFU",
           "/agents/0/owns/2 is \"SFU\"; expected the name of one of the file's");
    expect("/links/0/efficiency/value", 1.25,
           "/links/0/efficiency/value is 1.25; expected a share");
    expect("/links/0/bytes_per_s/value", 1, // the file's own efficiency leaves less than 1
           "expected a share of bytes_per_s that is at least 1 byte a second");
    expect("/links/0/efficiency/status", "guessed", "datasheet, measured, derived or assumed");
    expect("/links/0/efficiency/source", "", "a text that says where the figure comes from");
    expect("/memories/1/bytes/value", 0.5,
           "/memories/1/bytes/value is 0.5; expected a whole number");
    expect("/memories/1/bytes/value", 1.5,
           "/memories/1/bytes/value is 1.5; expected a whole number");
    expect("/memories/1/tile/value", json::array({8}),
           "/memories/1/tile/value is [8]; expected a list");
    expect("/memories/1/tile/value/1", 0, "/memories/1/tile/value/1 is 0; expected a whole number");
    expect("/memories/1/tile/source", std::nullopt, "/memories/1/tile/source is missing");
    expect("/units/0/rates", json::object(),
           "/units/0/rates is {}; expected an object with a rate");
    expect("/units/0/rates/f8", json::object(), "names the dtype \"f8\"; expected " + dtypeNames());
    expect("/constants/step_overhead_s/value", -1, "a number of seconds from 0 to 0.1");
    expect("/constants/step_overhead_s/value", 1e9, "a number of seconds from 0 to 0.1");
    expect("/agents/0/clock_hz/value", 0, "a whole number of Hz");
    expect("/memories", json::object(), "/memories is {}; expected a list");
    expect("/links", json::array(), "memories, links, units and agents must each name one");
    expect("/constants", std::nullopt, "the key /constants is missing");
    const json figure = {{"value", 3}, {"source", "a test"}, {"status", "assumed"}};
    expect("/devices", figure,
           "/devices/value is 3; expected a number that divides the count of Tensor");
    expect("/links/0/latency_s/value", json(nullptr),
           "is null; expected a number of seconds from 0 to 0.1, or");
    const json unknown = {
        {"value", nullptr}, {"stand_in", 0.5}, {"source", "a test"}, {"status", "assumed"}};
    expect("/constants/registers", unknown,
           "/constants/registers/stand_in is 0.5; expected a whole number of registers");
    expect("/constants/registers/also", json::array({json{{"value", 32}}}),
           "also/0/source is missing");
    expect("/constants/registers/also", json::array({json{{"value", {1}}, {"source", "a test"}}}),
           "an object with another value and its source");
    expect("/units/0", "MXU", "/units/0 is \"MXU\"; expected an object");
}

TEST(BadChipFiles, thatAreNoChipFilesAtAllAreRefused)
{
    const std::string start = "; `pallascope describe CHIP --json` prints one to start from.";
    EXPECT_EQ(messageOf(""), "The chip file my.json is empty" + start);
    EXPECT_EQ(messageOf(" \n\t"), "The chip file my.json is empty" + start);
    EXPECT_EQ(messageOf("hello"), "The chip file my.json is not JSON from line 1 on" + start);
    EXPECT_EQ(messageOf("[1, 2]"), "The chip file my.json: the file is [1,2]; expected an object.");
    EXPECT_EQ(messageOf("null"), "The chip file my.json: the file is null; expected an object.");
    EXPECT_EQ(messageOf("{}"), "The chip file my.json: the key /format is missing.");
    const std::string text = v5eText();
    messageOf(text.substr(0, text.size() / 2)); // half of the file
    messageOf(text + "}");
    messageOf("\x00\x01\xff\xfe");
    std::string withNan = text;
    withNan.replace(withNan.find("819e9"), 5, "NaN");
    EXPECT_NE(messageOf(withNan).find("not JSON from line 32 on"), std::string::npos)
        << messageOf(withNan);
    std::string infinite = text;
    infinite.replace(infinite.find("819e9"), 5, "1e999");
    EXPECT_NE(messageOf(infinite).find("my.json"), std::string::npos);
}

TEST(BadChipFiles, deepNestingIsRefusedBeforeItIsParsed)
{
    const std::string open(100'000, '['), objects = [] {
        std::string text;
        for (int i = 0; i < 100'000; ++i) {
            text += "{\"a\":";
        }
        return text;
    }();
    EXPECT_NE(messageOf(open).find("nested 100000 levels deep"), std::string::npos);
    EXPECT_NE(messageOf(open + std::string(100'000, ']')).find("levels deep"), std::string::npos);
    EXPECT_NE(messageOf(objects).find("levels deep"), std::string::npos);
}

TEST(BadChipFiles, withoutAnyOneOfTheirKeysGiveASentenceOrAreStillChips)
{
    const json file = json::parse(v5eText());
    std::vector<json::json_pointer> keys;
    collectKeys(file, json::json_pointer(), keys);
    int accepted = 0;
    for (const json::json_pointer& key : keys) {
        json broken = file;
        json& parent = broken[key.parent_pointer()];
        if (parent.is_array()) {
            parent.erase(static_cast<std::size_t>(std::stoul(key.back())));
        } else {
            parent.erase(key.back());
        }
        const Result<Chip> chip = parse(broken.dump(), "my.json");
        if (!chip) {
            if (parent.is_object()) {
                EXPECT_NE(chip.error().message.find(key.back()), std::string::npos)
                    << key << ": " << chip.error().message;
            }
            continue;
        }
        ++accepted;
        EXPECT_FALSE(chip->memories.empty() || chip->links.empty() || chip->units.empty()
                     || chip->agents.empty())
            << key;
    }
    EXPECT_LT(accepted, 60); // only optional keys and elements of lists
    EXPECT_GT(keys.size(), 150U);
}

TEST(BadChipFiles, withAnyValueOfAnotherKindNeverCrash)
{
    const json file = json::parse(v5eText());
    std::vector<json::json_pointer> keys;
    collectKeys(file, json::json_pointer(), keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!test::isTried(i)) {
            continue;
        }
        const json::json_pointer& key = keys[i];
        for (const json& other :
             {json(nullptr), json(-1), json(1e308), json("x"), json::array(), json::object(),
              json(std::numeric_limits<std::uint64_t>::max()), json(false)}) {
            json broken = file;
            broken[key] = other;
            const Result<Chip> chip = parse(broken.dump(), "my.json");
            if (!chip) {
                EXPECT_EQ(chip.error().message.back(), '.') << chip.error().message;
            }
        }
    }
}

// Names are printed as texts are: no control character of theirs reaches a terminal.
TEST(BadChipFiles, haveTheirNamesMadeVisible)
{
    json file = json::parse(v5eText());
    file["vect\x7fr"] = {{"of\xc2\x9b", "\xe2\x80\xae turned"}};
    const Result<Chip> chip = parse(file.dump(), "my.json");
    ASSERT_TRUE(chip) << chip.error().message;
    const std::string printed = pretty(*chip);
    EXPECT_EQ(visible(printed, Lines::Several), printed);
    EXPECT_NE(printed.find(R"("vect\\x7fr")"), std::string::npos) << printed;
    EXPECT_NE(printed.find(R"("of\\x9b")"), std::string::npos) << printed;
}

} // namespace pallascope::chip
