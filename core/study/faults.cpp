#include "core/study/faults.h"

#include "core/trace/findings.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace pallascope::study {

namespace {

using Json = nlohmann::ordered_json;

bool hasFaults(const Faults& faults)
{
    return faults.isWrong() || !faults.findings.empty();
}

std::string linesOf(const Faults& faults, const char* run)
{
    std::string lines;
    for (const trace::Finding& finding : faults.findings) {
        lines += fmt::format("{}  {}\n", run, trace::textOf(finding));
    }
    return lines + (faults.isWrong() ? fmt::format("{}  its result is wrong\n", run) : "");
}

Json jsonOf(const Faults& faults)
{
    Json findings = Json::array();
    for (const trace::Finding& finding : faults.findings) {
        findings.push_back({{"kind", finding.kind}, {"count", finding.count}});
    }
    return {{"findings", findings},
            {"passed", faults.check.checked ? Json(faults.check.passed) : Json(nullptr)}};
}

} // namespace

std::string faultLines(const Comparison& comparison)
{
    const bool isA = hasFaults(comparison.faultsA), isB = hasFaults(comparison.faultsB);
    if (!isA && !isB) {
        return {};
    }
    return linesOf(comparison.faultsA, "A") + linesOf(comparison.faultsB, "B")
           + fmt::format("{} may not do what {} should, so take the times with care.\n\n",
                         isA && isB ? "A and B"
                         : isA      ? "A"
                                    : "B",
                         isA && isB ? "they" : "it");
}

std::string faultsJson(const Comparison& comparison)
{
    return Json{{"a", jsonOf(comparison.faultsA)}, {"b", jsonOf(comparison.faultsB)}}.dump();
}

} // namespace pallascope::study
