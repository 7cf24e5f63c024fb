// Lays out the choices that fit, in the place of the memory that the failed choice would overflow.
#include "core/base/format.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

using parts::kPadding;

constexpr double kCard = 44, kBetween = 4; // px

std::string boundText(const analysis::Alternative& choice)
{
    if (choice.time.value() == 0) {
        return "not tried";
    }
    std::string words(analysis::boundKindName(choice.boundBy.kind));
    std::replace(words.begin(), words.end(), '_', '-');
    return words + "-bound" + (choice.overScopedLimit ? ", over the scoped limit" : "");
}

// A choice as a card: its name, bytes and time, and a bar of its bytes in the memory.
void paintCard(Canvas& canvas, const RunView& run, std::size_t index, double y)
{
    const analysis::Alternative& choice = run.alternatives[index];
    const double x = kPadding - 4;
    const double w = canvas.width() - 2 * x;
    const bool first = index == 0;
    if (first) {
        canvas.fill(x, y, w, kCard, Role::SelectBackground);
    }
    canvas.frame(x, y, w, kCard, first ? Role::Select : Role::Edge);
    const double inner = w - 16;
    const std::string time = choice.time.value() > 0 ? timeText(choice.time) : "–";
    constexpr double kTime = 64, kBytes = 66;
    canvas.text(x + 8, y + 4, inner - kTime - kBytes, 18, choice.name,
                {11, Role::Focus, Weight::Medium});
    canvas.text(x + 8, y + 4, inner - kTime, 18, bytesText(choice.vmem),
                {11, Role::Text, Weight::Regular, Align::Right});
    canvas.text(x + 8, y + 4, inner, 18, time, {11, Role::Text, Weight::SemiBold, Align::Right});
    const std::string note = boundText(choice);
    const double bar = std::max(40.0, inner - textWidth(note, 10) - 16);
    const Bytes scale = std::max(run.report.vmemCapacity, choice.vmem);
    const double share = scale.value() > 0 ? ratio(choice.vmem, scale) : 0;
    canvas.fill(x + 8, y + 28, bar, 6, Role::Grid);
    canvas.fill(x + 8, y + 28, std::max(1.0, std::round(bar * share)), 6, Role::Vmem);
    canvas.text(x + 8, y + 22, inner, 18, note, {10, Role::Text2, Weight::Regular, Align::Right});
    canvas.hit(x, y, w, kCard, target::Alternative{static_cast<std::int64_t>(index)});
}

} // namespace

Scene layoutNearest(const RunView& run, const ViewState& state, Size size)
{
    if (run.alternatives.empty()) {
        return parts::nothing("Memory", "not run · nothing near fits",
                              run.trace->info().parameters.contains("file")
                                  ? "The blocks are fixed in the file, and no chip that is built "
                                    "in has room for them. Capture or save the kernel with smaller "
                                    "ones."
                                  : "No smaller blocks of this kernel fit this chip, and no chip "
                                    "that is built in has room for it.",
                              size);
    }
    Canvas canvas(size.width, size.height);
    canvas.text(kPadding, 0, size.width - 2 * kPadding, 18, "Nearest that fit",
                {11, Role::Text, Weight::SemiBold});
    double y = 20;
    std::size_t shown = 0;
    while (shown < run.alternatives.size() && y + kCard <= size.height) {
        paintCard(canvas, run, shown++, y);
        y += kCard + kBetween;
    }
    const std::string of = bytesText(run.report.vmemCapacity);
    if (y + 16 <= size.height) {
        canvas.text(kPadding, y + 2, size.width - 2 * kPadding, 16,
                    "bars: of the " + of + " that the chip has", {10, Role::Text2});
    }
    const std::size_t hidden = run.alternatives.size() - shown;
    std::string caption = "not run · click one that fits";
    if (hidden > 0) {
        caption += fmt::format(" · |{}| more in the kernel's table", hidden);
    }
    return parts::finished(std::move(canvas), "Memory", std::move(caption), run, state);
}

} // namespace pallascope::layout
