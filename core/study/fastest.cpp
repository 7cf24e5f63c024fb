// Compares every row of a sweep with the best one, within the error of the model.
#include "core/study/fastest.h"

#include "core/analysis/speedup.h"

namespace pallascope::study {

namespace {

bool isSound(const SweepRow& row)
{
    return row.ran() && row.findings.empty();
}

analysis::Timed timed(const SweepRow& row)
{
    return {row.chip, row.time, row.band};
}

} // namespace

std::vector<Standing> standings(const std::vector<SweepRow>& rows)
{
    std::vector<Standing> found(rows.size(), Standing::None);
    const SweepRow* best = nullptr;
    for (const SweepRow& row : rows) {
        best = isSound(row) && (best == nullptr || row.time < best->time) ? &row : best;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (&rows[i] == best) {
            found[i] = best->band ? Standing::Best : Standing::Shortest;
        } else if (isSound(rows[i])) {
            const auto over = analysis::speedup(timed(*best), timed(rows[i]));
            if (over && over->range) {
                found[i] = over->isSure() ? Standing::Slower : Standing::Perhaps;
            }
        }
    }
    return found;
}

const char* nameOf(Standing standing)
{
    switch (standing) {
    case Standing::None:
    case Standing::Shortest:
        return "";
    case Standing::Slower:
        return "no";
    case Standing::Perhaps:
        return "perhaps";
    case Standing::Best:
        return "yes";
    }
    return "";
}

} // namespace pallascope::study
