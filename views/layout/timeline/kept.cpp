// The time line of a kept run below that of the present one, and the gaps between steps where both
// are aligned by them.
#include "core/base/format.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/timeline/painter.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace pallascope::layout::timeline {

namespace {

constexpr double kKeptTint = 0.45;    // of colours that say what a bar is of; waits keep full ink
constexpr double kLeastForBoth = 120; // px

bool isTinted(Role role)
{
    switch (role) {
    case Role::Operand1:
    case Role::Operand2:
    case Role::Operand3:
    case Role::Operand4:
    case Role::Operand5:
    case Role::Operand6:
    case Role::Mxu:
    case Role::Vpu:
    case Role::Eup:
    case Role::Scalar:
    case Role::CopyIn:
    case Role::CopyOut:
        return true;
    case Role::Chrome:
    case Role::View:
    case Role::Panel:
    case Role::Line:
    case Role::Grid:
    case Role::Edge:
    case Role::Text:
    case Role::Text2:
    case Role::Text3:
    case Role::Focus:
    case Role::Select:
    case Role::SelectBackground:
    case Role::Wait:
    case Role::Hbm:
    case Role::Vmem:
    case Role::Smem:
    case Role::Prologue:
    case Role::Playhead:
    case Role::Poison:
    case Role::Error:
    case Role::Warning:
    case Role::Ok:
        return false;
    }
    return false;
}

// Colours of the kept run: on the panel, and tinted.
struct Tint
{
    void operator()(FillItem& item) const { tint(item.color); }

    void operator()(HatchItem& item) const
    {
        tint(item.color);
        tint(item.background);
    }

    void operator()(PolylineItem& item) const { tint(item.color); }

    void operator()(PolygonItem& item) const
    {
        tint(item.fill);
        tint(item.edge);
    }

    void operator()(DiscItem& item) const
    {
        tint(item.fill);
        tint(item.edge);
    }

    void operator()(TextItem& item) const { tint(item.color); }

    void operator()(ImageItem& item) const
    {
        std::for_each(item.palette.begin(), item.palette.end(), tint);
    }

    void operator()(ClipItem& /*item*/) const {}

    static void tint(Color& color)
    {
        color.role = color.role == Role::View ? Role::Panel : color.role;
        color.over = color.over == Role::View ? Role::Panel : color.over;
        color.share *= isTinted(color.role) ? static_cast<float>(kKeptTint) : 1.0F;
    }
};

// In the head of a ruler: which run this is.
void nameRun(Scene& scene, const char* word, const std::string& name, double y)
{
    Canvas canvas(scene.width, scene.height);
    canvas.text(10, y, 34, kRuler - 1, word, {11, Role::Text, Weight::SemiBold});
    if (!name.empty()) {
        canvas.text(10, y + kRuler, kHead - 16, kStepRuler, name, {10, Role::Text2});
    }
    Scene words = std::move(canvas).finish("", "");
    std::move(words.items.begin(), words.items.end(), std::back_inserter(scene.items));
}

// What is done where the kept run cannot be beside the present one as was asked for.
std::string alignmentText(const ViewState& state)
{
    if (!state.isKeptBySteps) {
        return "";
    }
    return isBySteps(state) ? " · aligned by step"
                            : " · aligned by time: " + state.kept->notBySteps;
}

} // namespace

std::vector<Gap> gapsOf(const TimeAxis& axis)
{
    std::vector<Gap> gaps;
    if (axis.alignment == nullptr) {
        return gaps;
    }
    const Alignment& of = *axis.alignment;
    for (std::size_t part = of.partAt(axis.range.begin.value());
         part + 1 < of.begins.size() && of.places[part] < axis.places.end.value(); ++part) {
        const double x1 = std::round(axis.toX(Picoseconds(of.begins[part + 1])));
        const std::int64_t gap = of.gapBehind(part);
        const double x0 =
            std::round(x1
                       - static_cast<double>(gap) * axis.width
                             / static_cast<double>((axis.places.end - axis.places.begin).value()));
        if (x1 - x0 >= 1) {
            gaps.push_back({x0, x1, Picoseconds(gap)});
        }
    }
    return gaps;
}

std::vector<Bar> cutAtGaps(std::vector<Bar> bars, const std::vector<Gap>& gaps)
{
    if (gaps.empty()) {
        return bars;
    }
    std::vector<Bar> cut;
    for (Bar& bar : bars) {
        const std::size_t first = cut.size();
        auto gap = std::partition_point(gaps.begin(), gaps.end(),
                                        [&](const Gap& one) { return one.x1 <= bar.x0; });
        for (; gap != gaps.end() && gap->x0 < bar.x1; ++gap) {
            if (gap->x0 > bar.x0) {
                cut.push_back(bar);
                cut.back().x1 = gap->x0;
            }
            bar.x0 = gap->x1;
        }
        if (bar.x0 < bar.x1) {
            cut.push_back(std::move(bar));
        }
        const auto longest =
            std::max_element(cut.begin() + static_cast<std::ptrdiff_t>(first), cut.end(),
                             [](const Bar& a, const Bar& b) { return a.x1 - a.x0 < b.x1 - b.x0; });
        for (auto piece = cut.begin() + static_cast<std::ptrdiff_t>(first); piece != cut.end();
             ++piece) {
            if (piece != longest) {
                piece->labels.clear();
            }
        }
    }
    return cut;
}

void Painter::gaps()
{
    constexpr double kLeastMeasured = 12; // px
    const std::optional<std::int32_t> unit = mainUnit(m_run);
    const auto lane = std::find_if(m_lanes.begin(), m_lanes.end(), [&](const Lane& one) {
        return one.unit == unit && (one.kind == LaneKind::Unit || one.kind == LaneKind::DeviceUnit);
    });
    if (lane == m_lanes.end()) {
        return;
    }
    // In the present run a gap is time saved, in the kept one it is time lost since.
    const bool saved = m_state.kept != nullptr;
    const Role role = saved ? Role::Ok : Role::Warning;
    const double y = lane->y + std::floor(lane->h / 2);
    for (const Gap& gap : m_gaps) {
        const double x0 = std::max(gap.x0, m_axis.left) + 2, x1 = std::min(gap.x1, right()) - 2;
        if (x1 - x0 < kLeastMeasured) {
            continue;
        }
        m_canvas.fill(x0, y, x1 - x0, 1, role);
        m_canvas.fill(x0, y - 3, 1, 7, role);
        m_canvas.fill(x1 - 1, y - 3, 1, 7, role);
        const std::string text = (saved ? "−" : "+") + timeText(gap.length);
        const double w = std::ceil(textWidth(text, 10, Weight::Medium)) + 6;
        if (w + 8 <= x1 - x0 && lane->h >= 12) {
            const double from = std::floor((x0 + x1 - w) / 2);
            m_canvas.fill(from, y - 6, w, 13, Role::View);
            m_canvas.text(from, y - 6, w, 13, text, {10, role, Weight::Medium, Align::Center});
        }
    }
}

Scene besideKept(const RunView& run, const ViewState& state, Size size)
{
    const double high = std::ceil(size.height / 2);
    const Size above{size.width, high}, below{size.width, size.height - high};
    Painter present(run, state, above, timelineAxis(state, above));
    const ViewState its = keptState(state);
    Painter before(*state.kept->run, its, below, keptAxis(state, below));
    if (size.height < kLeastForBoth || !present.fits() || !before.fits()) {
        Scene scene = Painter(run, state, size, timelineAxis(state, size)).paint();
        scene.caption += " · no room for the kept run";
        return scene;
    }
    Scene scene = std::move(present).paint();
    const Scene kept = std::move(before).paint();
    scene.height = size.height;
    scene.caption += alignmentText(state);
    scene.items.emplace_back(FillItem{{0, high, below.width, below.height}, Role::Panel});
    for (Item item : kept.items) {
        std::visit(Tint{}, item);
        scene.items.push_back(movedDown(std::move(item), high));
    }
    for (const Hit& hit : kept.hits) {
        if (const Target target = asKept(hit.target); !isNothing(target)) {
            scene.hits.push_back({{hit.rect.x, hit.rect.y + high, hit.rect.w, hit.rect.h}, target});
        }
    }
    scene.items.emplace_back(FillItem{{0, high, below.width, 1}, Role::Edge});
    nameRun(scene, "now", "", 0);
    nameRun(scene, "kept", hasStepRuler(*state.kept->run) ? state.kept->name : "", high);
    return scene;
}

} // namespace pallascope::layout::timeline
