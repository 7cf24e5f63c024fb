// Finds the refs of a program that an ElementChoice means. Used by the history of an element.
#pragma once

#include "core/study/element_history.h"

namespace pallascope::study {

[[nodiscard]] Result<machine::Watched> watchedOf(const ir::Program& program,
                                                 const ElementChoice& choice);

} // namespace pallascope::study
