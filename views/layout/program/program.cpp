#include "views/layout/program/program.h"

#include "core/base/format.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/pieces.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/scene/header.h"
#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace program {

namespace {

constexpr double kSide = 10; // px left and right of the strip
constexpr double kTopOfStrip = 2;
constexpr double kKernelBox = 24; // px high
constexpr double kOuterBox = 16;
constexpr double kEdgeWidth = 3;
constexpr double kInset = 6; // px from the edge to a text
constexpr double kPast = 0.42, kFuture = 0.16;

class Strip
{
public:
    Strip(const RunView& run, const ViewState& state, Size size)
        : m_run(run)
        , m_state(state)
        , m_pieces(run.index->pieces(state.device))
        , m_current(m_pieces.at(state.now))
        , m_boxes(boxesOf(m_pieces, kSide, std::max(1.0, size.width - 2 * kSide)))
        , m_canvas(size.width, size.height)
    {
        const std::optional<std::int32_t> unit = timeline::mainUnit(run);
        m_role =
            unit ? parts::unitRole(run.trace->info().units[static_cast<std::size_t>(*unit)].kind)
                 : Role::Scalar;
    }

    [[nodiscard]] Scene paint() &&
    {
        for (std::size_t i = 0; i < m_pieces.all.size(); ++i) {
            if (m_boxes[i].w >= 1) {
                piece(i);
            }
        }
        if (isKernel(m_current)) {
            const Rect place = placeOf(m_current);
            m_canvas.frame(place.x - 1, place.y - 1, place.w + 2, place.h + 2, Role::Select, 2);
        }
        playhead();
        const trace::Piece& now = m_pieces.all[m_current];
        const auto state = [this](FactKind kind, std::int64_t value) {
            m_canvas.state({kind, m_state.device, static_cast<double>(value), countText(value)});
        };
        if (now.isKernel()) {
            state(FactKind::Kernel, now.number);
        }
        state(FactKind::Kernels, m_pieces.kernels);
        std::string text =
            parts::captionOrNotRun(m_run, withKept(m_canvas, m_state, "time_s", caption()));
        return parts::finished(std::move(m_canvas), "Program", std::move(text), m_run, m_state);
    }

private:
    [[nodiscard]] bool isKernel(std::size_t index) const { return m_pieces.all[index].isKernel(); }

    [[nodiscard]] Rect placeOf(std::size_t index) const
    {
        const double high = isKernel(index) ? kKernelBox : kOuterBox;
        const double top = kTopOfStrip + std::floor((kKernelBox - high) / 2);
        return {m_boxes[index].x, top, m_boxes[index].w, high};
    }

    // Up to the playhead a piece is darker.
    void piece(std::size_t index)
    {
        const trace::Piece& piece = m_pieces.all[index];
        const Rect place = placeOf(index);
        const Role role = piece.isKernel() ? m_role : Role::Scalar;
        const Role below =
            piece.isKernel() && index == m_current ? Role::SelectBackground : Role::View;
        const Color future = mix(role, kFuture, below), past = mix(role, kPast, below);
        const double done = doneOf(piece);
        const double middle = std::round(place.x + place.w * done);
        m_canvas.fill(place.x, place.y, place.w, place.h,
                      index == m_current && piece.isKernel() ? Color(Role::SelectBackground)
                                                             : future);
        m_canvas.fill(place.x, place.y, middle - place.x, place.h, past);
        const Rect text{place.x + kInset, place.y, place.w - 2 * kInset + 2, place.h};
        // A text on both tints is written for the one that has more of it.
        const Color under = done > 0.5 ? past : future;
        if (piece.isKernel()) {
            if (const auto bound = boundOf(m_run, m_state.device, piece);
                bound && place.w >= 2 * kEdgeWidth) {
                m_canvas.fill(place.x, place.y, kEdgeWidth, place.h, roleOf(*bound));
            }
            kernelTexts(piece, {text.x + 2, text.y, text.w - 2, text.h}, under);
        } else {
            outerText(piece, text, under);
        }
        m_canvas.hit(place.x, 0, place.w, m_canvas.height(),
                     target::Piece{m_state.device, static_cast<std::int64_t>(index), piece.begin});
    }

    [[nodiscard]] double doneOf(const trace::Piece& piece) const
    {
        const Picoseconds time = piece.end - piece.begin;
        return time > Picoseconds(0) ? std::clamp(ratio(m_state.now - piece.begin, time), 0.0, 1.0)
               : m_state.now >= piece.end ? 1.0
                                          : 0.0;
    }

    void kernelTexts(const trace::Piece& piece, Rect room, Color under)
    {
        const std::string number = countText(piece.number);
        const std::string time = timeText(piece.end - piece.begin);
        const std::string share = time + " · " + shareText(piece);
        const double numberWide = textWidth(number, 11, Weight::SemiBold);
        const auto wide = [&](const std::string& right) {
            return numberWide + 6 + textWidth(piece.name, 11, Weight::Medium)
                   + (right.empty() ? 0 : 10 + textWidth(right, 11, Weight::Medium));
        };
        std::string right; // what there is room for beside the name
        for (const std::string& text : {share, time}) {
            right = right.empty() && wide(text) <= room.w ? text : right;
        }
        if (numberWide > room.w) {
            return;
        }
        write(room.x, room, number, Weight::SemiBold, Align::Left, under);
        if (wide(right) <= room.w) {
            const Rect rest{room.x + numberWide + 6, room.y, room.w - numberWide - 6, room.h};
            write(rest.x, rest, piece.name, Weight::Medium, Align::Left, under);
        } else if (numberWide + 8 + textWidth(time, 11, Weight::Medium) <= room.w) {
            right = time;
        }
        if (!right.empty()) {
            write(room.x, room, right, Weight::Medium, Align::Right, under);
        }
    }

    void outerText(const trace::Piece& piece, Rect room, Color under)
    {
        const std::string time = timeText(piece.end - piece.begin);
        for (const std::string& text : {piece.name + " " + time, time}) {
            if (textWidth(text, 10) <= room.w) {
                m_canvas.label(room.x - 5, room.y, room.w + 10, room.h, text, under, 10,
                               Weight::Regular);
                return;
            }
        }
    }

    void write(double x, Rect room, const std::string& text, Weight weight, Align align,
               Color under)
    {
        if (align == Align::Right) {
            const double wide = std::ceil(textWidth(text, 11, weight));
            x = room.right() - wide;
        }
        m_canvas.label(x - 5, room.y, room.right() - x + 11, room.h, text, under, 11, weight);
    }

    [[nodiscard]] std::string shareText(const trace::Piece& piece) const
    {
        const Picoseconds whole = m_run.trace->end();
        return percentText(whole > Picoseconds(0) ? ratio(piece.end - piece.begin, whole) : 0, 0);
    }

    void playhead()
    {
        if (!m_run.notRun.empty()) {
            return;
        }
        const Box& box = m_boxes[m_current];
        const double px = std::min(std::round(box.x + box.w * doneOf(m_pieces.all[m_current])),
                                   m_canvas.width() - kSide - 1);
        m_canvas.fill(px - 1, 0, 4, kKernelBox + 2 * kTopOfStrip, Role::View);
        m_canvas.fill(px, 0, 2, kKernelBox + 2 * kTopOfStrip, Role::Playhead);
    }

    // "kernel |3| of |4|", "between kernels 1 and 2 of |4|: fusion |sum|"
    [[nodiscard]] std::string whereText() const
    {
        const trace::Piece& now = m_pieces.all[m_current];
        const std::string all = "|" + countText(m_pieces.kernels) + "|";
        if (now.isKernel()) {
            return fmt::format("kernel |{}| of {}", countText(now.number), all);
        }
        std::int64_t before = 0;
        for (std::size_t i = 0; i < m_current; ++i) {
            before = std::max(before, m_pieces.all[i].number);
        }
        const std::string what = pieceKindText(m_pieces, now) + " |" + now.name + "|";
        if (m_pieces.kernels == 0) {
            return fmt::format("{}, |0| kernels", what);
        }
        if (before == 0) {
            return fmt::format("{}, before kernel 1 of {}", what, all);
        }
        return before == m_pieces.kernels
                   ? fmt::format("{}, after kernel {} of {}", what, countText(before), all)
                   : fmt::format("{}, between kernels {} and {} of {}", what, countText(before),
                                 countText(before + 1), all);
    }

    // "operations around kernels take |27.8 µs|, 6.6 %"
    [[nodiscard]] std::string takeText(bool collectives) const
    {
        Picoseconds sum;
        std::int64_t count = 0;
        for (const trace::Piece& piece : m_pieces.all) {
            const bool counts = piece.kind == trace::PieceKind::Collective
                                    ? collectives
                                    : !collectives && !piece.isKernel();
            sum += counts ? piece.end - piece.begin : Picoseconds(0);
            count += counts ? 1 : 0;
        }
        const Picoseconds whole = m_run.trace->end();
        return count == 0 || whole == Picoseconds(0)
                   ? ""
                   : fmt::format(" · {} |{}|, {}",
                                 collectives
                                     ? count == 1 ? "a collective takes" : "collectives take"
                                 : count == 1 ? "an operation around kernels takes"
                                              : "operations around kernels take",
                                 timeText(sum), percentText(ratio(sum, whole), 1));
    }

    [[nodiscard]] std::string caption() const
    {
        const std::string device = m_run.trace->info().deviceCount() > 1
                                       ? fmt::format("device |{}|, ", m_state.device)
                                       : "";
        return device + whereText() + takeText(true) + takeText(false);
    }

    const RunView& m_run;
    const ViewState& m_state;
    const trace::Pieces& m_pieces;
    std::size_t m_current;
    std::vector<Box> m_boxes;
    Canvas m_canvas;
    Role m_role = Role::Scalar; // of what kernels mostly keep busy
};

} // namespace

} // namespace program

bool isProgram(const RunView& run)
{
    return run.index->pieces().all.size() > 1;
}

Scene layoutProgram(const RunView& run, const ViewState& state, Size size)
{
    return program::Strip(run, state, size).paint();
}

Scene layoutProgramStrip(const RunView& run, const ViewState& state, Size size)
{
    const double high = std::max(1.0, size.height - headerHeight(size.width));
    Scene scene = withHeader(layoutProgram(run, state, {size.width, high}));
    scene.items.emplace_back(FillItem{{0, size.height - 1, size.width, 1}, Role::Line});
    return scene;
}

} // namespace pallascope::layout
