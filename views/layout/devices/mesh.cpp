// Paints the devices in their mesh, with the links between them.
#include "core/base/format.h"
#include "views/layout/devices/parts.h"
#include "views/layout/devices/places.h"
#include "views/layout/run/finding_text.h"
#include "views/layout/run/operand_color.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::devices {

namespace {

constexpr double kLink = 6;         // px, how thick a link is painted
constexpr double kBetweenLinks = 6; // px between the two links of a gap
constexpr double kFront = 2;
constexpr double kArrow = 5;
constexpr double kTinyBox = 18; // px; below this size a box has no number

class MeshPainter
{
public:
    MeshPainter(Canvas& canvas, const Moment& moment, const Picture& picture)
        : m_canvas(canvas)
        , m_moment(moment)
        , m_picture(picture)
    {}

    void box(std::int32_t device)
    {
        const Rect place = m_picture.box(device);
        const DeviceNow& now = m_moment.devices[static_cast<std::size_t>(device)];
        const Role role = m_moment.unitRole();
        const bool isTold = place.w >= 40 && place.h >= 30;
        m_canvas.fill(place.x, place.y, place.w, place.h,
                      isTold ? Color(Role::Panel) : mix(role, 0.1 + 0.6 * now.busy));
        const bool isChosen = device == m_moment.state.device;
        m_canvas.frame(place.x, place.y, place.w, place.h, isChosen ? Role::Select : Role::Edge,
                       isChosen ? 2 : 1);
        if (isTold) {
            texts(device, now, place);
        } else if (place.w >= kTinyBox && place.h >= 13) {
            m_canvas.label(place.x - 3, place.y, place.w + 6, place.h, countText(device),
                           mix(role, 0.1 + 0.6 * now.busy), 10);
        }
        m_canvas.hit(place.x, place.y, place.w, place.h, target::Device{device});
    }

    void link(const LinkNow& link)
    {
        const Picture::Gap gap = m_picture.gap(link.from, link.to, m_moment.mesh.size());
        const double length = gap.isVertical ? gap.rect.h : gap.rect.w;
        const double across = gap.isVertical ? gap.rect.w : gap.rect.h;
        if (length < 8 || across < 2 * kLink) {
            return;
        }
        const double thick = across < 4 * kLink ? 3 : kLink;
        const double apart = across < 4 * kLink ? 2 : kBetweenLinks;
        const double middle = std::round((gap.isVertical ? gap.rect.x : gap.rect.y) + across / 2);
        // Rightwards above, leftwards below; downwards left, upwards right.
        const double side = gap.forwards ? middle - apart / 2 - thick : middle + apart / 2;
        const double inset = 3;
        const Rect lane = gap.isVertical
                              ? Rect{side, gap.rect.y + inset, thick, length - 2 * inset}
                              : Rect{gap.rect.x + inset, side, length - 2 * inset, thick};
        paintLane(link, gap, lane);
        label(link, gap, lane);
    }

private:
    void texts(std::int32_t device, const DeviceNow& now, Rect place)
    {
        const double x = place.x + 6, w = place.w - 12;
        const std::string unit = m_moment.unit();
        const std::string busy = unit.empty() ? "" : percentText(now.busy, 0);
        const double right = textWidth(busy, 11, Weight::Medium);
        const bool straggles = device == m_moment.straggler();
        double taken = 0;
        for (const std::string& name : {"device " + countText(device), countText(device)}) {
            const double wide = textWidth(name, 11, Weight::SemiBold);
            if (taken == 0 && wide + right + 6 + (straggles ? 16 : 0) <= w) {
                m_canvas.text(x, place.y + 3, wide + 1, 14, name,
                              {11, Role::Text, Weight::SemiBold});
                taken = wide;
            }
        }
        if (straggles) {
            paintSeverity(m_canvas, x + taken + 4, place.y + 4, Severity::Warning);
        }
        m_canvas.text(x, place.y + 3, w, 14, busy, {11, Role::Text, Weight::Medium, Align::Right});
        double y = place.y + 18;
        if (!unit.empty()) {
            m_canvas.fill(x, y, w, 6, Role::Grid);
            m_canvas.fill(x, y, std::round(w * std::min(1.0, now.busy)), 6, m_moment.unitRole());
            y += 8;
        }
        for (const std::string& line : {now.words, now.step.empty() ? "" : "step " + now.step}) {
            if (y + 13 > place.bottom() - 1 || line.empty()) {
                continue;
            }
            const bool isWait = now.waits && line == now.words;
            const std::string shown = fitting(line, w);
            m_canvas.text(x, y, w, 13, shown, {10, isWait ? Role::Wait : Role::Text2});
            y += 13;
        }
    }

    // Without what follows the first word, or nothing: never cut in a word.
    [[nodiscard]] static std::string fitting(const std::string& text, double width)
    {
        const std::string first = text.substr(0, text.find(' '));
        return textWidth(text, 10) <= width ? text : textWidth(first, 10) <= width ? first : "";
    }

    void paintLane(const LinkNow& link, const Picture::Gap& gap, Rect lane)
    {
        m_canvas.fill(lane.x, lane.y, lane.w, lane.h, Role::Grid);
        if (!link.copy) {
            return;
        }
        const trace::Copies& copies = m_moment.run.trace->copies();
        const Color color =
            operandRole(m_moment.run, trace::OperandRow{copies.operand[link.copy->index()]});
        const double length = gap.isVertical ? lane.h : lane.w;
        const double sent = std::max(kFront, std::round(length * link.fraction));
        Rect fill = lane, front = lane;
        const double from = gap.forwards ? 0 : length - sent;
        const double edge = gap.forwards ? sent - kFront : length - sent;
        if (gap.isVertical) {
            fill.y += from;
            fill.h = sent;
            front.y += edge;
            front.h = kFront;
        } else {
            fill.x += from;
            fill.w = sent;
            front.x += edge;
            front.w = kFront;
        }
        m_canvas.fill(lane.x, lane.y, lane.w, lane.h, mix(color.role, 0.2));
        m_canvas.fill(fill.x, fill.y, fill.w, fill.h, mix(color.role, 0.6));
        m_canvas.fill(front.x, front.y, front.w, front.h, color);
        arrow(gap, lane);
        m_canvas.hit(gap.rect.x, lane.y - 2, gap.rect.w, lane.h + 4,
                     target::Copy{link.copy->number});
    }

    // A tip at the end that the copy goes to.
    void arrow(const Picture::Gap& gap, Rect lane)
    {
        const double way = gap.forwards ? 1 : -1;
        if (gap.isVertical) {
            const double x = lane.x + lane.w / 2;
            const double y = gap.forwards ? lane.bottom() + 1 : lane.y - 1;
            m_canvas.polygon(
                {{x - kArrow, y - way * kArrow}, {x + kArrow, y - way * kArrow}, {x, y + way}},
                Role::Text2);
        } else {
            const double y = lane.y + lane.h / 2;
            const double x = gap.forwards ? lane.right() + 1 : lane.x - 1;
            m_canvas.polygon(
                {{x - way * kArrow, y - kArrow}, {x - way * kArrow, y + kArrow}, {x + way, y}},
                Role::Text2);
        }
    }

    void label(const LinkNow& link, const Picture::Gap& gap, Rect lane)
    {
        constexpr double kLeastHigh = 48; // px; beside lower boxes texts would leave the gap
        if (!link.copy || (gap.isVertical ? gap.isRound : gap.rect.h < kLeastHigh)) {
            return;
        }
        const std::string share = percentText(link.fraction, 0);
        const std::string name = trace::copyLabel(*m_moment.run.trace, *link.copy);
        const double room = gap.isVertical ? gap.rect.w / 2 - kLink - 8 : gap.rect.w - 2;
        for (const std::string& text : {name + " " + share, share}) {
            if (textWidth(text, 10) > room) {
                continue;
            }
            if (gap.isVertical) {
                const double y = std::round(lane.y + lane.h / 2 - 7);
                const bool isLeft = gap.forwards;
                const double x = isLeft ? lane.x - room - 7 : lane.right() + 7;
                m_canvas.text(
                    x, y, room, 14, text,
                    {10, Role::Text2, Weight::Regular, isLeft ? Align::Right : Align::Left});
            } else {
                const double y = gap.forwards ? lane.y - 15 : lane.bottom() + 2;
                m_canvas.text(gap.rect.x, y, gap.rect.w, 13, text,
                              {10, Role::Text2, Weight::Regular, Align::Center});
            }
            return;
        }
    }

    Canvas& m_canvas;
    const Moment& m_moment;
    const Picture& m_picture;
};

} // namespace

double paintMesh(Canvas& canvas, const Moment& moment, Rect room)
{
    Picture picture = pictureOf(moment.mesh, !moment.links.empty(), {room.w, room.h});
    picture.left = room.x;
    picture.top = room.y;
    MeshPainter painter(canvas, moment, picture);
    for (const LinkNow& link : moment.links) {
        painter.link(link);
    }
    for (std::size_t device = 0; device < moment.devices.size(); ++device) {
        painter.box(static_cast<std::int32_t>(device));
    }
    return room.y + picture.height();
}

} // namespace pallascope::layout::devices
