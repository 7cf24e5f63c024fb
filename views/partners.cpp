#include "views/partners.h"

#include "core/trace/lookup.h"
#include "views/layout/timeline/timeline.h"

#include <algorithm>

namespace pallascope::views {
namespace {

using layout::Target;
using layout::TargetKind;
using trace::kNone;
using trace::Trace;

std::size_t row(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

// The waits of non-zero length for one copy lie between its issue and its landing.
std::vector<std::size_t> waitsFor(const Trace& trace, std::size_t copy)
{
    const auto& waits = trace.waits();
    const auto first =
        std::lower_bound(waits.begin.begin(), waits.begin.end(), trace.copies().issue[copy]);
    std::vector<std::size_t> found;
    for (auto it = first; it != waits.begin.end() && *it <= trace.copies().end[copy]; ++it) {
        const auto wait = static_cast<std::size_t>(it - waits.begin.begin());
        if (waits.copy[wait] >= 0 && row(waits.copy[wait]) == copy && waits.end[wait] > *it) {
            found.push_back(wait);
        }
    }
    return found;
}

} // namespace

Partners::Partners(const layout::RunView& run, const layout::ViewState& state, const Target& target)
{
    const Trace& trace = *run.trace;
    const auto& info = trace.info();
    switch (target.kind) {
    case TargetKind::None:
    case TargetKind::Lane:
    case TargetKind::Time:
        return;
    case TargetKind::Copy:
        addCopy(trace, row(target.a));
        break;
    case TargetKind::Wait:
        add(target.kind, target.a);
        if (const std::int32_t copy = trace.waits().copy[row(target.a)]; copy != kNone) {
            addCopy(trace, row(copy));
        }
        if (const std::int32_t operation =
                trace::operationOfWait(trace, static_cast<std::int32_t>(target.a));
            operation != kNone) {
            addSource(trace, operation);
        }
        break;
    case TargetKind::Buffer: {
        add(target.kind, target.a);
        const auto slot = trace::slotStateAt(trace, static_cast<std::int32_t>(target.a), state.now);
        const bool moving = slot.phase == trace::SlotPhase::Queued
                            || slot.phase == trace::SlotPhase::Arriving
                            || slot.phase == trace::SlotPhase::Leaving
                            || slot.phase == trace::SlotPhase::LeavingQueued;
        if (moving && slot.copy != kNone) {
            addCopy(trace, row(slot.copy));
        } else if (slot.block >= 0) {
            add(TargetKind::Block, info.buffers[row(target.a)].operand, slot.block);
        }
        break;
    }
    case TargetKind::Block: {
        add(target.kind, target.a, target.b);
        const auto& operand = info.operands[row(target.a)];
        for (std::int32_t slot = 0; slot < operand.slots; ++slot) {
            const auto held = trace::slotStateAt(trace, operand.firstBuffer + slot, state.now);
            if (held.block != target.b || held.phase == trace::SlotPhase::Empty) {
                continue;
            }
            add(TargetKind::Buffer, operand.firstBuffer + slot);
            if (held.copy != kNone) {
                addCopy(trace, row(held.copy));
            }
        }
        break;
    }
    case TargetKind::Operation:
        add(target.kind, target.a, target.b);
        addSource(trace, static_cast<std::int32_t>(target.a));
        break;
    case TargetKind::ListingLine:
        add(target.kind, target.a, target.b);
        if (row(target.a) < info.listing.size() && info.listing[row(target.a)].operation != kNone) {
            m_operations.push_back(info.listing[row(target.a)].operation);
            addSource(trace, info.listing[row(target.a)].operation);
        }
        break;
    case TargetKind::SourceLine:
        add(target.kind, target.a, target.b);
        for (std::size_t i = 0; i < info.operations.size(); ++i) {
            const auto& operation = info.operations[i];
            if (operation.source.file == target.a && operation.source.line == target.b) {
                m_operations.push_back(static_cast<std::int64_t>(i));
                add(TargetKind::ListingLine, operation.listingLine);
            }
        }
        break;
    case TargetKind::Step:
    case TargetKind::Segment:
    case TargetKind::Alternative:
    case TargetKind::Finding:
    case TargetKind::Print:
        add(target.kind, target.a, target.b);
        break;
    case TargetKind::Moment:
        add(target.kind, target.a, target.b);
        addAwaited(run, target);
        break;
    }
}

void Partners::add(TargetKind kind, std::int64_t a, std::int64_t b)
{
    m_targets.push_back({kind, a, b});
}

void Partners::addCopy(const Trace& trace, std::size_t copy)
{
    const auto& copies = trace.copies();
    add(TargetKind::Copy, static_cast<std::int64_t>(copy));
    add(TargetKind::Block, copies.operand[copy], copies.block[copy]);
    const auto& operand = trace.info().operands[row(copies.operand[copy])];
    if (operand.slots > 0) { // else copied by hand
        add(TargetKind::Buffer, operand.firstBuffer + copies.slot[copy]);
    }
    for (const std::size_t wait : waitsFor(trace, copy)) {
        add(TargetKind::Wait, static_cast<std::int64_t>(wait));
    }
}

// What the agents of a lane of waits wait for.
void Partners::addAwaited(const layout::RunView& run, const Target& moment)
{
    const auto lane = layout::timeline::laneOf(run, moment.a);
    if (!lane || lane->role != layout::Role::Wait) {
        return;
    }
    for (const std::int32_t wait : layout::timeline::rowsAt(run, *lane, Picoseconds(moment.b))) {
        if (const std::int32_t copy = run.trace->waits().copy[row(wait)]; copy != kNone) {
            addCopy(*run.trace, row(copy));
        }
    }
}

void Partners::addSource(const Trace& trace, std::int32_t operation)
{
    const auto& of = trace.info().operations[row(operation)];
    if (of.source.file != kNone) {
        add(TargetKind::SourceLine, of.source.file, of.source.line);
    }
    add(TargetKind::ListingLine, of.listingLine);
}

bool Partners::contains(const Target& candidate) const
{
    if (candidate.kind == TargetKind::Operation
        && std::find(m_operations.begin(), m_operations.end(), candidate.a) != m_operations.end()) {
        return true;
    }
    return std::any_of(m_targets.begin(), m_targets.end(), [&](const Target& target) {
        // Views differ in how much they say: a place may leave b open.
        return target.kind == candidate.kind && target.a == candidate.a
               && (target.b == candidate.b || target.b == -1 || candidate.b == -1);
    });
}

} // namespace pallascope::views
