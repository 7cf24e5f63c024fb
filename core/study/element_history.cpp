#include "core/study/element_history.h"

#include "core/study/element_choice.h"

#include <algorithm>

namespace pallascope::study {

Result<std::optional<std::vector<machine::Touch>>>
elementHistory(machine::Replay& replay, const ElementChoice& choice,
               const machine::Replay::Proceed& proceed)
{
    Result<machine::Watched> watched = watchedOf(replay.program(), choice);
    if (!watched) {
        return watched.error();
    }
    Result<std::optional<machine::Touches>> found = replay.watch(std::move(*watched), proceed);
    if (!found) {
        return found.error();
    }
    if (!*found) {
        return std::optional<std::vector<machine::Touch>>();
    }
    std::vector<machine::Touch> touches = std::move((*found)->all);
    std::reverse(touches.begin(), touches.end());
    return std::optional(std::move(touches));
}

} // namespace pallascope::study
