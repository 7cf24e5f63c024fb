// Changes JSON trees and bytes at random.
#include "tests/fuzz/mutate.h"

#include "core/base/dtype.h"
#include "core/ir/opcodes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace pallascope::fuzz {

namespace {

// Marks, as "<kRaw>N", a place in a tree for text that no tree can hold. It is replaced once the
// tree is text.
constexpr std::string_view kRaw = "\"@raw:";

const std::vector<std::string>& rawTexts()
{
    static const std::vector<std::string> kTexts{
        "NaN",
        "-Infinity",
        "1e999",
        "-1e999",
        "0x10",
        "01",
        "-",
        "",
        "nul",
        "'a'",
        "18446744073709551616",
        "-9223372036854775809",
        "1" + std::string(400, '0'),
        "0." + std::string(400, '3'),
        "\"\\ud800\"",
        "\"\\u0000\"",
        "\"\\u001b[2J\\n\\r\"",
        "\"\xff\xfe\"",
        "\"" + std::string(5000, 'a') + "\"",
        "\"unfinished",
        "1,",
        "1 1",
        "]",
        "}",
        "{\"a\":1,\"a\":2}",
        std::string(60, '[') + std::string(60, ']'),
        std::string(600, '[') + std::string(600, ']'),
        std::string(100'000, '['),
    };
    return kTexts;
}

const Json& oddValues()
{
    static const Json kOdd = [] {
        Json odd = Json::parse(R"([0, 0, 1, 2, 3, 4, 7, 8, 16, 64, 127, 128, 129, 1024, 65536,
            1000000, 16777216, 1073741824, -1, -1, -2, -8, 2147483647, 2147483648, 4294967295,
            4294967296, -2147483648, -2147483649, 1099511627776, 4611686018427387904,
            9223372036854775807, 9223372036854775808, 18446744073709551615, -9223372036854775808,
            0.5, 1.5, -0.0, 1e9, 1e15, 1e18, 1e-30, 5e-324, 1e308, -1e308, 1e30,
            "", " ", "nan", "inf", "-inf", "NaN", "0", "1", "-1", "1e308", "9223372036854775808",
            "a", "x", "i", "/", "..", "../../a", "%s%n", "\n", "|", "{}",
            "vmem", "smem", "hbm", "any", "VMEM", "HBM", "MXU", "full", "needed",
            null, true, false, [], {}, [0], [1, 0], [[]], [-1], [1, 1, 1, 1, 1, 1, 1, 1, 1],
            {"a": 1}, {"value": 1}, {"value": null}])");
        for (const DTypeEntry& dtype : kDTypes) {
            odd.push_back(std::string(dtype.name));
        }
        return odd;
    }();
    return kOdd;
}

// A value of a tree, with the value that holds it.
struct Place
{
    Json* value = nullptr;
    Json* holder = nullptr; // null for the root
};

void collect(Json& node, Json* holder, std::vector<Place>& places)
{
    places.push_back({&node, holder});
    if (node.is_structured()) {
        for (Json& child : node) {
            collect(child, &node, places);
        }
    }
}

// Picks any value. It often stops at a high level, so that large lists deep in the tree do not make
// all the rest rare.
Place anyPlace(Json& tree, Random& random)
{
    Place at{&tree, nullptr};
    for (std::size_t levels = random.oneIn(3) ? random.below(6) : 0; levels > 0; --levels) {
        if (!at.value->is_structured() || at.value->empty()) {
            return at;
        }
        auto child = at.value->begin();
        std::advance(child, static_cast<std::ptrdiff_t>(random.below(at.value->size())));
        at = {&*child, at.value};
    }
    std::vector<Place> places;
    collect(*at.value, at.holder, places);
    return random.pick(places);
}

void changeNumber(Json& value, Random& random)
{
    static constexpr std::array<std::int64_t, 9> kSteps{1, -1, 2, -2, 7, 8, 127, 128, -128};
    static constexpr std::array<std::uint64_t, 9> kTimes{2, 3, 4, 8, 16, 100, 1000, 1024, 100'000};
    if (value.is_number_float()) {
        static constexpr std::array<double, 8> kFactors{-1, 0, 0.5, 2, 1e3, 1e-3, 1e12, 1e-12};
        value = value.get<double>() * random.pick(kFactors);
        return;
    }
    const auto number = value.get<std::uint64_t>();
    const auto step = static_cast<std::uint64_t>(random.pick(kSteps));
    std::uint64_t changed = number + step;
    if (random.oneIn(3)) {
        changed = random.oneIn(2) ? number * random.pick(kTimes) : number / 2;
    }
    value = static_cast<std::int64_t>(changed);
}

void changeText(Json& value, Random& random)
{
    std::string text = value.get<std::string>();
    switch (random.below(5)) {
    case 0:
        value = std::string(ir::opTable()[random.below(ir::opTable().size())].name);
        return;
    case 1:
        value = text + text;
        return;
    case 2:
        value = text.substr(0, random.below(text.size()));
        return;
    case 3:
        text.insert(random.below(text.size() + 1), 1, static_cast<char>(32 + random.below(95)));
        value = text;
        return;
    default:
        std::transform(text.begin(), text.end(), text.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        value = text;
    }
}

// Gives a value another kind with the same content.
void retype(Json& value, Random& random)
{
    const Json old = value;
    if (old.is_structured() && random.oneIn(2)) {
        value = old.empty() ? Json() : *old.begin();
    } else if (old.is_array()) {
        value = Json::object();
        for (std::size_t i = 0; i < old.size() && i < 1000; ++i) {
            value[std::to_string(i)] = old[i];
        }
    } else if (old.is_object()) {
        value = Json::array();
        for (const Json& child : old) {
            value.push_back(child);
        }
    } else if (old.is_number() && random.oneIn(2)) {
        value = old.dump();
    } else {
        value = random.oneIn(2) ? Json::array({old}) : Json{{"value", old}};
    }
}

void erase(const Place& place, Random& random)
{
    if (place.holder == nullptr) {
        return;
    }
    auto child = place.holder->begin();
    std::advance(child, static_cast<std::ptrdiff_t>(random.below(place.holder->size())));
    place.holder->erase(child);
}

void duplicate(const Place& place, Random& random)
{
    const Json copy = *place.value;
    if (place.holder == nullptr) {
        return;
    }
    if (place.holder->is_object()) {
        static constexpr std::array<const char*, 6> kKeys{"a", "", "value", "op", "name", "/~0\n"};
        (*place.holder)[random.pick(kKeys)] = copy;
        return;
    }
    const std::size_t times = random.oneIn(10) ? 300 : 1 + random.below(3);
    for (std::size_t i = 0; i < times && copy.size() < 100; ++i) {
        place.holder->push_back(copy);
    }
}

void wrapDeep(Json& value, Random& random)
{
    Json wrapped = value;
    for (std::size_t depth = 1 + random.below(random.oneIn(4) ? 80 : 4); depth > 0; --depth) {
        wrapped = random.oneIn(2) ? Json::array({std::move(wrapped)})
                                  : Json{{"regions", Json::array({std::move(wrapped)})}};
    }
    value = std::move(wrapped);
}

// A value of the same kind out of a tree, if a few tries find one.
Json likeIt(const Json& value, const Json& tree, Random& random)
{
    Json from = tree;
    for (int i = 0; i < 8; ++i) {
        Json found = *anyPlace(from, random).value;
        if (found.type() == value.type() || (found.is_number() && value.is_number())) {
            return found;
        }
    }
    return value;
}

// Changes a number that several places share, such as a size, in all of them.
void replaceEverywhere(Json& tree, const Json& old, Random& random)
{
    std::vector<Place> places;
    collect(tree, nullptr, places);
    Json changed = old;
    if (old.is_number() && random.oneIn(2)) {
        changeNumber(changed, random);
    } else {
        changed = Json(random.pick(oddValues()));
    }
    const Json wanted = old; // a copy, because `old` is one of the places
    for (const Place& place : places) {
        if (!place.value->is_structured() && *place.value == wanted) {
            *place.value = changed;
        }
    }
}

void changeOnce(Json& tree, const Json& other, Random& random)
{
    const Place place = anyPlace(tree, random);
    Json& value = *place.value;
    switch (random.below(24)) {
    case 16:
    case 17:
    case 18:
    case 19:
    case 20:
        if (!value.is_structured()) {
            replaceEverywhere(tree, value, random);
        }
        return;
    case 0:
        value = Json(random.pick(oddValues()));
        return;
    case 1:
    case 2:
        value = likeIt(value, oddValues(), random);
        return;
    case 3:
    case 4:
    case 5:
    case 21:
    case 22:
        if (value.is_number()) {
            changeNumber(value, random);
        } else if (value.is_string()) {
            changeText(value, random);
        }
        return;
    case 6: {
        Json copy = *anyPlace(tree, random).value;
        value = std::move(copy);
        return;
    }
    case 7:
    case 8:
    case 9: // this also makes ids that form circles
        value = likeIt(value, tree, random);
        return;
    case 10: {
        Json source = other;
        value = Json(*anyPlace(source, random).value);
        return;
    }
    case 11:
        erase(place, random);
        return;
    case 12:
        duplicate(place, random);
        return;
    case 13:
        retype(value, random);
        return;
    case 14: { // swaps two values, unless one holds the other
        Json& second = *anyPlace(tree, random).value;
        if (!value.is_structured() && !second.is_structured()) {
            std::swap(value, second);
        }
        return;
    }
    default:
        if (random.oneIn(2)) {
            wrapDeep(value, random);
        } else {
            value = std::string(kRaw.substr(1)) + std::to_string(random.below(rawTexts().size()));
        }
    }
}

void replaceRaw(std::string& text)
{
    for (std::size_t at = text.find(kRaw); at != std::string::npos; at = text.find(kRaw, at)) {
        const std::size_t end = text.find('"', at + kRaw.size());
        std::size_t which = 0; // a mark that was changed itself may lack its number or its end
        std::from_chars(text.data() + at + kRaw.size(), text.data() + text.size(), which);
        text.replace(at, end == std::string::npos ? kRaw.size() : end + 1 - at,
                     rawTexts()[which % rawTexts().size()]);
    }
}

// ---- bytes --------------------------------------------------------------------------------------

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

// Replaces the number at or after a random place by one that is likely to cause trouble.
void replaceNumber(std::string& bytes, Random& random)
{
    std::size_t first = random.below(bytes.size());
    while (first < bytes.size() && !isDigit(bytes[first])) {
        ++first;
    }
    if (first == bytes.size()) {
        return;
    }
    const std::size_t last = std::min(bytes.find_first_not_of("0123456789.", first), bytes.size());
    bytes.replace(first, last - first, random.pick(oddValues()).dump());
}

void changeBytes(std::string& bytes, const std::string& other, Random& random)
{
    const std::size_t at = random.below(bytes.size());
    const std::size_t length = 1 + random.below(random.oneIn(3) ? bytes.size() : 16);
    switch (random.below(9)) {
    case 0:
    case 1:
        if (!bytes.empty()) {
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        }
        return;
    case 2:
        if (!bytes.empty()) {
            bytes[at] = static_cast<char>(random.bits());
        }
        return;
    case 3: {
        static constexpr std::string_view kBytes = "{}[],:\"\\0-.eE\n\x1b\xc3\xff";
        bytes.insert(at, 1, kBytes[random.below(kBytes.size())]);
        return;
    }
    case 4:
        bytes.erase(at, length);
        return;
    case 5:
        bytes.insert(at, bytes.substr(at, length));
        return;
    case 6:
        if (random.oneIn(3)) {
            bytes.resize(at);
        }
        return;
    case 7:
        replaceNumber(bytes, random);
        return;
    default:
        bytes.insert(at, other.substr(random.below(other.size()), length));
    }
}

} // namespace

std::string mutatedTree(const Json& file, const Json& other, Random& random)
{
    Json tree = file;
    for (std::size_t changes = random.oneIn(3) ? 1 + random.below(6) : 1; changes > 0; --changes) {
        changeOnce(tree, other, random);
    }
    std::string text = tree.dump(-1, ' ', false, Json::error_handler_t::replace);
    replaceRaw(text);
    return text;
}

std::string mutatedBytes(std::string bytes, const std::string& other, Random& random)
{
    for (std::size_t changes = random.oneIn(2) ? 1 + random.below(4) : 1; changes > 0; --changes) {
        changeBytes(bytes, other, random);
    }
    return bytes;
}

} // namespace pallascope::fuzz
