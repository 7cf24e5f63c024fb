#include "app/window/sweep_runs.h"

#include "core/study/sweep.h"

#include <exception>
#include <mutex>
#include <string>

namespace pallascope::app {
namespace {

constexpr int kSweepPollMs = 150;
constexpr int kSweepThreads = 2; // the current sweep, and a cancelled one that is still ending

} // namespace

struct SweepRuns::Arrivals
{
    std::mutex mutex;
    std::shared_ptr<const SweepJob> job; // until it is taken
    std::vector<Numbered> rows;
};

SweepRuns::SweepRuns(QObject* parent)
    : QObject(parent)
    , m_work(kSweepThreads, kSweepPollMs)
{
    connect(&m_work, &Work::progressed, this, &SweepRuns::take);
}

void SweepRuns::start(SweepRequest request)
{
    cancel();
    const int id = ++m_id;
    const auto arrivals = std::make_shared<Arrivals>();
    m_arrivals = arrivals;
    const auto control = std::make_shared<Work::Control>();
    const auto sweep = [control, arrivals, request = std::move(request)]() -> std::optional<Error> {
        Result<SweepJob> prepared = sweepOf(request);
        if (!prepared) {
            return prepared.error();
        }
        const auto job = std::make_shared<const SweepJob>(std::move(*prepared));
        {
            const std::lock_guard lock(arrivals->mutex);
            arrivals->job = job;
        }
        study::SweepOptions options;
        options.goesOn = [control] { return !control->isCancelled; };
        options.progress = [arrivals](const std::vector<std::optional<study::SweepRow>>& rows,
                                      std::size_t newest, std::size_t /*finished*/) {
            const std::lock_guard lock(arrivals->mutex);
            arrivals->rows.emplace_back(newest, rows[newest].value());
        };
        const auto rows = study::sweep(job->plan, options);
        return rows ? std::nullopt : std::optional(rows.error());
    };
    m_work.start(control, [this, id, sweep]() -> Work::Back {
        std::optional<Error> error;
        try {
            error = sweep();
        } catch (const std::exception& broken) { // the user must see a sentence
            error = Error{ErrorKind::Internal, std::string("internal error: ") + broken.what(), {}};
        }
        return [this, id, error] { deliver(id, error); };
    });
}

void SweepRuns::cancel()
{
    m_work.cancel();
    m_work.end();
    m_arrivals.reset();
}

void SweepRuns::take()
{
    if (m_arrivals == nullptr) {
        return;
    }
    std::shared_ptr<const SweepJob> job;
    std::vector<Numbered> rows;
    {
        const std::lock_guard lock(m_arrivals->mutex);
        job = std::move(m_arrivals->job);
        rows = std::move(m_arrivals->rows);
        m_arrivals->rows.clear();
    }
    if (job != nullptr) {
        Q_EMIT prepared(job);
    }
    if (!rows.empty()) {
        Q_EMIT came(rows);
    }
}

void SweepRuns::deliver(int id, const std::optional<Error>& error)
{
    if (id != m_id || !m_work.isRunning()) {
        return; // it was cancelled, or a newer one replaced it
    }
    take();
    m_work.end();
    m_arrivals.reset();
    Q_EMIT finished(error);
}

} // namespace pallascope::app
