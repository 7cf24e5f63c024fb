// What the memory view says of a slot of scratch that manual DMA fills or empties.
#pragma once

#include "core/trace/scratch_slots.h"
#include "views/layout/memory/parts.h"

#include <span>
#include <string>
#include <vector>

namespace pallascope::layout {

// "bkv_x2_ref[0]"
[[nodiscard]] std::string placeName(const RunView& run, const Place& place);
// What happens in it: "arriving, 2 of 4 here", "in use".
[[nodiscard]] std::string scratchWords(const RunView& run, std::size_t slot, Picoseconds now);
// What it holds or will hold: "kv_pages 5, 9, 12, 3"; in short "kv_pages, 4 parts".
[[nodiscard]] std::string scratchTitle(const RunView& run, std::size_t slot, Picoseconds now,
                                       bool inShort);
// What is in each slot of a scratch, for its tooltip; at most four of them.
[[nodiscard]] std::vector<std::string> scratchLines(const RunView& run, const ViewState& state,
                                                    std::int32_t buffer);
// Since when, and of what has been waited for by whom it was read: "arrived 0.76 µs ago, read by 2
// dots since". In short without the readers.
[[nodiscard]] std::string scratchAge(const RunView& run, std::size_t slot, Picoseconds now,
                                     bool inShort);
// Which parts of an array the copies at some ends bring or take: their numbers along the axes on
// which they differ, "9" or "1,9". Empty names if they do not differ.
[[nodiscard]] std::vector<std::string> pieceNames(const trace::Trace& trace,
                                                  std::span<const trace::EndRow> ends);
} // namespace pallascope::layout
