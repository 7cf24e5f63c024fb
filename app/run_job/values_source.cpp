#include "app/run_job/values_source.h"

#include "app/run_job/break_search.h"
#include "app/run_job/history_words.h"
#include "app/run_job/values_numpy.h"
#include "core/base/format.h"
#include "views/layout/values/difference.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pallascope::app {

namespace {

using machine::Replay;

class ReplayedValues : public ValuesSource
{
public:
    ReplayedValues(std::unique_ptr<Replay> replay, const RunRequest& request,
                   const layout::RunView& run, bool isReopened)
        : m_replay(std::move(replay))
        , m_refs(valuesRefs(m_replay->program(), &run))
        , m_isFull(request.fullValues)
    {
        const trace::Info& info = run.trace->info();
        for (std::size_t i = 0; i < info.agents.size(); ++i) {
            m_devices.emplace(info.agents[i], info.deviceOf(static_cast<std::int32_t>(i)));
        }
        std::string known;
        for (ValuesRef& ref : m_refs) {
            ref.isKnown = std::all_of(ref.ids.begin(), ref.ids.end(),
                                      [&](ir::ValueId id) { return m_replay->computes(id); });
            if (ref.isKnown && known.find(ref.name) == std::string::npos) {
                known += (known.empty() ? "" : ", ") + ref.name;
            }
        }
        if (!request.fullValues) {
            m_note = known.empty() ? "" : "Known are those of " + known + ".";
        } else if (isReopened) {
            m_note = "The trace holds no values: these are computed again, from the kernel's own "
                     "inputs.";
        }
    }

    [[nodiscard]] const std::vector<ValuesRef>& refs() const override { return m_refs; }

    [[nodiscard]] const std::string& note() const override { return m_note; }

    [[nodiscard]] Result<std::optional<layout::ValuesSight>> look(const ValuesAsk& ask,
                                                                  const Progress& proceed) override
    {
        const bool isKnown = m_refs[ask.ref].isKnown && (!ask.minus || m_refs[*ask.minus].isKnown);
        if (const Result<bool> moved = isKnown ? moveTo(ask.time, proceed) : Result<bool>(true);
            !moved || !*moved) {
            return moved ? Result(std::optional<layout::ValuesSight>())
                         : Result<std::optional<layout::ValuesSight>>(moved.error());
        }
        if (!m_last || m_last->ref != ask.ref || m_last->minus != ask.minus
            || m_last->agent != ask.agent || m_last->device != ask.device) {
            m_counts.reset();
        }
        layout::ValuesSight sight;
        withView(ask, [&](const layout::ValuesView& view) {
            sight = layout::sightOf(view, ask.choice, ask.size, m_counts);
        });
        if (const std::optional<Place> place =
                isKnown ? find(m_refs[ask.ref], ask) : std::nullopt) {
            sight.operand = operandAt(m_refs[ask.ref], place->id);
        }
        m_counts = sight.all;
        m_last = ask;
        m_plane = sight.plane;
        m_map = sight.frame.region;
        m_table = sight.frame.numbers;
        return std::optional(std::move(sight));
    }

    [[nodiscard]] Result<std::optional<HistoryTable>> history(const HistoryAsk& ask,
                                                              const Progress& proceed) override
    {
        const ValuesRef& ref = m_refs[ask.ref];
        if (!m_isFull) {
            return userError("A history tells what elements hold, so all values must be computed.");
        }
        m_at.reset();
        m_last.reset();
        const study::ElementChoice choice{ref.name, ask.index, "", ref.ids};
        const std::string element = fmt::format("{}[{}]", ref.name, join(ask.index, ","));
        return ask.isOfNan
                   ? tableOf(study::nanOrigin(*m_replay, choice, proceed), nanTable, element)
                   : tableOf(study::elementHistory(*m_replay, choice, proceed), historyTable,
                             element);
    }

    [[nodiscard]] std::optional<layout::values::Counts>
    countsWhere(const layout::ValuesSight& other, const ValuesAsk& ask,
                const Progress& proceed) override
    {
        const auto ref = std::find_if(m_refs.begin(), m_refs.end(), [&](const ValuesRef& one) {
            return one.name == other.name && one.memory == other.memory && one.dtype == other.dtype
                   && one.shape == other.shape;
        });
        std::optional<layout::values::Counts> counts;
        if (ref == m_refs.end() || !ref->isKnown) {
            return counts;
        }
        if (const Result<bool> moved = moveTo(ask.time, proceed); !moved || !*moved) {
            return counts;
        }
        withView(*ref, ask, [&](const layout::ValuesView& view) {
            if (view.unknown.empty()) {
                counts =
                    layout::values::scan(view, other.plane, other.frame.region, other.frame.side)
                        .counts;
            }
        });
        return counts;
    }

    [[nodiscard]] std::string numpyText() override
    {
        constexpr std::int64_t kMostText = 4096; // elements
        std::string text;
        if (m_last) {
            withView(*m_last, [&](const layout::ValuesView& view) {
                text = view.unknown.empty() ? app::numpyText(
                           view, m_plane, m_map.rows * m_map.columns <= kMostText ? m_map : m_table)
                                            : std::string();
            });
        }
        return text;
    }

    [[nodiscard]] Result<std::string> npy() override
    {
        Result<std::string> bytes = userError("No ref is shown.");
        if (m_last) {
            withView(*m_last, [&](const layout::ValuesView& view) {
                bytes = view.unknown.empty() ? npyBytes(view) : userError(view.unknown);
            });
        }
        return bytes;
    }

private:
    // Returns false if it was cancelled.
    [[nodiscard]] Result<bool> moveTo(Picoseconds time, const Progress& proceed)
    {
        if (m_at == time) {
            return true;
        }
        m_at.reset();
        m_counts.reset();
        m_last.reset();
        Result<bool> moved = m_replay->seekTime(time, proceed);
        if (moved && *moved) {
            m_at = time;
        }
        return moved;
    }

    // In words, if it was found.
    template<class Found, class Table>
    [[nodiscard]] Result<std::optional<HistoryTable>> tableOf(const Found& found, Table table,
                                                              const std::string& element) const
    {
        if (!found) {
            return found.error();
        }
        if (!*found) {
            return std::optional<HistoryTable>();
        }
        const std::int64_t events = m_replay->sequence() - 1; // the end counts as one
        return std::optional(table(element, **found, NamedProgram(*m_replay), events));
    }

    struct Place
    {
        std::size_t agent = 0;
        ir::ValueId id;
    };

    using See = std::function<void(const layout::ValuesView&)>;

    // Shows what is asked for, where the replay is now. It is looked up each time: keeping it would
    // make the replay copy the memory when it goes on.
    void withView(const ValuesAsk& ask, const See& see)
    {
        withView(m_refs[ask.ref], ask, [&](const layout::ValuesView& view) {
            if (!ask.minus) {
                see(view);
                return;
            }
            withView(m_refs[*ask.minus], ask, [&](const layout::ValuesView& subtracted) {
                see(layout::values::differenceOf(view, subtracted));
            });
        });
    }

    void withView(const ValuesRef& ref, const ValuesAsk& ask, const See& see)
    {
        if (!ref.isKnown) {
            see(unknown(ref, notComputed(ref.name)));
            return;
        }
        const std::optional<Place> place = find(ref, ask);
        if (!place) {
            const std::string where = !ask.agent.empty() ? " on " + ask.agent
                                      : ask.device ? " on device " + std::to_string(*ask.device)
                                                   : "";
            see(unknown(ref, ref.name + " does not exist at this moment" + where
                                 + ": what it belongs to has not begun, or has ended."));
            return;
        }
        m_replay->look(place->agent, place->id, m_at.value_or(m_replay->time()),
                       [&](const Replay::Held& held) { see(viewOfHeld(held, ref)); });
    }

    [[nodiscard]] bool isAskedFor(const std::string& agent, const ValuesAsk& ask) const
    {
        if (!ask.agent.empty()) {
            return agent == ask.agent;
        }
        const auto device = m_devices.find(agent);
        return !ask.device || device == m_devices.end() || device->second == *ask.device;
    }

    [[nodiscard]] std::optional<Place> find(const ValuesRef& ref, const ValuesAsk& ask) const
    {
        const std::vector<Replay::AgentPlace> places = m_replay->places();
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (!isAskedFor(places[i].agent, ask)) {
                continue;
            }
            const auto& refs = places[i].refs; // the innermost last
            const auto found = std::find_if(refs.rbegin(), refs.rend(), [&](ir::ValueId id) {
                return std::find(ref.ids.begin(), ref.ids.end(), id) != ref.ids.end();
            });
            if (found != refs.rend()) {
                return Place{i, *found};
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] static std::int32_t operandAt(const ValuesRef& ref, ir::ValueId id)
    {
        const auto found = std::find(ref.ids.begin(), ref.ids.end(), id);
        return ref.operands[static_cast<std::size_t>(found - ref.ids.begin())];
    }

    static layout::ValuesView unknown(const ValuesRef& ref, std::string why)
    {
        return {.name = ref.name,
                .memory = ref.memory,
                .elements = {ref.dtype, ref.shape, nullptr},
                .unknown = std::move(why)};
    }

    std::unique_ptr<Replay> m_replay;
    std::vector<ValuesRef> m_refs;
    std::map<std::string, std::int32_t> m_devices; // of agents
    bool m_isFull;
    std::string m_note;
    std::optional<Picoseconds> m_at; // where the replay is
    // What was shown last, with the counts of all its elements.
    std::optional<ValuesAsk> m_last;
    std::optional<layout::values::Counts> m_counts;
    layout::values::Plane m_plane;
    layout::values::Region m_map, m_table;
};

} // namespace

Result<std::unique_ptr<ValuesSource>> openValues(const RunRequest& request,
                                                 const layout::RunView& run, bool isReopened)
{
    Result<std::unique_ptr<Replay>> replay = replayOf(request, run, isReopened);
    if (!replay) {
        return replay.error();
    }
    return std::unique_ptr<ValuesSource>(
        new ReplayedValues(std::move(*replay), request, run, isReopened));
}

layout::ValuesView viewOfHeld(const Replay::Held& held, const ValuesRef& ref)
{
    return {.name = ref.name,
            .memory = ref.memory,
            .elements = held.elements,
            .defined = held.defined,
            .arriving = held.arriving,
            .color = ref.color,
            .block = ref.block};
}

} // namespace pallascope::app
