// One place of a chip file while it is read, and what a place may hold. Only the .cpp files that
// read chips include this; the JSON library stays in node.cpp and parse.cpp.
#pragma once

#include "core/chip/chip.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::chip {

// Bounds that keep every product of the model inside int64; no chip is near them.
constexpr double kLargest = 1e18; // rates
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40, kMostUnits = 1 << 16;
constexpr double kMostCycles = 1e6, kMostSeconds = 0.1, kMostShare = 100;

// Thrown by what reads a place; parse() turns it into an Error.
struct Bad
{
    std::string sentence;
};

// Every member that gives a value throws Bad, with the place's JSON pointer, where there is
// another.
class Node
{
public:
    // `json`: an nlohmann::ordered_json that outlives it. Figures that are not known are noted.
    Node(const void* json, std::vector<UnknownFigure>& unknown)
        : m_json(json)
        , m_unknown(unknown)
    {}

    [[noreturn]] void fail(const std::string& what) const; // "X is ...; expected `what`"
    [[nodiscard]] bool has(const std::string& key) const;
    [[nodiscard]] Node operator[](const std::string& key) const;
    [[nodiscard]] std::vector<Node> list() const;
    [[nodiscard]] bool isObject() const;
    [[nodiscard]] std::vector<std::string> keys() const;       // none of what is no object
    [[nodiscard]] std::optional<std::int64_t> integer() const; // absent: it is none
    [[nodiscard]] double number(double least, double most, const std::string& right) const;
    [[nodiscard]] std::string text() const;

    // A figure: {"value": ..., "source": ..., "status": ...}. Checks it whole and gives the value,
    // or the stand-in of an unknown one, which it notes.
    [[nodiscard]] double figure(double least, double most, const std::string& right) const;
    // The value of a figure whose source and status are sound.
    [[nodiscard]] Node sourced() const;
    [[nodiscard]] double rate(const std::string& unit) const;
    [[nodiscard]] double atLeastZero(const std::string& unit) const;
    [[nodiscard]] double cycles() const;
    [[nodiscard]] double seconds() const;
    [[nodiscard]] std::int64_t whole(std::int64_t most, const std::string& unit) const;
    [[nodiscard]] std::int64_t powerOfTwo(std::int64_t most) const;

    [[nodiscard]] const std::string& pointer() const { return m_pointer; }

private:
    Node(const void* json, std::string pointer, std::string label,
         std::vector<UnknownFigure>& unknown);
    [[noreturn]] void failNumber(const std::string& right) const; // of a figure, or its stand-in

    const void* m_json;
    std::string m_pointer;
    std::string m_label; // for people: from the nearest named element on
    std::vector<UnknownFigure>& m_unknown;
};

} // namespace pallascope::chip
