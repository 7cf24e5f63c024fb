// Says what manual DMA does at a moment: the caption, and a list of the copies that are under way.
#include "core/base/format.h"
#include "core/trace/copy_ends.h"
#include "views/layout/grid/picture.h"
#include "views/layout/run/copies.h"
#include "views/layout/run/grid_blocks.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

std::string stateWords(const trace::Trace& trace, std::uint32_t copy, Picoseconds now)
{
    const trace::Copies& copies = trace.copies();
    if (copies.end[copy] <= now.value()) {
        return "arrived";
    }
    return copies.start[copy] <= now.value()
               ? percentText(trace::copyFraction(trace, trace::CopyRow::at(copy), now), 0)
               : "queued";
}

// "bufs[1,64:96]": a part of scratch. Axes that are copied as a whole are left out at the end.
std::string partText(const trace::Trace& trace, trace::EndRow end)
{
    const trace::Info& info = trace.info();
    const std::int32_t buffer = trace.copyEnds().buffer[end.index()];
    const trace::Buffer& of = info.buffers[static_cast<std::size_t>(buffer)];
    std::string text, whole;
    const std::vector<trace::AxisRange> ranges = trace::rangesOfEnd(trace, end);
    for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
        const auto [from, to] = ranges[axis];
        const std::string comma = text.empty() && whole.empty() ? "" : ",";
        if (from == 0 && to == of.shape[axis]) {
            whole += comma + ":";
            continue;
        }
        text += whole + comma
                + (to == from + 1 ? std::to_string(from)
                                  : std::to_string(from) + ":" + std::to_string(to));
        whole.clear();
    }
    return text.empty() ? of.name : of.name + "[" + text + "]";
}

// "kv_cache(38) → kv_bufs[1]": the array with the place in it, and the other end.
std::string fromTo(const trace::Trace& trace, std::uint32_t copy)
{
    const trace::Operand& operand =
        trace.info().operands[static_cast<std::size_t>(trace.copies().operand[copy])];
    const std::string array = trace::copyLabel(trace, trace::CopyRow::at(copy));
    std::string other(trace::otherName(operand));
    if (other.empty()) {
        return array;
    }
    const bool isOut = operand.direction == trace::Direction::Out;
    if (const auto source = trace::sourceOf(trace, trace::CopyRow::at(copy))) {
        const trace::EndRow end = isOut ? *source : trace::otherEnd(*source);
        other = trace.copyEnds().buffer[end.index()] >= 0 ? partText(trace, end) : other;
    }
    return (isOut ? other : array) + std::string(trace::kCopyArrow) + (isOut ? array : other);
}

// The semaphore that the copy signals where its data land.
std::string semaphoreName(const trace::Trace& trace, std::uint32_t copy)
{
    const auto source = trace::sourceOf(trace, trace::CopyRow::at(copy));
    const std::int32_t semaphore =
        source ? trace.copyEnds().semaphore[trace::otherEnd(*source).index()] : trace::kNone;
    return semaphore < 0 ? std::string()
                         : trace.info().semaphores[static_cast<std::size_t>(semaphore)].name;
}

void paintCopy(Canvas& canvas, const GridMoment& moment, Rect line, std::uint32_t copy)
{
    const trace::Trace& trace = *moment.run.trace;
    const trace::Info& info = trace.info();
    const std::int32_t number = trace.copies().operand[copy];
    const trace::Operand& operand = info.operands[static_cast<std::size_t>(number)];
    const std::string state = stateWords(trace, copy, moment.now);
    const bool isMoving = state != "queued" && state != "arrived";
    const double stateWidth = 52;
    const bool hasLine = operand.source.line > 0 && line.w >= 260;
    const double lineWidth = hasLine ? 64 : 0;
    const std::string semaphore = line.w >= 400 ? semaphoreName(trace, copy) : std::string();
    const double semaphoreWidth = line.w >= 400 ? 84 : 0;
    parts::swatch(canvas, moment.run, line.x, line.y + 4, trace::OperandRow{number});
    canvas.text(line.x + 12, line.y, line.w - 12 - semaphoreWidth - stateWidth - lineWidth - 6,
                kCopyLine - 2, fromTo(trace, copy),
                {11, Role::Text, isMoving ? Weight::MonoBold : Weight::Mono, Align::Left});
    canvas.text(line.right() - lineWidth - stateWidth, line.y, stateWidth, kCopyLine - 2, state,
                {11, isMoving ? Role::Text : Role::Text2,
                 isMoving ? Weight::Medium : Weight::Regular, Align::Right});
    canvas.text(line.right() - lineWidth - stateWidth - semaphoreWidth, line.y, semaphoreWidth - 6,
                kCopyLine - 2, semaphore, {11, Role::Text2, Weight::Mono, Align::Left});
    if (hasLine) {
        canvas.text(line.right() - lineWidth, line.y, lineWidth, kCopyLine - 2,
                    "line " + std::to_string(operand.source.line),
                    {11, Role::Focus, Weight::Regular, Align::Right});
    }
    canvas.hit(line.x, line.y, line.w, kCopyLine, target::Copy{copy});
    if (hasLine && operand.source.file >= 0) {
        canvas.hit(line.right() - lineWidth + 8, line.y, lineWidth - 8, kCopyLine,
                   target::SourceLine{operand.source.file, operand.source.line});
    }
}

} // namespace

std::vector<std::uint32_t> manualCopiesNow(const GridMoment& moment)
{
    constexpr std::ptrdiff_t kMostAsked = 8192; // an SM's are few among those of all
    const trace::Trace& trace = *moment.run.trace;
    const trace::Copies& copies = trace.copies();
    const trace::ManualArrays& manual = moment.run.index->manualArrays(moment.device);
    const std::int64_t now = moment.now.value();
    const std::vector<std::uint32_t>& rows = manual.copies();
    const auto isListed = [&](std::uint32_t copy) {
        return moment.sm == trace::kNone
               || isCopyOfSm(moment.run, trace::CopyRow::at(copy), moment.sm);
    };
    std::vector<std::uint32_t> found, queued, landed;
    for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
        for (const std::size_t row :
             trace::copiesOnLink(trace, trace::LinkRow::at(link), moment.now)) {
            const auto copy = static_cast<std::uint32_t>(row);
            if (std::binary_search(rows.begin(), rows.end(), copy) && isListed(copy)) {
                (copies.start[row] <= now ? found : queued).push_back(copy);
            }
        }
    }
    const auto end = std::partition_point(
        rows.begin(), rows.end(), [&](std::uint32_t copy) { return copies.issue[copy] <= now; });
    for (auto row = end - std::min(kMostAsked, end - rows.begin()); row != end; ++row) {
        if (copies.end[*row] > now || copies.out[*row] != 0) {
            continue;
        }
        const trace::ManualArrays::Stay stay = manual.stayOf(*row);
        if (stay.kept > now && stay.waited > now && isListed(*row)) {
            landed.push_back(*row);
        }
    }
    for (std::vector<std::uint32_t>* kind : {&found, &queued}) { // in the order of all links
        std::sort(kind->begin(), kind->end());
    }
    found.insert(found.end(), queued.begin(), queued.end());
    found.insert(found.end(), landed.begin(), landed.end());
    return found;
}

void paintCopiesNow(Canvas& canvas, const GridMoment& moment, Rect area)
{
    const std::vector<std::uint32_t> rows = manualCopiesNow(moment);
    if (area.h < kCopiesHead + kCopyLine) {
        return;
    }
    canvas.text(area.x, area.y, area.w, 17,
                moment.sm == trace::kNone ? "Copies between arrays and slots now"
                                          : "Copies of " + smName(moment.run, moment.sm) + " now",
                {12, Role::Text, Weight::SemiBold, Align::Left});
    const auto most = static_cast<std::size_t>((area.h - kCopiesHead) / kCopyLine);
    const std::size_t shown = rows.size() <= most ? rows.size() : most - 1;
    const bool hasLines = area.w >= 320;
    if (hasLines && shown > 0) {
        canvas.text(area.x, area.y, area.w, 17, "started at",
                    {10, Role::Text3, Weight::Regular, Align::Right});
    }
    double y = area.y + kCopiesHead;
    if (rows.empty()) {
        canvas.text(area.x, y, area.w, 15, "none", {11, Role::Text2, Weight::Regular, Align::Left});
        return;
    }
    for (std::size_t i = 0; i < shown; ++i) {
        paintCopy(canvas, moment, {area.x, y, area.w, kCopyLine}, rows[i]);
        y += kCopyLine;
    }
    if (shown < rows.size()) {
        canvas.text(area.x + 12, y, area.w - 12, 15,
                    shown == 0
                        ? counted(static_cast<std::int64_t>(rows.size()), "copy", "copies")
                        : fmt::format("and {} more",
                                      countText(static_cast<std::int64_t>(rows.size() - shown))),
                    {10, Role::Text3, Weight::Regular, Align::Left});
    }
}

std::string manualCaption(const GridMoment& moment, const std::vector<ArrayPicture>& pictures)
{
    const trace::Trace& trace = *moment.run.trace;
    double read = 0, written = 0;
    bool isManual = false;
    for (const ArrayPicture& picture : pictures) {
        if (picture.manual != nullptr) {
            isManual = true;
            const auto moved = trace::ManualArrays::movedBy(trace, *picture.manual, moment.now);
            read += moved.read;
            written += moved.written;
        }
    }
    if (!isManual) {
        return {};
    }
    std::string text;
    const std::vector<std::uint32_t>& all = moment.run.index->manualArrays(moment.device).copies();
    const std::optional<LinkNow> link = busyLinkNow(trace, moment.device, moment.now);
    if (link
        && std::binary_search(all.begin(), all.end(),
                              static_cast<std::uint32_t>(link->copy.index()))) {
        if (link->moves) {
            text = fmt::format("{} |{}| on its way", trace::copyLabel(trace, link->copy),
                               percentText(trace::copyFraction(trace, link->copy, moment.now), 0));
        }
        if (link->queued > 0) {
            text += fmt::format("{}|{}| queued", text.empty() ? "" : ", ",
                                countText(static_cast<std::int64_t>(link->queued)));
        }
    }
    const auto add = [&text](double bytes, const char* what) {
        text += fmt::format("{}|{}| {}", text.empty() ? "" : " · ",
                            bytesText(Bytes(static_cast<std::int64_t>(bytes))), what);
    };
    if (read > 0 || written == 0) {
        add(read, "read");
    }
    if (written > 0) {
        add(written, "written");
    }
    return text;
}

} // namespace pallascope::layout
