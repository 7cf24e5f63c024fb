// Follows a NaN, or something undefined, back through the memories that hold it: from the operation
// that stored it to the operations before that one in the same step, and from there to what they
// loaded.
#include "core/study/element_choice.h"
#include "core/study/element_history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace pallascope::study {

namespace {

using machine::NanBirth;
using machine::NanLoad;
using machine::Replay;
using machine::Touch;
using machine::Touches;

constexpr int kMostHops = 64; // from one memory to another

bool writes(const Touch& touch)
{
    return touch.kind == Touch::Kind::Written || touch.kind == Touch::Kind::CopyWritten;
}

bool reads(const Touch& touch)
{
    return touch.kind == Touch::Kind::Read || touch.kind == Touch::Kind::CopyRead;
}

// The operations that a value may come from, the nearest first.
class Sources
{
public:
    explicit Sources(const ir::Program& program)
    {
        addRegion(program.body, nullptr);
        ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
            m_operations[operation.id] = &operation;
            for (const ir::ValueId result : operation.results) {
                m_makers[result.index] = &operation;
            }
            for (const ir::Region& region : operation.regions) {
                addRegion(region, &operation);
            }
        });
    }

    [[nodiscard]] const ir::Operation* operation(std::int32_t id) const
    {
        const auto found = m_operations.find(id);
        return found == m_operations.end() ? nullptr : found->second;
    }

    // Of what an operation stores: all of its operands but the ref.
    [[nodiscard]] std::vector<const ir::Operation*> of(const ir::Operation& store) const
    {
        std::vector<const ir::Operation*> found;
        std::vector<ir::ValueId> ahead(store.operands.begin() + 1, store.operands.end());
        std::set<std::int32_t> seen;
        for (std::size_t i = 0; i < ahead.size(); ++i) {
            const auto maker = m_makers.find(ahead[i].index);
            if (maker == m_makers.end() || !seen.insert(maker->second->id).second) {
                continue;
            }
            const ir::Operation& operation = *maker->second;
            found.push_back(&operation);
            for (const ir::Region& region : operation.regions) {
                ahead.insert(ahead.end(), region.results.begin(), region.results.end());
            }
            ahead.insert(ahead.end(), operation.operands.begin(), operation.operands.end());
        }
        return found;
    }

private:
    // Arguments of a region are given to its operation, by the caller or by an earlier round.
    void addRegion(const ir::Region& region, const ir::Operation* owner)
    {
        for (const ir::ValueId argument : region.arguments) {
            if (owner != nullptr) {
                m_makers[argument.index] = owner;
            }
        }
    }

    std::map<std::int32_t, const ir::Operation*> m_makers; // by ValueId
    std::map<std::int32_t, const ir::Operation*> m_operations;
};

// The last of `all` that an operation did on this agent by this event, in the same step if there
// is one.
template<class T>
const T* lastOf(const std::vector<T>& all, const ir::Operation& operation, const Touch& store)
{
    const T* found = nullptr;
    for (const T& one : all) {
        const bool fits =
            one.operation == operation.id && one.agent == store.agent && one.event <= store.event;
        if (fits && (found == nullptr || found->step != store.step || one.step == store.step)) {
            found = &one;
        }
    }
    return found;
}

class Trail
{
public:
    Trail(Replay& replay, const Replay::Proceed& proceed)
        : m_replay(replay)
        , m_proceed(proceed)
        , m_sources(replay.program())
    {}

    Result<std::optional<std::vector<NanLink>>> follow(machine::Watched watched)
    {
        watched.nans = true;
        if (const Result<bool> ran = run(std::move(watched)); !ran || !*ran) {
            return ended(ran);
        }
        auto last = std::find_if(m_found.all.rbegin(), m_found.all.rend(),
                                 [&](const Touch& touch) { return isIt(touch.after); });
        if (last == m_found.all.rend()) {
            m_seeksUndefined = true;
            last = std::find_if(m_found.all.rbegin(), m_found.all.rend(), [&](const Touch& touch) {
                return writes(touch) && isIt(touch.after);
            });
        }
        if (last == m_found.all.rend()) {
            return std::optional(m_links);
        }
        m_cell = last->cell;
        m_until = static_cast<std::size_t>(m_found.all.rend() - last);
        for (int hop = 0; hop < kMostHops && goBack(); ++hop) {
            if (const Result<bool> ran = run({{m_cell}, {}, false}); !ran || !*ran) {
                return ended(ran);
            }
            m_until = untilIn(m_found.all);
        }
        return std::optional(m_links);
    }

private:
    static Result<std::optional<std::vector<NanLink>>> ended(const Result<bool>& ran)
    {
        return ran ? Result<std::optional<std::vector<NanLink>>>(std::nullopt)
                   : Result<std::optional<std::vector<NanLink>>>(ran.error());
    }

    // Whether it is what is followed.
    [[nodiscard]] bool isIt(const machine::Held& held) const
    {
        return m_seeksUndefined ? !held.isDefined : held.isDefined && std::isnan(held.value);
    }

    // Births and loads are the same in every run: those that the first one has found stay.
    [[nodiscard]] Result<bool> run(machine::Watched watched)
    {
        const bool isFirst = watched.nans;
        Result<std::optional<Touches>> found = m_replay.watch(std::move(watched), m_proceed);
        if (!found) {
            return found.error();
        }
        if (*found && isFirst) {
            m_found = std::move(**found);
        } else if (*found) {
            m_found.all = std::move((*found)->all);
        }
        return found->has_value();
    }

    // How many touches of the cell come before what the last link says.
    [[nodiscard]] std::size_t untilIn(const std::vector<Touch>& all) const
    {
        const NanLink& link = m_links.back();
        const auto end = std::find_if(all.begin(), all.end(), [&](const Touch& touch) {
            return link.kind == NanLink::Kind::Copied
                       ? touch.kind == Touch::Kind::CopyRead && touch.copy == link.copy
                       : touch.event > link.event
                             || (touch.event == link.event && touch.kind == Touch::Kind::Read);
        });
        return static_cast<std::size_t>(end - all.begin());
    }

    // The write with which the cell began to hold what it holds before m_until. A write without a
    // read since the write before it brings something else than the cell has held.
    [[nodiscard]] const Touch* firstWrite() const
    {
        const Touch* found = nullptr;
        bool isRead = false; // since the write that is looked at
        for (std::size_t i = m_until; i-- > 0;) {
            const Touch& touch = m_found.all[i];
            isRead = isRead || (touch.cell == m_cell && reads(touch));
            if (touch.cell != m_cell || reads(touch) || touch.kind == Touch::Kind::Shown) {
                continue;
            }
            if (found != nullptr && (!isIt(touch.after) || !isRead)) {
                break;
            }
            found = &touch;
            isRead = false;
            if (!isIt(touch.before) || touch.kind == Touch::Kind::Given) {
                break;
            }
        }
        return found;
    }

    // Adds links back to the next memory. Returns false if the trail ends.
    bool goBack()
    {
        const Touch* const write = firstWrite();
        if (write == nullptr || !isIt(write->after)
            || (m_seeksUndefined && !writes(*write))) { // as its memory begins
            add(write != nullptr && !write->after.isDefined ? NanLink::Kind::Undefined
                                                            : NanLink::Kind::Lost,
                write);
            return false;
        }
        if (write->kind == Touch::Kind::Given) {
            add(NanLink::Kind::Given, write);
            return false;
        }
        if (write->kind == Touch::Kind::CopyWritten && m_seeksUndefined && !write->other) {
            add(NanLink::Kind::Edge, write);
            return false;
        }
        if (write->kind == Touch::Kind::CopyWritten) {
            add(NanLink::Kind::Copied, write);
            m_links.back().from = write->otherSpot;
            m_cell = write->other.value_or(machine::Cell{});
            return write->other.has_value();
        }
        add(NanLink::Kind::Stored, write);
        return behindStore(*write);
    }

    bool behindStore(const Touch& store)
    {
        const ir::Operation* const operation = m_sources.operation(store.operation);
        for (const ir::Operation* one : operation == nullptr ? std::vector<const ir::Operation*>()
                                                             : m_sources.of(*operation)) {
            const NanBirth* const birth =
                m_seeksUndefined ? nullptr : lastOf(m_found.births, *one, store);
            if (birth != nullptr) {
                m_links.push_back({NanLink::Kind::Born,
                                   birth->event,
                                   birth->time,
                                   birth->agent,
                                   birth->operation,
                                   birth->step,
                                   {},
                                   {},
                                   {},
                                   birth->isOfInf});
                return false;
            }
            const NanLoad* const load = lastOf(m_found.loads, *one, store);
            if (load != nullptr && follow(*load, store)) {
                return true;
            }
        }
        add(NanLink::Kind::Lost, nullptr);
        return false;
    }

    // Returns false if the load brings nothing of what is followed.
    bool follow(const NanLoad& load, const Touch& store)
    {
        const NanLoad::Element* followed = nullptr;
        for (const NanLoad::Element& one : load.nans) {
            const bool isSame = load.of == store.of && one.position == store.position;
            if (one.isDefined != m_seeksUndefined && (followed == nullptr || isSame)) {
                followed = &one;
            }
        }
        if (followed == nullptr) {
            return false;
        }
        m_cell = followed->cell;
        m_links.push_back({NanLink::Kind::Loaded,
                           load.event,
                           store.time,
                           load.agent,
                           load.operation,
                           load.step,
                           {},
                           {},
                           {load.ref, {}},
                           false,
                           m_seeksUndefined});
        return true;
    }

    void add(NanLink::Kind kind, const Touch* touch)
    {
        NanLink link;
        link.kind = kind;
        link.isUndefined = m_seeksUndefined;
        if (touch != nullptr) {
            link.event = touch->event;
            link.time = touch->time;
            link.agent = touch->on;
            link.step = touch->step;
            link.operation = touch->operation;
            link.copy = touch->copy;
            link.spot = touch->spot;
            if (!m_links.empty() && m_links.back().kind == NanLink::Kind::Loaded) {
                m_links.back().from = touch->spot;
            }
        }
        m_links.push_back(link);
    }

    Replay& m_replay;
    const Replay::Proceed& m_proceed;
    Sources m_sources;
    Touches m_found;
    bool m_seeksUndefined = false; // and not a NaN
    machine::Cell m_cell;
    std::size_t m_until = 0; // touches that come before the NaN is where the trail has come to
    std::vector<NanLink> m_links;
};

// Those of what the function takes and returns.
machine::Watched ofArrays(const machine::Watched& all, const ir::Program& program)
{
    machine::Watched arrays;
    for (const auto& element : all.elements) {
        if (std::ranges::find(program.arguments, element.ref, &ir::Argument::ref)
            != program.arguments.end()) {
            arrays.elements.push_back(element);
        }
    }
    return arrays;
}

} // namespace

Result<std::optional<std::vector<NanLink>>> nanOrigin(Replay& replay, const ElementChoice& choice,
                                                      const Replay::Proceed& proceed)
{
    Result<machine::Watched> watched = watchedOf(replay.program(), choice);
    if (!watched) {
        return watched.error();
    }
    machine::Watched arrays = ofArrays(*watched, replay.program());
    if (choice.space.empty() && !arrays.elements.empty()) {
        auto links = Trail(replay, proceed).follow(std::move(arrays));
        if (!links || !*links || !(*links)->empty()) {
            return links;
        }
    }
    return Trail(replay, proceed).follow(std::move(*watched));
}

} // namespace pallascope::study
