// Paints what is on the links as a list, and the devices as a table.
#include "core/base/format.h"
#include "views/layout/devices/parts.h"
#include "views/layout/run/finding_text.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout::devices {

namespace {

constexpr double kListHead = 20; // px of a title
constexpr double kLine = 17;

// The copies that move, those of the chosen device first.
std::vector<const LinkNow*> movingLinks(const Moment& moment)
{
    std::vector<const LinkNow*> found;
    for (const LinkNow& link : moment.links) {
        if (link.copy) {
            found.push_back(&link);
        }
    }
    return found;
}

void head(Canvas& canvas, Rect room, const std::string& title, const std::string& note)
{
    canvas.text(room.x, room.y, room.w, 16, title, {11, Role::Text, Weight::SemiBold});
    const double x = room.x + textWidth(title, 11, Weight::SemiBold) + 10;
    canvas.rich(x, room.y, room.w - (x - room.x), 16, note, 10, Role::Text3);
}

// When the next copy between devices starts; none if no one does.
trace::OptionalRow<trace::CopyRow> nextCopy(const Moment& moment)
{
    const trace::Copies& copies = moment.run.trace->copies();
    trace::OptionalRow<trace::CopyRow> next;
    for (const LinkNow& link : moment.links) {
        const auto id = trace::LinkRow::at(link.link);
        const std::size_t begun = moment.run.index->copiesBy(id, copies.start, moment.state.now);
        if (begun < moment.run.index->copiesOf(id)) {
            const trace::CopyRow row = moment.run.index->copyOf(id, begun);
            next = !next || copies.start[row.index()] < copies.start[next->index()] ? row : next;
        }
    }
    return next;
}

std::string nothingText(const Moment& moment)
{
    const auto next = nextCopy(moment);
    if (!next) {
        return moment.links.empty() ? "The devices of this program send each other nothing."
                                    : "Nothing is on its way, and nothing more will be sent.";
    }
    const trace::Trace& trace = *moment.run.trace;
    return fmt::format(
        "Nothing is on its way. {} goes from device {} to {} in {}.",
        trace::copyLabel(trace, *next),
        static_cast<std::size_t>(trace.copies().link[next->index()])
            / trace.info().linksPerDevice(),
        trace::receiverOf(trace, moment.mesh, *next),
        timeText(Picoseconds(trace.copies().start[next->index()]) - moment.state.now));
}

class LinkRow
{
public:
    LinkRow(Canvas& canvas, const Moment& moment, const LinkNow& link, Rect place)
        : m_canvas(canvas)
        , m_moment(moment)
        , m_link(link)
        , m_place(place)
    {}

    void paint()
    {
        const trace::Trace& trace = *m_moment.run.trace;
        const trace::CopyRow copy = *m_link.copy;
        const std::int32_t to = trace::receiverOf(trace, m_moment.mesh, copy);
        if (m_link.from == m_moment.state.device || to == m_moment.state.device) {
            m_canvas.fill(m_place.x - 4, m_place.y, m_place.w + 8, m_place.h,
                          Role::SelectBackground);
        }
        const trace::Link& link = trace.info().links[m_link.link];
        const Picoseconds left = Picoseconds(trace.copies().end[copy.index()]) - m_moment.state.now;
        const double arrives = 58, rate = 54, share = 34;
        double right = m_place.right();
        column(right, arrives, timeText(left), Role::Text);
        right -= arrives;
        if (m_place.w > 300) {
            column(right, rate, bandwidthText(link.achieved.value()), Role::Text2);
            right -= rate;
        }
        column(right, share, percentText(m_link.fraction, 0), Role::Text);
        right -= share;
        m_canvas.text(m_place.x, m_place.y, 60, m_place.h,
                      fmt::format("{} \u2192 {}", m_link.from, to),
                      {11, Role::Text, Weight::Medium});
        double x = m_place.x + 52;
        if (m_place.w > 380) {
            m_canvas.text(x, m_place.y, 34, m_place.h, directionOf(link), {10, Role::Text3});
            x += 34;
        }
        const double bar = std::clamp(std::floor((right - x) * 0.45), 0.0, 120.0);
        const Role role =
            operandRole(m_moment.run, trace::OperandRow{trace.copies().operand[copy.index()]});
        if (bar >= 24) {
            const double from = right - bar - 4, y = m_place.y + 5;
            m_canvas.fill(from, y, bar, 7, Role::Grid);
            m_canvas.fill(from, y, std::round(bar * m_link.fraction), 7, role);
            right = from;
        }
        const std::string queued =
            m_link.queued > 0 ? fmt::format(" +{}", m_link.queued) : std::string();
        m_canvas.text(
            x, m_place.y, right - x - 6, m_place.h,
            elided(trace::copyLabel(trace, copy) + queued, right - x - 6, 11, Weight::Regular),
            {11, Role::Text});
        m_canvas.hit(m_place.x - 4, m_place.y, m_place.w + 8, m_place.h, target::Copy{copy.number});
    }

private:
    void column(double right, double wide, const std::string& text, Role role)
    {
        m_canvas.text(right - wide, m_place.y, wide, m_place.h, text,
                      {11, role, Weight::Regular, Align::Right});
    }

    Canvas& m_canvas;
    const Moment& m_moment;
    const LinkNow& m_link;
    Rect m_place;
};

// The columns of the table from the right: what they are called and how wide they are.
struct TableColumns
{
    double ends = 66, waits = 66, busy = 52, step = 76;
    bool hasStep = true, hasBusy = true;
};

void tableHead(Canvas& canvas, const Moment& moment, Rect room, const TableColumns& columns)
{
    const TextStyle left{10, Role::Text3};
    const TextStyle right{10, Role::Text3, Weight::Regular, Align::Right};
    canvas.text(room.x, room.y, 60, 15, "device", left);
    double x = room.right() - columns.ends;
    canvas.text(x, room.y, columns.ends, 15, "ends", right);
    x -= columns.waits;
    canvas.text(x, room.y, columns.waits, 15, "waits so far", right);
    if (columns.hasBusy) {
        x -= columns.busy;
        canvas.text(x, room.y, columns.busy, 15, moment.unit(), right);
    }
    if (columns.hasStep) {
        x -= columns.step;
        canvas.text(x, room.y, columns.step, 15, "step", right);
    }
}

void tableRow(Canvas& canvas, const Moment& moment, std::int32_t device, Rect place,
              const TableColumns& columns)
{
    const DeviceNow& now = moment.devices[static_cast<std::size_t>(device)];
    if (device == moment.state.device) {
        canvas.fill(place.x - 4, place.y, place.w + 8, place.h, Role::SelectBackground);
    }
    const std::string name = countText(device);
    canvas.text(place.x, place.y, 40, place.h, name, {11, Role::Text, Weight::Medium});
    double right = place.right();
    const auto column = [&](double wide, const std::string& text, Role role) {
        canvas.text(right - wide, place.y, wide, place.h, text,
                    {11, role, Weight::Regular, Align::Right});
        right -= wide;
    };
    column(columns.ends, timeText(now.ends), Role::Text);
    column(columns.waits, timeText(now.waited), Role::Text);
    canvas.state(
        {FactKind::Waited, device, static_cast<double>(now.waited.value()), timeText(now.waited)});
    if (columns.hasBusy) {
        column(columns.busy, percentText(now.busy, 0), Role::Text);
    }
    if (columns.hasStep) {
        column(columns.step, now.step.empty() ? "\u2013" : now.step, Role::Text2);
    }
    if (device == moment.straggler()) {
        const double x = place.x + textWidth(name, 11, Weight::Medium) + 6;
        paintSeverity(canvas, x, place.y + 2, Severity::Warning);
        if (x + 16 + textWidth("straggler", 10) < right) {
            canvas.text(x + 16, place.y, right - x - 16, place.h, "straggler",
                        {10, Role::Warning, Weight::Medium});
        }
    }
    canvas.hit(place.x - 4, place.y, place.w + 8, place.h, target::Device{device});
}

// The first devices; the chosen one and the straggler in any case.
std::vector<std::int32_t> shownDevices(const Moment& moment, std::size_t most)
{
    std::vector<std::int32_t> shown;
    for (std::size_t device = 0; device < std::min(most, moment.devices.size()); ++device) {
        shown.push_back(static_cast<std::int32_t>(device));
    }
    std::size_t last = shown.size();
    for (const std::int32_t device : {moment.state.device, moment.straggler()}) {
        if (device != trace::kNone && last > 0
            && std::find(shown.begin(), shown.end(), device) == shown.end()) {
            shown[--last] = device;
        }
    }
    std::sort(shown.begin(), shown.end());
    return shown;
}

} // namespace

double heightOfLinks(const Moment& moment)
{
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, moment.moving()));
    return kListHead + kLine * rows;
}

double heightOfTable(const Moment& moment)
{
    return kListHead + 15 + kLine * static_cast<double>(moment.devices.size());
}

double paintLinks(Canvas& canvas, const Moment& moment, Rect room)
{
    const std::vector<const LinkNow*> moving = movingLinks(moment);
    head(canvas, room, "On the links now",
         moving.empty() ? "" : "from \u2192 to, what it carries, arrives in");
    double y = room.y + kListHead;
    if (moving.empty()) {
        return canvas.paragraph(room.x, y, room.w, nothingText(moment), 11, 16, Role::Text2);
    }
    const auto most =
        static_cast<std::size_t>(std::max(1.0, std::floor((room.bottom() - y) / kLine)));
    const std::size_t shown = moving.size() <= most ? moving.size() : most - 1;
    for (std::size_t i = 0; i < shown; ++i) {
        LinkRow(canvas, moment, *moving[i], {room.x, y, room.w, kLine}).paint();
        y += kLine;
    }
    if (shown < moving.size()) {
        canvas.text(room.x, y, room.w, kLine, fmt::format("and {} more", moving.size() - shown),
                    {11, Role::Text2});
        y += kLine;
    }
    return y;
}

double paintTable(Canvas& canvas, const Moment& moment, Rect room)
{
    constexpr double kMostWide = 520; // px; a wider row would be hard to follow
    room.w = std::min(room.w, kMostWide);
    head(canvas, room, "Each device", "its waits for others so far, and when it is done");
    TableColumns columns;
    columns.hasBusy = !moment.unit().empty() && room.w > 250;
    columns.hasStep = moment.run.trace->steps().size() > 0 && room.w > 330;
    tableHead(canvas, moment, {room.x, room.y + kListHead - 2, room.w, 15}, columns);
    double y = room.y + kListHead + 15;
    const auto most =
        static_cast<std::size_t>(std::max(1.0, std::floor((room.bottom() - y) / kLine)));
    const bool all = moment.devices.size() <= most;
    const std::vector<std::int32_t> shown = shownDevices(moment, all ? most : most - 1);
    for (const std::int32_t device : shown) {
        tableRow(canvas, moment, device, {room.x, y, room.w, kLine}, columns);
        y += kLine;
    }
    if (!all) {
        canvas.text(room.x, y, room.w, kLine,
                    fmt::format("and {} more", moment.devices.size() - shown.size()),
                    {11, Role::Text2});
        y += kLine;
    }
    return y;
}

} // namespace pallascope::layout::devices
