// One place in a chip file while it is read, and the checks of what it may hold. Only the .cpp
// files that read chips include this; the JSON library stays in node.cpp and parse.cpp.
#pragma once

#include "core/chip/chip.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::chip {

// Bounds that keep every product in the model inside of int64. No real chip comes near them.
constexpr double kLargest = 1e18; // rates
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40, kMostUnits = 1 << 16;
constexpr double kMostCycles = 1e6, kMostSeconds = 0.1, kMostShare = 100;

// Thrown by a failed check; parse() turns it into an Error.
struct Bad
{
    std::string sentence;
};

// Every member that returns a value throws Bad, with the JSON pointer of the place, if the place
// holds anything else.
class Node
{
public:
    // `json` is an nlohmann::ordered_json that outlives this. Unknown figures are added to
    // `unknown`.
    Node(const void* json, std::vector<UnknownFigure>& unknown)
        : m_json(json)
        , m_unknown(unknown)
    {}

    [[noreturn]] void fail(const std::string& what) const; // "X is ...; expected `what`"
    [[nodiscard]] bool has(const std::string& key) const;
    [[nodiscard]] Node operator[](const std::string& key) const;
    [[nodiscard]] std::vector<Node> list() const;
    [[nodiscard]] bool isObject() const;
    [[nodiscard]] std::vector<std::string> keys() const;       // empty if it is not an object
    [[nodiscard]] std::optional<std::int64_t> integer() const; // absent if it is not an integer
    [[nodiscard]] double number(double least, double most, const std::string& right) const;
    [[nodiscard]] std::string text() const;

    // A figure: {"value": ..., "source": ..., "status": ...}. Checks all of it and returns the
    // value. If the value is unknown, it notes that and returns the stand-in.
    [[nodiscard]] double figure(double least, double most, const std::string& right) const;
    // The place of a figure's value, after checking its source and status.
    [[nodiscard]] Node sourced() const;
    [[nodiscard]] double rate(const std::string& unit) const;
    [[nodiscard]] double atLeastZero(const std::string& unit) const;
    [[nodiscard]] double cycles() const;
    [[nodiscard]] double seconds() const;
    [[nodiscard]] std::int64_t whole(std::int64_t most, const std::string& unit) const;
    [[nodiscard]] std::int64_t powerOfTwo(std::int64_t most) const;

    [[nodiscard]] const std::string& pointer() const { return m_pointer; }

    // Fails at the number of a figure, or at the stand-in for it.
    [[noreturn]] void failNumber(const std::string& right) const;

private:
    Node(const void* json, std::string pointer, std::string label,
         std::vector<UnknownFigure>& unknown);

    const void* m_json;
    std::string m_pointer;
    std::string m_label; // for people: the path from the nearest named element on
    std::vector<UnknownFigure>& m_unknown;
};

} // namespace pallascope::chip
