#include "views/layout/roofline/levels.h"

#include "core/analysis/owners.h"

namespace pallascope::layout::roofline {

double movedOver(const RunView& run, const analysis::Ceiling& ceiling, Picoseconds t)
{
    const std::vector<trace::Link>& links = run.trace->info().links;
    double bytes = 0;
    for (std::size_t link = 0; link < links.size(); ++link) {
        bytes += analysis::kindOf(links[link]) == ceiling.of
                     ? run.index->linkBytes(trace::LinkRow::at(link), t)
                     : 0;
    }
    return bytes;
}

} // namespace pallascope::layout::roofline
