// Puts the history of an element, and the way of a NaN, into words.
#pragma once

#include "app/run_job/history_table.h"
#include "app/run_job/named_program.h"
#include "core/study/element_history.h"

#include <string>
#include <vector>

namespace pallascope::app {

// What the element held and who read and wrote it.
[[nodiscard]] HistoryTable historyTable(const std::string& element,
                                        const std::vector<machine::Touch>& touches,
                                        const NamedProgram& words, std::int64_t events);
// From its last NaN back to where that was born; without rows if it never held one.
[[nodiscard]] HistoryTable nanTable(const std::string& element,
                                    const std::vector<study::NanLink>& links,
                                    const NamedProgram& words, std::int64_t events);

} // namespace pallascope::app
