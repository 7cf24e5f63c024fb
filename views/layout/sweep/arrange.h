// Which axis of a sweep is drawn across, and which rows are series.
#pragma once

#include "views/layout/sweep/sweep.h"

namespace pallascope::layout::sweep {

struct Series
{
    std::string name; // its values of what else varies
    std::vector<const SweepPoint*> points;
};

struct Arrangement
{
    std::size_t across = 0;           // the axis whose values are the columns
    std::size_t first = 0, count = 0; // the columns that are drawn
    std::size_t columnsLeftOut = 0;
    std::string names; // of what else varies
    std::vector<Series> series;
    std::size_t seriesLeftOut = 0;
};

// At most that many columns and series. If there are more, those with the shortest times are among
// the ones that are drawn.
[[nodiscard]] Arrangement arranged(const SweepPicture& picture, std::size_t mostColumns,
                                   std::size_t mostSeries);

// "bm=256 bk=512 on tpu_v5e": what varies.
[[nodiscard]] std::string nameOf(const SweepPicture& picture, const SweepPoint& point);

// What to call the fastest: "shortest" if nobody knows how far its time is off.
[[nodiscard]] inline std::string wordFor(const SweepPoint& fastest)
{
    return fastest.band ? "fastest" : "shortest";
}

} // namespace pallascope::layout::sweep
