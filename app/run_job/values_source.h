// Says what refs hold at any moment of a run. The numbers come from a replay of the run, which
// keeps snapshots of its state, so that going back and forth takes milliseconds where it has been
// before. One thread at a time may use it.
#pragma once

#include "app/run_job/history_table.h"
#include "app/run_job/run_job.h"
#include "app/run_job/values_refs.h"
#include "core/machine/replay.h"
#include "views/layout/values/values.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::app {

// What is to be looked at, and how.
struct ValuesAsk
{
    Picoseconds time;
    std::size_t ref = 0;                // of ValuesSource::refs()
    std::optional<std::size_t> minus;   // of refs() too, of the same shape: their difference
    std::string agent;                  // empty: the first one that has the ref
    std::optional<std::int32_t> device; // of that first one; none: any. A named agent has its own
    layout::ValuesChoice choice;
    layout::Size size;
    bool operator==(const ValuesAsk&) const = default;
};

// An element whose history is asked for, or the way of its last NaN.
struct HistoryAsk
{
    std::size_t ref = 0; // of ValuesSource::refs()
    std::vector<std::int64_t> index;
    bool isOfNan = false;
    bool operator==(const HistoryAsk&) const = default;
};

class ValuesSource
{
public:
    ValuesSource() = default;
    virtual ~ValuesSource() = default;
    ValuesSource(const ValuesSource&) = delete;
    ValuesSource& operator=(const ValuesSource&) = delete;

    [[nodiscard]] virtual const std::vector<ValuesRef>& refs() const = 0;
    // What is to be said of all values: which are known where not all are, or that they were
    // computed again for a trace from a file. Empty: nothing.
    [[nodiscard]] virtual const std::string& note() const = 0;

    // Nothing if it was cancelled. Where the ref does not exist at that moment, or what it holds is
    // not computed, the sight says so. `ask.ref` is one of refs().
    [[nodiscard]] virtual Result<std::optional<layout::ValuesSight>>
    look(const ValuesAsk& ask, const Progress& proceed) = 0;
    // Runs all over again, over all agents. Nothing if it was cancelled; the error says why nothing
    // can be told. After it the next look comes first.
    [[nodiscard]] virtual Result<std::optional<HistoryTable>> history(const HistoryAsk& ask,
                                                                      const Progress& proceed) = 0;
    // What this run has at the time of `ask`, where it asks for it, in the part of a ref that the
    // map of another run's picture shows: in the ref of the same name, memory, dtype and shape.
    // Nothing if it has none, if nothing is known of it at that moment, or if it was cancelled.
    [[nodiscard]] virtual std::optional<layout::values::Counts>
    countsWhere(const layout::ValuesSight& other, const ValuesAsk& ask,
                const Progress& proceed) = 0;
    // What the last look showed, for Python: the elements of the map if they are few enough to
    // read, else those of the table.
    [[nodiscard]] virtual std::string numpyText() = 0;
    // All of that ref, or difference, as the bytes of a .npy file.
    [[nodiscard]] virtual Result<std::string> npy() = 0;
};

// `isReopened`: the run is a trace from a file, which holds no values. The error says why nothing
// is known.
[[nodiscard]] Result<std::unique_ptr<ValuesSource>>
openValues(const RunRequest& request, const layout::RunView& run, bool isReopened);

// What a ref of a replay holds, as a view.
[[nodiscard]] layout::ValuesView viewOfHeld(const machine::Replay::Held& held,
                                            const ValuesRef& ref);

} // namespace pallascope::app
