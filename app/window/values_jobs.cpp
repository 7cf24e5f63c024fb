#include "app/window/values_jobs.h"

#include "core/base/whole_file.h"
#include "views/fonts.h"

#include <exception>

namespace pallascope::app {
namespace {

constexpr int kValuesPollMs = 50;
// An answer that takes longer gives way to the next question. Below that it is shown, though late,
// so that something moves while the playhead does.
constexpr std::chrono::milliseconds kGivesWay(300);

ValuesAsk atTime(ValuesAsk ask, Picoseconds time)
{
    ask.time = time;
    return ask;
}

} // namespace

bool ValuesJobs::Control::goesOnLooking(double done)
{
    return goesOn(done) && !(isOld && std::chrono::steady_clock::now() - begin > kGivesWay);
}

ValuesJobs::ValuesJobs(QObject* parent)
    : QObject(parent)
    , m_work(1, kValuesPollMs)
{
    connect(&m_work, &Work::progressed, this, &ValuesJobs::progressed);
}

void ValuesJobs::Source::keep(const Run& theKept)
{
    if (values && theKept && run == theKept) {
        ofKept = std::move(values);
        kept = run;
    } else if (kept != theKept) {
        ofKept.reset();
        kept.reset();
    }
    values.reset(); // before the next one takes as much memory
    run.reset();
}

void ValuesJobs::open(const RunRequest& request, const Run& run, bool isReopened, const Run& kept)
{
    close(kept);
    m_open = [this, request, run, isReopened, kept](Source& source, Control&) {
        source.keep(kept);
        Result<std::unique_ptr<ValuesSource>> values = openValues(request, *run, isReopened);
        if (!values) {
            return Work::Back([this, why = values.error().message] { Q_EMIT failed(why); });
        }
        source.values = std::move(*values);
        source.run = run;
        return Work::Back([this, refs = source.values->refs(), note = source.values->note()] {
            Q_EMIT opened(refs, note);
        });
    };
    next();
}

void ValuesJobs::close(const Run& kept)
{
    ++m_run;
    m_ask.reset();
    m_tell.reset();
    m_other.reset();
    m_compare.reset();
    m_work.cancel();
    m_open = [kept](Source& source, Control&) {
        source.keep(kept);
        return Work::Back();
    };
}

ValuesJobs::Job ValuesJobs::look(const ValuesAsk& ask)
{
    return [this, ask](Source& source, Control& control) {
        if (!source.values || ask.ref >= source.values->refs().size()) {
            return Work::Back();
        }
        Result<std::optional<layout::ValuesSight>> sight =
            source.values->look(ask, [&](double done) { return control.goesOnLooking(done); });
        if (!sight) {
            return Work::Back([this, why = sight.error().message] { Q_EMIT failed(why); });
        }
        if (!*sight) { // cancelled
            return Work::Back();
        }
        return Work::Back(
            [this, ask, shown = std::make_shared<const layout::ValuesSight>(std::move(**sight))] {
                Q_EMIT answered(ask, shown);
            });
    };
}

ValuesJobs::Job ValuesJobs::history(const HistoryAsk& ask)
{
    return [this, ask](Source& source, Control& control) {
        if (!source.values || ask.ref >= source.values->refs().size()) {
            return Work::Back();
        }
        Result<std::optional<HistoryTable>> found =
            source.values->history(ask, [&](double done) { return control.goesOn(done); });
        if (!found) {
            return Work::Back([this, why = found.error().message] { Q_EMIT notTold(why); });
        }
        if (!*found) { // cancelled
            return Work::Back();
        }
        return Work::Back([this, ask, table = std::move(**found)] { Q_EMIT told(ask, table); });
    };
}

void ValuesJobs::tell(const HistoryAsk& ask)
{
    stopTelling();
    m_tell = ask;
    next();
}

void ValuesJobs::stopTelling()
{
    m_tell.reset();
    if (m_control && m_control->isTelling) {
        m_work.cancel();
    }
}

void ValuesJobs::ask(const ValuesAsk& ask)
{
    m_ask = ask;
    m_compare.reset();
    if (m_control) {
        m_control->isOld = true;
    }
    next();
}

void ValuesJobs::compare(const ValuesAsk& ask, std::shared_ptr<const layout::ValuesSight> sight,
                         Picoseconds time)
{
    m_compare = [this, then = atTime(ask, time), sight = std::move(sight)](Source& source,
                                                                           Control& control) {
        const auto goesOn = [&](double done) { return control.goesOn(done) && !control.isOld; };
        const std::optional<layout::values::Counts> counts =
            source.ofKept ? source.ofKept->countsWhere(*sight, then, goesOn) : std::nullopt;
        return counts ? Work::Back([this, sight, all = *counts] { Q_EMIT compared(sight, all); })
                      : Work::Back();
    };
    next();
}

void ValuesJobs::copy()
{
    m_other = [this](Source& source, Control&) {
        const QString text = views::text(source.values ? source.values->numpyText() : "");
        return Work::Back([this, text] { Q_EMIT copied(text); });
    };
    next();
}

void ValuesJobs::save(const QString& path)
{
    m_other = [this, path](Source& source, Control&) {
        const Result<std::string> bytes =
            source.values ? source.values->npy() : userError("No values are known.");
        const Status written =
            bytes ? writeFile(path.toStdString(), *bytes) : Status(bytes.error());
        const QString error = written ? QString() : views::text(written.error().message);
        return Work::Back([this, path, error] { Q_EMIT saved(path, error); });
    };
    next();
}

void ValuesJobs::next()
{
    if (m_control) {
        return;
    }
    if (m_open) {
        start(*std::exchange(m_open, std::nullopt));
    } else if (m_other) { // about what was shown last, so before the next question
        start(*std::exchange(m_other, std::nullopt));
    } else if (m_ask) {
        start(look(*std::exchange(m_ask, std::nullopt)));
    } else if (m_compare) {
        start(*std::exchange(m_compare, std::nullopt));
        m_control->isComparing = true;
    } else if (m_tell) { // takes longest
        start(history(*std::exchange(m_tell, std::nullopt)));
        m_control->isTelling = true;
    }
}

void ValuesJobs::start(Job job)
{
    m_control = std::make_shared<Control>();
    m_work.start(m_control,
                 [this, run = m_run, source = m_source, control = m_control,
                  job = std::move(job)]() -> Work::Back {
                     Work::Back done;
                     try {
                         done = job(*source, *control);
                     } catch (const std::exception& error) {
                         source->values.reset();
                         done = [this, why = std::string("internal error: ") + error.what()] {
                             Q_EMIT failed(why);
                         };
                     }
                     return [this, run, done] { finish(run, done); };
                 });
}

void ValuesJobs::finish(int run, const Work::Back& done)
{
    m_control.reset();
    m_work.end();
    if (run == m_run && done) {
        done();
    }
    next();
    Q_EMIT progressed();
}

} // namespace pallascope::app
