// Paints the section of the verdict view that compares the run with a kept one.
#include "core/base/format.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/verdict/parts.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pallascope::layout {

namespace {

using analysis::Figure;
using parts::kPadding;
using parts::kRow;

constexpr double kNumber = 68;     // px of a column of numbers
constexpr double kLeastBars = 480; // px of a view whose rows have bars
constexpr double kBars = 120;      // px of these, from twice less to twice as much

Role roleOfChange(const Figure& figure)
{
    if (figure.a == figure.b) {
        return Role::Text3;
    }
    if (figure.better == Figure::Better::Neither) {
        return Role::Text2;
    }
    return (figure.b < figure.a) == (figure.better == Figure::Better::Less) ? Role::Ok
                                                                            : Role::Warning;
}

// From a line in the middle to the left for less, to the right for more.
void paintChangeBar(Canvas& canvas, const Figure& figure, double left, double y)
{
    const double middle = left + kBars / 2;
    canvas.fill(middle, y, 1, kRow, Role::Grid);
    if (figure.a == 0 || figure.a == figure.b) {
        return;
    }
    const double share = std::clamp(figure.b / figure.a - 1, -1.0, 1.0);
    const double w = std::max(1.0, std::round(std::abs(share) * (kBars / 2 - 2)));
    canvas.fill(share < 0 ? middle - w : middle + 1, y + 5, w, kRow - 10, roleOfChange(figure));
}

// As many as there is room for, in their order.
std::vector<const Figure*> figuresToShow(const KeptRun& kept, double room)
{
    std::vector<const Figure*> shown;
    for (const Figure& figure : kept.figures) {
        if (figure.isShown()) {
            shown.push_back(&figure);
        }
    }
    for (const bool changed : {false, true}) {
        for (std::size_t i = shown.size(); i-- > 1 && static_cast<double>(shown.size()) > room;) {
            if ((shown[i]->a != shown[i]->b) == changed) {
                shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
    }
    return shown;
}

} // namespace

double paintDifferences(Canvas& canvas, const RunView& run, const ViewState& state, double y,
                        double bottom)
{
    if (state.kept == nullptr) {
        return y;
    }
    const KeptRun& kept = *state.kept;
    const double room = canvas.width() - 2 * kPadding;
    const std::vector<const Figure*> all = figuresToShow(kept, 1e6);
    const double rows = kRow * (static_cast<double>(all.size()) + 1);
    const std::string sentence = keptVerdict(run, state) + ".";
    Canvas scratch(canvas.width(), bottom);
    const double below = scratch.paragraph(kPadding, y, room, sentence, 12, 17) + 4;
    if (below + rows <= bottom) { // the strip says it too
        y = canvas.paragraph(kPadding, y, room, sentence, 12, 17) + 4;
    }
    const double bars = canvas.width() >= kLeastBars ? kBars + 10 : 0;
    const double changeEnd = kPadding + room - bars;
    const auto row = [&](const char* name, const std::string& a, const std::string& b,
                         const std::string& change, Role of, TextStyle style) {
        const auto number = [&](double end, const std::string& text, Role role) {
            canvas.text(end - kNumber, y, kNumber, kRow, text,
                        {style.size, role, style.weight, Align::Right});
        };
        canvas.text(kPadding, y, changeEnd - 3 * kNumber - kPadding, kRow, name, style);
        number(changeEnd - 2 * kNumber, a, Role::Text2);
        number(changeEnd - kNumber, b, style.color.role);
        number(changeEnd, change, of);
    };
    row("compared", "kept", "now", "change", Role::Text2, {10, Role::Text2});
    y += kRow;
    for (const Figure* one : figuresToShow(kept, (bottom - y) / kRow)) {
        const Figure& figure = *one;
        row(figure.name, figure.textA, figure.textB, analysis::changeText(figure),
            roleOfChange(figure), {11, Role::Text});
        if (bars > 0) {
            paintChangeBar(canvas, figure, changeEnd + 10, y);
        }
        canvas.state({FactKind::Compared, static_cast<std::int32_t>(&figure - kept.figures.data()),
                      figure.b, figure.textB});
        y += kRow;
    }
    return y + 10;
}

} // namespace pallascope::layout
