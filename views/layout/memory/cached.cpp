// Paints what the L2 of a GPU holds, and says what of reads came from there.
#include "views/layout/memory/cached.h"

#include "core/base/format.h"
#include "core/trace/cache_history.h"
#include "core/trace/columns.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace pallascope::layout {

namespace {

constexpr double kHeading = 16, kBar = 16; // px
constexpr double kLeastShare = 3;          // px, with the gap behind it

// The name of a share and, where there is room, its bytes. Returns whether there was.
bool paintShareText(Canvas& canvas, const std::string& name, const std::string& bytes, Rect rect)
{
    const double nameWidth = textWidth(name, 10, Weight::Mono);
    if (nameWidth + 9 > rect.w) {
        return false;
    }
    canvas.text(rect.x + 7, rect.y, nameWidth + 2, rect.h, name,
                {10, Role::Text, Weight::Mono, Align::Left});
    if (nameWidth + textWidth(bytes, 10) + 22 > rect.w) {
        return false;
    }
    canvas.text(rect.x + nameWidth + 14, rect.y, rect.w - nameWidth - 16, rect.h, bytes,
                {10, Role::Text2, Weight::Regular, Align::Left});
    return true;
}

// `shares` are those whose bytes do not stand in the bar.
void paintHeading(Canvas& canvas, const std::string& held, const std::vector<std::string>& shares,
                  double y)
{
    const double x = parts::kPadding, w = canvas.width() - 2 * x;
    const double behind = textWidth("L2", 11, Weight::SemiBold) + 8;
    canvas.text(x, y, behind, kHeading, "L2", {11, Role::Hbm, Weight::SemiBold, Align::Left});
    canvas.text(x + behind, y, w - behind, kHeading, held,
                {10, Role::Text3, Weight::Regular, Align::Left});
    const double room = w - behind - textWidth(held, 10) - 12;
    std::string note = shares.empty() ? "of the arrays, for all SMs" : "";
    for (const std::string& share : shares) {
        const std::string longer = note.empty() ? share : note + " \u00b7 " + share;
        if (textWidth(longer, 10) > room) {
            break;
        }
        note = longer;
    }
    if (textWidth(note, 10) <= room) {
        canvas.text(x, y, w, kHeading, note, {10, Role::Text3, Weight::Regular, Align::Right});
    }
}

} // namespace

std::vector<CachedArray> cachedArrays(const RunView& run, std::int32_t device, Picoseconds now)
{
    const trace::CacheHistory& history = run.index->caches();
    const std::vector<std::int32_t>& arrayOf = run.index->arrays().ofOperand;
    std::vector<CachedArray> arrays;
    std::map<std::int32_t, std::size_t> known; // by number of the array
    for (const std::int32_t operand : history.operands()) {
        const auto [place, isNew] = known.try_emplace(arrayOf[trace::at(operand)], arrays.size());
        if (isNew) {
            arrays.emplace_back();
        }
        arrays[place->second].held += history.heldAt(device, trace::OperandRow{operand}, now);
    }
    for (std::size_t operand = 0; operand < arrayOf.size(); ++operand) {
        if (const auto found = known.find(arrayOf[operand]); found != known.end()) {
            arrays[found->second].operands.push_back(static_cast<std::int32_t>(operand));
        }
    }
    return arrays;
}

double cacheHeight(const RunView& run)
{
    return run.report.l2 && !run.index->caches().operands().empty() ? kHeading + kBar + 8 : 0;
}

void paintCache(Canvas& canvas, const RunView& run, std::int32_t device, Picoseconds now, double y)
{
    const double x = parts::kPadding, w = canvas.width() - 2 * x;
    const double top = y + kHeading;
    const std::vector<CachedArray> arrays = cachedArrays(run, device, now);
    Bytes all;
    for (const CachedArray& array : arrays) {
        all += array.held;
    }
    // A file may say that more is held than there is room for.
    const double room = static_cast<double>(std::max(run.report.l2->room, all).value());
    const auto toX = [&](Bytes bytes) {
        return x + (room > 0 ? std::round(w * static_cast<double>(bytes.value()) / room) : 0);
    };
    canvas.fill(x, top, w, kBar, Role::Grid);
    Bytes upTo;
    double left = x;
    std::vector<std::string> elsewhere;
    for (const CachedArray& array : arrays) {
        const trace::OperandRow operand{array.operands.front()};
        canvas.state(
            {FactKind::BytesInL2, operand.number, static_cast<double>(array.held.value()), {}});
        if (array.held <= Bytes(0)) {
            continue;
        }
        const Role role = operandRole(run, operand);
        const std::string name(trace::arrayName(run.trace->info().operands[operand.index()]));
        const std::string bytes = bytesText(array.held);
        const double right = std::min(x + w, std::max(left + kLeastShare, toX(upTo += array.held)));
        if (right - left < 2) { // there are too many of them
            elsewhere.push_back(name + " " + bytes);
            continue;
        }
        canvas.fill(left, top, right - left - 1, kBar, mix(role, 0.30));
        canvas.fill(left, top, std::min(3.0, right - left - 1), kBar, role);
        if (!paintShareText(canvas, name, bytes, {left, top, right - left, kBar})) {
            elsewhere.push_back(name + " " + bytes);
        }
        canvas.hit(left, top, right - left, kBar, target::Cached{device, operand.number});
        left = right;
    }
    paintHeading(canvas, parts::plain(parts::ofText(all, run.report.l2->room)), elsewhere, y);
}

std::optional<FromL2> fromL2(const RunView& run, const std::vector<std::int32_t>& operands,
                             Picoseconds now)
{
    if (!run.report.l2) {
        return std::nullopt;
    }
    const trace::Info& info = run.trace->info();
    double hit = 0, missed = 0;
    for (std::size_t link = 0; link < info.links.size(); ++link) {
        for (const std::int32_t operand : operands) {
            (info.comesFromL2(link) ? hit : missed) += run.index->operandBytes(
                trace::OperandRow{operand}, false, trace::LinkRow::at(link), now);
        }
    }
    return hit + missed > 0
               ? std::optional(FromL2{Bytes(std::llround(hit)), Bytes(std::llround(missed))})
               : std::nullopt;
}

} // namespace pallascope::layout
