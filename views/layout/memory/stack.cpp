// Decides which buffers of a memory get a row, and how high each row is.
#include "views/layout/memory/parts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pallascope::layout {

namespace {

// How many places stand beside each other in a row.
enum class Beside : std::uint8_t
{
    One,
    OfOne, // the slots of one operand or scratch
    Two    // these, and other places two by two
};

bool areOfOne(const trace::Info& info, const Place& a, const Place& b)
{
    const auto operandOf = [&](const Place& place) {
        return info.buffers[static_cast<std::size_t>(place.buffer)].operand;
    };
    return a.slot && b.slot ? a.buffer == b.buffer
                            : operandOf(a) >= 0 && operandOf(a) == operandOf(b);
}

std::vector<SlotRow> rowsOf(const trace::Info& info, const std::vector<Place>& places,
                            Beside beside)
{
    std::vector<SlotRow> rows;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Place& place = places[i];
        const bool ofOne = beside != Beside::One && !rows.empty()
                           && areOfOne(info, places[rows.back().first], place);
        const bool isNextOfOne = i + 1 < places.size() && areOfOne(info, place, places[i + 1]);
        const bool pairs =
            beside == Beside::Two && !rows.empty() && !rows.back().merged() && !isNextOfOne;
        if (ofOne || pairs) {
            rows.back().last = i;
            rows.back().bytes += place.bytes;
        } else {
            rows.push_back({i, i, place.address, place.bytes, 0, 0});
        }
    }
    return rows;
}

// Raises rows that would be too low to the least height, and divides the rest in proportion to the
// bytes. Returns whether no row was raised.
bool shareHeight(std::vector<SlotRow>& rows, double height)
{
    double bytes = 0;
    for (const SlotRow& row : rows) {
        bytes += static_cast<double>(row.bytes.value());
    }
    double room = height;
    std::vector<bool> raised(rows.size(), false);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto own = static_cast<double>(rows[i].bytes.value());
            if (!raised[i] && own * room < kLeastSlot * bytes) {
                raised[i] = true;
                changed = true;
                room -= kLeastSlot;
                bytes -= own;
            }
        }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].height =
            raised[i] ? kLeastSlot : room * static_cast<double>(rows[i].bytes.value()) / bytes;
    }
    return std::none_of(raised.begin(), raised.end(), [](bool r) { return r; });
}

// Keeps the `most` largest rows, in the order of their addresses.
void keepLargest(SlotStack& stack, std::size_t most)
{
    std::vector<std::size_t> bySize(stack.rows.size());
    std::iota(bySize.begin(), bySize.end(), std::size_t{0});
    std::stable_sort(bySize.begin(), bySize.end(), [&stack](std::size_t a, std::size_t b) {
        return stack.rows[a].bytes > stack.rows[b].bytes;
    });
    std::vector<bool> kept(stack.rows.size(), false);
    for (std::size_t i = 0; i < std::min(most, bySize.size()); ++i) {
        kept[bySize[i]] = true;
    }
    std::vector<SlotRow> rows;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const SlotRow& row = stack.rows[i];
        if (kept[i]) {
            rows.push_back(row);
        } else {
            stack.hidden += static_cast<std::int64_t>(row.size());
            stack.hiddenBytes += row.bytes;
        }
    }
    stack.rows = std::move(rows);
}

} // namespace

double memoryHeight(const trace::Info& info, const std::vector<Place>& places, std::size_t slots)
{
    const std::size_t rows = rowsOf(info, places, Beside::OfOne).size();
    return kMemoryHeading + kLeastSlot * static_cast<double>(std::min(rows, slots));
}

SlotStack stackSlots(const trace::Info& info, std::vector<Place> places, double y, double height)
{
    SlotStack stack;
    stack.places = std::move(places);
    for (const Beside beside : {Beside::One, Beside::OfOne, Beside::Two}) {
        stack.rows = rowsOf(info, stack.places, beside);
        if (static_cast<double>(stack.rows.size()) * kLeastSlot <= height) {
            break;
        }
    }
    if (static_cast<double>(stack.rows.size()) * kLeastStripe > height) {
        height -= kLeastSlot; // for the line that says how many are hidden
        keepLargest(stack, static_cast<std::size_t>(std::max(0.0, height / kLeastSlot)));
    }
    const double count = static_cast<double>(stack.rows.size());
    // Rows of one height without texts, because merging did not suffice.
    if (count * kLeastSlot > height) {
        for (SlotRow& row : stack.rows) {
            row.height = height / count;
        }
        stack.scaled = false;
    } else {
        stack.scaled = shareHeight(stack.rows, height) && stack.hidden == 0;
    }
    for (SlotRow& row : stack.rows) {
        row.y = y;
        y += row.height;
    }
    stack.bottom = y;
    return stack;
}

} // namespace pallascope::layout
