#include "app/cli/state_caches.h"

#include "core/base/format.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::app {

using machine::Replay;

namespace {

std::string arrayText(const Replay::CachedArray& array)
{
    const double share = ratio(array.held, std::max(array.array, Bytes(1)));
    std::string text = fmt::format("    {:<12} {}, {} of the array", array.name,
                                   bytesText(array.held), percentText(share, 1));
    if (array.hit + array.missed > Bytes(0)) {
        text += fmt::format("; of reads so far {} from L2, {} from HBM", bytesText(array.hit),
                            bytesText(array.missed));
    }
    return text + "\n";
}

} // namespace

std::string cachesText(const Replay& replay)
{
    std::string text;
    for (const Replay::Cache& cache : replay.caches()) {
        text += fmt::format("  {} holds {} of {}\n", cache.name, bytesText(cache.held),
                            bytesText(cache.capacity));
        for (const Replay::CachedArray& array : cache.arrays) {
            text += arrayText(array);
        }
    }
    return text;
}

} // namespace pallascope::app
