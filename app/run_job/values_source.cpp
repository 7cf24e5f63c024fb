#include "app/run_job/values_source.h"

#include "app/run_job/break_search.h"
#include "app/run_job/history_words.h"
#include "app/run_job/values_numpy.h"
#include "core/base/format.h"
#include "views/layout/values/difference.h"

#include <algorithm>
#include <cmath>

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
        if (isKnown && (!m_at || *m_at != ask.time)) {
            m_at.reset();
            m_counts.reset();
            m_last.reset();
            const Result<bool> moved = m_replay->seekTime(ask.time, proceed);
            if (!moved) {
                return moved.error();
            }
            if (!*moved) {
                return std::optional<layout::ValuesSight>();
            }
            m_at = ask.time;
        }
        const layout::ValuesView view = viewOf(ask);
        if (!m_last || m_last->ref != ask.ref || m_last->minus != ask.minus
            || m_last->agent != ask.agent) {
            m_counts.reset();
        }
        layout::ValuesSight sight = layout::sightOf(view, ask.choice, ask.size, m_counts);
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

    [[nodiscard]] std::string numpyText() override
    {
        constexpr std::int64_t kMostText = 4096; // elements
        const layout::ValuesView view = m_last ? viewOf(*m_last) : layout::ValuesView{};
        if (!m_last || !view.unknown.empty()) {
            return {};
        }
        return app::numpyText(view, m_plane,
                              m_map.rows * m_map.columns <= kMostText ? m_map : m_table);
    }

    [[nodiscard]] Result<std::string> npy() override
    {
        const layout::ValuesView view = m_last ? viewOf(*m_last) : layout::ValuesView{};
        return !m_last                ? userError("No ref is shown.")
               : view.unknown.empty() ? npyBytes(view)
                                      : userError(view.unknown);
    }

private:
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

    // What is asked for, where the replay is now. It is looked up each time: keeping it would make
    // the replay copy the memory when it goes on.
    [[nodiscard]] layout::ValuesView viewOf(const ValuesAsk& ask)
    {
        layout::ValuesView view = viewOf(m_refs[ask.ref], ask.agent);
        return ask.minus ? layout::values::differenceOf(view, viewOf(m_refs[*ask.minus], ask.agent))
                         : view;
    }

    [[nodiscard]] layout::ValuesView viewOf(const ValuesRef& ref, const std::string& agent)
    {
        if (!ref.isKnown) {
            return unknown(ref, notComputed(ref.name));
        }
        const std::optional<Place> place = find(ref, agent);
        return place ? viewOfRef(*m_replay, ref, place->agent, place->id, *m_at)
                     : unknown(ref, ref.name + " does not exist at this moment"
                                        + (agent.empty() ? "" : " on " + agent)
                                        + ": what it belongs to has not begun, or has ended.");
    }

    [[nodiscard]] std::optional<Place> find(const ValuesRef& ref, const std::string& agent) const
    {
        const std::vector<Replay::AgentPlace> places = m_replay->places();
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (!agent.empty() && places[i].agent != agent) {
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

    static layout::ValuesView unknown(const ValuesRef& ref, std::string why)
    {
        return {.name = ref.name,
                .memory = ref.memory,
                .elements = {ref.dtype, ref.shape, nullptr},
                .unknown = std::move(why)};
    }

    std::unique_ptr<Replay> m_replay;
    std::vector<ValuesRef> m_refs;
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

layout::ValuesView viewOfRef(Replay& replay, const ValuesRef& ref, std::size_t agent,
                             ir::ValueId id, Picoseconds time)
{
    Replay::Held held = replay.held(agent, id, time);
    return {.name = ref.name,
            .memory = ref.memory,
            .elements = std::move(held.elements),
            .defined = std::move(held.defined),
            .arriving = std::move(held.arriving),
            .color = ref.color,
            .block = ref.block};
}

} // namespace pallascope::app
