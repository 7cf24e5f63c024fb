// Paints a slot of scratch that manual DMA fills or empties: what it holds now, how far its copies
// are, one piece for each.
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "core/trace/scratch_slots.h"
#include "views/layout/memory/scratch_words.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

using trace::ScratchPhase;

constexpr double kLine = 14;       // px of a line of text in a slot
constexpr double kTwoLines = 34;   // px of a slot with two lines
constexpr double kThreeLines = 50; // px of one with three
constexpr double kPieceLine = 18;  // px of the line that names the pieces
constexpr double kLeastPiece = 8;  // px
constexpr std::size_t kMostPieces = 16;

struct Line // of text
{
    std::string text;
    TextStyle style;
};

struct Look // how a slot, or a piece of it, is painted
{
    double solid = 0, strength = 0, rest = 0.06;
    bool front = false, dashed = false;
};

// Of one copy, by how far it is; of a slot whose copies have all landed, `fraction` is 1.
Look lookOf(ScratchPhase phase, double fraction, bool started)
{
    switch (phase) {
    case ScratchPhase::Unused:
        return {};
    case ScratchPhase::Queued:
    case ScratchPhase::Arriving:
        return started ? Look{fraction, 0.30, 0.06, fraction < 1, false}
                       : Look{0, 0, 0, false, true};
    case ScratchPhase::Ready:
    case ScratchPhase::InUse:
        return {1, 0.30, 0.06, false, false};
    case ScratchPhase::LeavingQueued:
        return {0, 0.12, 0.34, false, false};
    case ScratchPhase::Leaving:
        return {fraction, 0.12, 0.34, started && fraction < 1, false};
    case ScratchPhase::Sent:
        return {1, 0.14, 0.06, false, false};
    }
    return {};
}

void paintLook(Canvas& canvas, const Look& look, Role role, Rect rect)
{
    if (look.dashed) {
        canvas.dashedFrame(rect.x, rect.y, rect.w, rect.h, role);
        return;
    }
    canvas.fill(rect.x, rect.y, rect.w, rect.h, mix(role, look.rest));
    canvas.fill(rect.x, rect.y, rect.w * look.solid, rect.h, mix(role, look.strength));
    if (look.front) {
        const double x = std::clamp(rect.x + rect.w * look.solid - 1, rect.x, rect.right() - 2);
        canvas.fill(x, rect.y, 2, rect.h, role);
    }
}

// Paints a slot and collects what its parts need.
class Painter
{
public:
    Painter(Canvas& canvas, const RunView& run, const Place& place, Picoseconds now)
        : m_canvas(canvas)
        , m_run(run)
        , m_trace(*run.trace)
        , m_place(place)
        , m_now(now)
        , m_state(run.index->scratch().stateAt(*run.trace, *place.slot, now))
    {}

    void paint(Rect rect, bool texts)
    {
        const bool pieces = m_state.ends.size() > 1 && m_state.ends.size() <= kMostPieces
                            && rect.w / static_cast<double>(m_state.ends.size()) >= kLeastPiece;
        const bool named = texts && pieces && rect.h >= kTwoLines + kPieceLine;
        const Role role = roleNow();
        const bool moves =
            m_state.phase == ScratchPhase::Arriving || m_state.phase == ScratchPhase::Leaving;
        const Rect strip = {rect.x, rect.bottom() - kPieceLine, rect.w, kPieceLine};
        if (m_state.phase == ScratchPhase::Unused) {
            m_canvas.fill(rect.x, rect.y, rect.w, rect.h, Role::Grid);
        } else if (pieces && moves) {
            m_canvas.fill(rect.x, rect.y, rect.w, rect.h, mix(role, 0.06));
            paintPieces(named ? strip : rect, named);
        } else {
            paintLook(m_canvas, lookOf(m_state.phase, m_state.moved, true), role, rect);
        }
        if (m_state.phase == ScratchPhase::Queued) {
            m_canvas.fill(rect.x, rect.y, rect.w, rect.h, Role::View);
            m_canvas.dashedFrame(rect.x, rect.y, rect.w, rect.h, role);
        } else if (m_state.phase != ScratchPhase::Unused) {
            m_canvas.fill(rect.x, rect.y, 4, rect.h, role);
        }
        if (m_state.phase == ScratchPhase::InUse) {
            m_canvas.frame(rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2, Role::Text,
                           rect.h >= 8 ? 2 : 1);
        }
        if (texts) {
            paintTexts({rect.x, rect.y, rect.w, rect.h - (named ? kPieceLine : 0)});
        }
        if (named && !moves) {
            namePieces(strip);
        }
        addHits(rect, pieces, moves || named, named ? strip : rect);
    }

private:
    // The colour of the array whose bytes it holds now or will send; of several arrays, that of the
    // part which lies first, because the slot's edge is beside it.
    [[nodiscard]] Role roleNow() const
    {
        if (m_state.ends.empty()) {
            return bufferRole(m_run, trace::BufferRow{m_place.buffer});
        }
        const trace::CopyRow copy = trace::copyOf(m_trace, inPlace().front());
        return operandRole(m_run, trace::OperandRow{m_trace.copies().operand[copy.index()]});
    }

    // The ends in the order in which their parts lie in the slot.
    [[nodiscard]] std::vector<trace::EndRow> inPlace() const
    {
        std::vector<trace::EndRow> ends(m_state.ends.begin(), m_state.ends.end());
        const std::vector<std::int64_t>& first = m_trace.copyEnds().first;
        std::stable_sort(ends.begin(), ends.end(), [&](trace::EndRow a, trace::EndRow b) {
            return first[a.index()] < first[b.index()];
        });
        return ends;
    }

    [[nodiscard]] Rect pieceRect(Rect rect, std::size_t piece) const
    {
        const auto count = static_cast<double>(m_state.ends.size());
        const double x = std::round(rect.x + rect.w * static_cast<double>(piece) / count);
        const double next = std::round(rect.x + rect.w * static_cast<double>(piece + 1) / count);
        return {x, rect.y, next - x - (piece + 1 < m_state.ends.size() ? 1 : 0), rect.h};
    }

    void paintPieces(Rect rect, bool named)
    {
        const std::vector<trace::EndRow> ends = inPlace();
        const std::vector<std::string> names = pieceNames(m_trace, ends);
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const std::size_t copy = trace::copyOf(m_trace, ends[i]).index();
            const Rect piece = pieceRect(rect, i);
            const double fraction =
                trace::copyFraction(m_trace, trace::copyOf(m_trace, ends[i]), m_now);
            const bool started = m_trace.copies().start[copy] <= m_now.value();
            const Role role = operandRole(m_run, trace::OperandRow{m_trace.copies().operand[copy]});
            if (m_trace.copies().issue[copy] <= m_now.value()) {
                paintLook(m_canvas, lookOf(m_state.phase, fraction, started), role, piece);
            }
            if (named) {
                const bool moves = started && fraction < 1;
                namePiece(piece, names[i], moves ? ": " + percentText(fraction, 0) : "");
            }
        }
    }

    void namePieces(Rect rect)
    {
        const std::vector<trace::EndRow> ends = inPlace();
        const std::vector<std::string> names = pieceNames(m_trace, ends);
        for (std::size_t i = 0; i < ends.size(); ++i) {
            namePiece(pieceRect(rect, i), names[i], {});
        }
    }

    void namePiece(Rect piece, const std::string& name, const std::string& more)
    {
        for (const std::string& text : {name.empty() ? name : name + more, name}) {
            if (textWidth(text, 10) + 12 <= piece.w) {
                m_canvas.text(piece.x + 8, piece.y, piece.w - 8, piece.h, text,
                              {10, Role::Text, Weight::Regular, Align::Left});
                return;
            }
        }
    }

    void paintTexts(Rect rect)
    {
        const std::string words = scratchWords(m_run, *m_place.slot, m_now);
        const std::string name = fittingName(rect.w, textWidth(words, 11));
        const double nameWidth = textWidth(name, 10, Weight::Mono);
        const double wordsWidth = textWidth(words, 11);
        const double titleX = rect.x + 10 + std::max(name.empty() ? 0.0 : 42.0, nameWidth + 8);
        const double room = rect.right() - wordsWidth - 16 - titleX;
        const std::string beside = fitting(room);
        const std::vector<Line> under = linesUnder(rect, beside.empty());
        const auto lines = static_cast<double>(under.size() + 1);
        double y = std::floor(rect.y + std::min(10.0, (rect.h - lines * kLine) / 2));
        const bool hasName = !name.empty();
        if (hasName) {
            m_canvas.text(rect.x + 10, y, nameWidth + 2, kLine, name,
                          {10, Role::Text2, Weight::Mono, Align::Left});
        }
        if (wordsWidth + (hasName ? nameWidth + 26 : 18) <= rect.w) {
            m_canvas.text(rect.x, y, rect.w - 8, kLine, words,
                          {11, m_state.phase == ScratchPhase::Sent ? Role::Text2 : Role::Text,
                           Weight::Regular, Align::Right});
        }
        m_canvas.text(titleX, y, room + 1, kLine, beside,
                      {11, Role::Text, titleWeight(), Align::Left});
        for (const Line& line : under) {
            y += kLine;
            m_canvas.text(rect.x + 10, y, rect.w - 14, kLine, line.text, line.style);
        }
    }

    // The lines below the first: the title, if it has no room above, and since when.
    [[nodiscard]] std::vector<Line> linesUnder(Rect rect, bool withTitle) const
    {
        std::vector<Line> lines;
        const auto add = [&](const std::string& text, const TextStyle& style) {
            const double needed = lines.empty() ? kTwoLines : kThreeLines;
            if (!text.empty() && rect.h >= needed
                && textWidth(text, style.size, style.weight) + 18 <= rect.w) {
                lines.push_back({text, style});
            }
        };
        if (withTitle) {
            add(fitting(rect.w - 18), {11, Role::Text, titleWeight(), Align::Left});
        }
        const TextStyle small{10, Role::Text2, Weight::Regular, Align::Left};
        const std::string age = scratchAge(m_run, *m_place.slot, m_now, false);
        const bool fits = textWidth(age, small.size, small.weight) + 18 <= rect.w;
        add(fits ? age : scratchAge(m_run, *m_place.slot, m_now, true), small);
        return lines;
    }

    [[nodiscard]] Weight titleWeight() const
    {
        return m_state.phase == ScratchPhase::InUse ? Weight::SemiBold : Weight::Medium;
    }

    // "k_buffer[0]", or "[0]" where that leaves no room for what happens in the slot.
    [[nodiscard]] std::string fittingName(double width, double words) const
    {
        const std::string name = placeName(m_run, m_place);
        const std::size_t index = name.rfind('[');
        const std::string number = index == std::string::npos ? std::string() : name.substr(index);
        for (const double beside : {words + 26, 14.0}) {
            for (const std::string& one : {name, number}) {
                if (!one.empty() && textWidth(one, 10, Weight::Mono) + beside <= width) {
                    return one;
                }
            }
        }
        return {};
    }

    // What it holds, as long as the room allows; empty if nothing fits.
    [[nodiscard]] std::string fitting(double room) const
    {
        for (const bool inShort : {false, true}) {
            std::string title = scratchTitle(m_run, *m_place.slot, m_now, inShort);
            if (textWidth(title, 11, Weight::SemiBold) <= room) {
                return title;
            }
        }
        return {};
    }

    // A place stands for the buffer only while it has the buffer's colour. The copies lie below it,
    // to be framed with what belongs to them, and above it where their pieces can be told apart.
    void addHits(Rect rect, bool pieces, bool onTop, Rect strip)
    {
        const std::vector<trace::EndRow> ends = inPlace();
        const auto addCopies = [&](Rect within) {
            for (std::size_t i = 0; i < ends.size(); ++i) {
                const Rect piece = pieceRect(within, i);
                m_canvas.hit(piece.x, piece.y, piece.w, piece.h,
                             target::Copy{trace::copyOf(m_trace, ends[i]).number});
            }
        };
        if (pieces || ends.size() == 1) {
            addCopies(rect);
        }
        if (roleNow() == bufferRole(m_run, trace::BufferRow{m_place.buffer})) {
            m_canvas.hit(rect.x, rect.y, rect.w, rect.h, target::Buffer{m_place.buffer});
        }
        if (pieces && onTop) {
            addCopies(strip);
        }
    }

    Canvas& m_canvas;
    const RunView& m_run;
    const trace::Trace& m_trace;
    const Place& m_place;
    Picoseconds m_now;
    trace::ScratchState m_state;
};

} // namespace

void paintScratchSlot(Canvas& canvas, const RunView& run, const Place& place, Rect rect,
                      Picoseconds now, bool texts)
{
    Painter(canvas, run, place, now).paint(rect, texts);
}

} // namespace pallascope::layout
