#include "core/analysis/scratch_readers.h"

#include "core/trace/columns.h"
#include "core/trace/mark_time.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace pallascope::analysis {

namespace {

using ir::ScratchRead;
using trace::ScratchSlots;

using Reads = std::vector<ScratchRead>;

// Names that several refs to memory of their own have: the trace does not say which is which.
std::set<std::string> ambiguousNames(const ir::Program& program)
{
    std::set<std::int32_t> views;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        for (const ir::ValueId result : operation.results) {
            views.insert(result.index);
        }
    });
    std::set<std::string> known, several;
    for (std::size_t i = 0; i < program.values.size(); ++i) {
        const ir::Value& value = program.values[i];
        if (value.type.space && !views.contains(static_cast<std::int32_t>(i))
            && !known.insert(value.name).second) {
            several.insert(value.name);
        }
    }
    return several;
}

// By the name of the scratch. Loads count only where no product reads what they load.
std::map<std::string, Reads> readsByName(const ir::Program& program)
{
    const std::set<std::string> ambiguous = ambiguousNames(program);
    std::map<std::string, Reads> found;
    for (const ScratchRead& read : ir::scratchReadsOf(program)) {
        const std::string& name = program.value(read.scratch).name;
        if (!name.empty() && !ambiguous.contains(name)) {
            found[name].push_back(read);
        }
    }
    for (auto& [name, reads] : found) {
        if (std::ranges::any_of(reads, &ScratchRead::isProduct)) {
            std::erase_if(reads, [](const ScratchRead& read) { return !read.isProduct; });
        }
    }
    return found;
}

// What a segment does to slots, at which time after its beginning.
struct ReadAt
{
    std::int64_t offset = 0; // ps
    const ScratchRead* read = nullptr;
    const std::string* name = nullptr;
};

std::vector<std::vector<ReadAt>> readsOfTemplates(const trace::Info& info,
                                                  const std::map<std::string, Reads>& reads)
{
    std::map<std::int32_t, std::vector<ReadAt>> byOperation;
    for (const auto& [name, ofName] : reads) {
        for (const ScratchRead& read : ofName) {
            byOperation[read.operation].push_back({0, &read, &name});
        }
    }
    std::vector<std::vector<ReadAt>> found(info.templates.size());
    for (std::size_t row = 0; row < found.size(); ++row) {
        const trace::SegmentTemplate& segment = info.templates[row];
        for (std::size_t i = 0; i < segment.operations.size(); ++i) {
            const auto its = byOperation.find(segment.operations[i]);
            for (std::size_t k = 0; its != byOperation.end() && k < its->second.size(); ++k) {
                found[row].push_back(its->second[k]);
                found[row].back().offset = trace::markTime(segment, segment.retire[i]);
            }
        }
    }
    return found;
}

} // namespace

ScratchReaders::ScratchReaders(const ir::Program& program,
                               std::shared_ptr<const trace::Index> index)
    : m_index(std::move(index))
{
    if (m_index->trace().copyEnds().size() > 0) {
        m_reads = readsByName(program);
    }
}

const std::vector<ScratchReaders::OfSlot>& ScratchReaders::slots() const
{
    std::call_once(m_isMade, [this] { m_slots = readSegments(); });
    return m_slots;
}

std::vector<ScratchReaders::OfSlot> ScratchReaders::readSegments() const
{
    const trace::Trace& trace = m_index->trace();
    if (trace.copyEnds().size() == 0) {
        return {};
    }
    const trace::Info& info = trace.info();
    const ScratchSlots& slots = m_index->scratch();
    std::vector<OfSlot> found(slots.all().size());
    std::map<std::pair<std::string, std::int32_t>, std::vector<std::size_t>> slotsOf; // by agent
    for (std::size_t slot = 0; slot < found.size(); ++slot) {
        const trace::ScratchSlot& its = slots.all()[slot];
        const auto known = m_reads.find(info.buffers[trace::at(its.buffer)].name);
        if (known != m_reads.end()) {
            slotsOf[{known->first, its.agent}].push_back(slot);
            found[slot].isKnown = true;
            found[slot].areProducts = known->second.front().isProduct;
        }
    }
    const std::vector<std::vector<ReadAt>> ofTemplates = readsOfTemplates(info, m_reads);
    const trace::Segments& segments = trace.segments();
    for (std::size_t row = 0; row < segments.size(); ++row) {
        for (const ReadAt& one : ofTemplates[trace::at(segments.templateId[row])]) {
            const auto theirs = slotsOf.find({*one.name, segments.agent[row]});
            if (theirs != slotsOf.end()) {
                add(found, *m_index, theirs->second, *one.read, segments.begin[row],
                    segments.begin[row] + one.offset);
            }
        }
    }
    for (OfSlot& slot : found) {
        std::ranges::sort(slot.sure);
        std::ranges::sort(slot.unsure);
    }
    return found;
}

// Of an index that the kernel computes: a kernel reads what it has waited for.
void ScratchReaders::add(std::vector<OfSlot>& all, const trace::Index& index,
                         const std::vector<std::size_t>& candidates, const ScratchRead& read,
                         std::int64_t begin, std::int64_t retires)
{
    const ScratchSlots& slots = index.scratch();
    std::vector<std::size_t> waitedFor, perhaps;
    for (const std::size_t slot : candidates) {
        const std::int32_t number = slots.all()[slot].index;
        if (number == trace::kNone || read.isWhole || read.index == number) {
            all[slot].sure.push_back(retires);
        } else if (!read.index) {
            perhaps.push_back(slot);
            if (slots.stateAt(index.trace(), slot, Picoseconds(begin)).phase
                == trace::ScratchPhase::InUse) {
                waitedFor.push_back(slot);
            }
        }
    }
    if (waitedFor.empty() && perhaps.size() > 1) {
        waitedFor = std::move(perhaps);
    }
    for (const std::size_t slot : waitedFor) {
        (waitedFor.size() == 1 ? all[slot].sure : all[slot].unsure).push_back(retires);
    }
}

std::optional<ScratchReaders::Count> ScratchReaders::between(std::size_t slot, Picoseconds from,
                                                             Picoseconds to) const
{
    const auto count = [&](const std::vector<std::int64_t>& times) {
        return std::ranges::upper_bound(times, to.value())
               - std::ranges::upper_bound(times, from.value());
    };
    const std::vector<OfSlot>& all = slots();
    if (slot >= all.size() || !all[slot].isKnown || count(all[slot].unsure) > 0) {
        return std::nullopt;
    }
    return Count{count(all[slot].sure), all[slot].areProducts};
}

} // namespace pallascope::analysis
