// Says of a thing in the lanes of a kept run what its tooltip says in that run.
#include "views/layout/run/kept_run.h"
#include "views/layout/tooltip/parts.h"
#include "views/layout/tooltip/tooltip.h"

namespace pallascope::layout::tips {

Lines keptLines(const ViewState& state, const target::Kept& kept)
{
    if (state.kept == nullptr) {
        return {};
    }
    Lines lines = tooltip(*state.kept->run, keptState(state), ofKept(kept));
    if (!lines.empty()) {
        lines.front() += " · kept run (" + state.kept->name + ")";
    }
    return lines;
}

} // namespace pallascope::layout::tips
