// Paints the waterfall of the verdict view: from the roofline to the run, loss by loss.
#include "core/analysis/losses.h"

#include "core/base/format.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/verdict/parts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

namespace pallascope::layout {

namespace {

using analysis::Loss;
using analysis::LossKind;
using parts::kPadding;
using parts::kRow;

constexpr double kLossBar = 3;

TextStyle lossStyle(Role role, Weight weight = Weight::Regular, Align align = Align::Left)
{
    return {11, role, weight, align};
}

Role unitOf(const RunView& run, const std::string& name)
{
    for (const trace::Unit& unit : run.trace->info().units) {
        if (unit.name == name) {
            return parts::unitRole(unit.kind);
        }
    }
    return Role::Edge;
}

Role roleOf(const RunView& run, const Loss& loss)
{
    switch (loss.kind) {
    case LossKind::Padding:
    case LossKind::MatrixRate:
    case LossKind::Units:
        return unitOf(run, loss.of);
    case LossKind::Masks:
        return Role::Vpu;
    case LossKind::PaddedCopies:
    case LossKind::Refetch:
    case LossKind::LinkRate:
    case LossKind::OtherLinks:
        return Role::CopyIn;
    case LossKind::Copies:
    case LossKind::DeviceCopies:
    case LossKind::Waits:
        return Role::Wait;
    case LossKind::StepOverhead:
    case LossKind::BlockStarts:
    case LossKind::Launches:
        return Role::Scalar;
    case LossKind::IdleCores:
    case LossKind::Chains:
    case LossKind::Prologue:
    case LossKind::Epilogue:
    case LossKind::Fusions:
        return Role::Edge;
    }
    return Role::Edge;
}

struct LossBar
{
    std::string name;
    Picoseconds time;
    Role role = Role::Edge;
};

std::vector<LossBar> lossBars(const RunView& run)
{
    const analysis::ShownLosses shown = analysis::shownLosses(run.report);
    std::vector<LossBar> rows{{"roofline", run.report.losses.roofline, Role::Focus}};
    for (const Loss& loss : shown.large) {
        rows.push_back({analysis::lossText(loss, run.report), loss.time, roleOf(run, loss)});
    }
    if (shown.others > Picoseconds(0)) {
        rows.push_back({"other", shown.others, Role::Edge});
    }
    return rows;
}

} // namespace

double paintLosses(Canvas& canvas, const RunView& run, double y)
{
    const Picoseconds whole = run.report.time;
    if (run.report.losses.total() != whole || whole == Picoseconds(0) || run.report.isStopped()) {
        return y; // the losses are not known, or those of a part of the run
    }
    const double x = kPadding, w = canvas.width() - 2 * x, shares = 52;
    canvas.fill(x, y, w, 1, Role::Line);
    canvas.text(x, y + 5, w, kRow, "Beyond the roofline", lossStyle(Role::Text, Weight::SemiBold));
    y += 5 + kRow + 2;
    Picoseconds sum;
    for (const LossBar& bar : lossBars(run)) {
        const std::string time = timeText(bar.time);
        canvas.text(x, y, w - shares - textWidth(time) - 10, kRow, bar.name, lossStyle(Role::Text));
        canvas.text(x, y, w - shares, kRow, time,
                    lossStyle(Role::Text, Weight::Regular, Align::Right));
        canvas.text(x, y, w, kRow, percentText(ratio(bar.time, whole), 1),
                    lossStyle(Role::Text2, Weight::Regular, Align::Right));
        const double left = std::round(w * ratio(sum, whole));
        sum += bar.time;
        const double right = std::round(w * ratio(sum, whole));
        canvas.fill(x, y + kRow, w, kLossBar, Role::Grid);
        canvas.fill(x + left, y + kRow, std::max(1.0, right - left), kLossBar, bar.role);
        y += kRow + kLossBar + 2;
    }
    if (std::string advice = analysis::advice(run.report); !advice.empty()) {
        advice.front() =
            static_cast<char>(std::toupper(static_cast<unsigned char>(advice.front())));
        y = canvas.paragraph(x, y + 2, w, advice + ".", 11, 15);
    }
    return y + 8;
}

} // namespace pallascope::layout
