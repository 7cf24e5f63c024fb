#include "app/window/values_jobs.h"

#include "core/base/whole_file.h"
#include "views/fonts.h"

#include <QtConcurrentRun>

#include <exception>

namespace pallascope::app {
namespace {

constexpr int kPollMs = 50;
// An answer that takes longer gives way to the next question. Below that it is shown, though late,
// so that something moves while the playhead does.
constexpr std::chrono::milliseconds kGivesWay(300);

} // namespace

bool ValuesJobs::Control::goesOn(double done)
{
    share = done;
    return !abandoned && !(isOld && std::chrono::steady_clock::now() - begin > kGivesWay);
}

ValuesJobs::ValuesJobs(QObject* parent)
    : QObject(parent)
{
    m_thread.setMaxThreadCount(1);
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, &ValuesJobs::progressed);
}

ValuesJobs::~ValuesJobs()
{
    if (m_control) {
        m_control->abandoned = true;
    }
    m_thread.waitForDone();
}

void ValuesJobs::open(const RunRequest& request, std::shared_ptr<const layout::RunView> run,
                      bool isReopened)
{
    close();
    m_open = [this, request, run = std::move(run), isReopened](Source& source, Control&) {
        source.values.reset(); // before the next one takes as much memory
        Result<std::unique_ptr<ValuesSource>> values = openValues(request, *run, isReopened);
        if (!values) {
            return std::function<void()>(
                [this, why = values.error().message] { Q_EMIT failed(why); });
        }
        source.values = std::move(*values);
        return std::function<void()>([this, refs = source.values->refs(),
                                      note = source.values->note()] { Q_EMIT opened(refs, note); });
    };
    next();
}

void ValuesJobs::close()
{
    ++m_run;
    m_ask.reset();
    m_tell.reset();
    m_other.reset();
    if (m_control) {
        m_control->abandoned = true;
    }
    m_open = [](Source& source, Control&) {
        source.values.reset();
        return std::function<void()>();
    };
}

ValuesJobs::Job ValuesJobs::look(const ValuesAsk& ask)
{
    return [this, ask](Source& source, Control& control) {
        if (!source.values || ask.ref >= source.values->refs().size()) {
            return std::function<void()>();
        }
        Result<std::optional<layout::ValuesSight>> sight =
            source.values->look(ask, [&](double done) { return control.goesOn(done); });
        if (!sight) {
            return std::function<void()>(
                [this, why = sight.error().message] { Q_EMIT failed(why); });
        }
        if (!*sight) { // cancelled
            return std::function<void()>();
        }
        return std::function<void()>(
            [this, ask, shown = std::make_shared<const layout::ValuesSight>(std::move(**sight))] {
                Q_EMIT answered(ask, shown);
            });
    };
}

ValuesJobs::Job ValuesJobs::history(const HistoryAsk& ask)
{
    return [this, ask](Source& source, Control& control) {
        if (!source.values || ask.ref >= source.values->refs().size()) {
            return std::function<void()>();
        }
        Result<std::optional<HistoryTable>> found = source.values->history(ask, [&](double done) {
            control.share = done;
            return !control.abandoned;
        });
        if (!found) {
            return std::function<void()>(
                [this, why = found.error().message] { Q_EMIT notTold(why); });
        }
        if (!*found) { // cancelled
            return std::function<void()>();
        }
        return std::function<void()>(
            [this, ask, table = std::move(**found)] { Q_EMIT told(ask, table); });
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
        m_control->abandoned = true;
    }
}

void ValuesJobs::ask(const ValuesAsk& ask)
{
    m_ask = ask;
    if (m_control) {
        m_control->isOld = true;
    }
    next();
}

void ValuesJobs::copy()
{
    m_other = [this](Source& source, Control&) {
        const QString text = views::text(source.values ? source.values->numpyText() : "");
        return std::function<void()>([this, text] { Q_EMIT copied(text); });
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
        return std::function<void()>([this, path, error] { Q_EMIT saved(path, error); });
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
    } else if (m_tell) { // takes longest
        start(history(*std::exchange(m_tell, std::nullopt)));
        m_control->isTelling = true;
    }
}

void ValuesJobs::start(Job job)
{
    m_control = std::make_shared<Control>();
    m_poll.start();
    (void)QtConcurrent::run(&m_thread, [this, run = m_run, source = m_source, control = m_control,
                                        job = std::move(job)] {
        std::function<void()> done;
        try {
            done = job(*source, *control);
        } catch (const std::exception& error) {
            source->values.reset();
            done = [this, why = std::string("internal error: ") + error.what()] {
                Q_EMIT failed(why);
            };
        }
        // The destructor waits for this thread, so `this` still exists here.
        QMetaObject::invokeMethod(
            this, [this, run, done] { finish(run, done); }, Qt::QueuedConnection);
    });
}

void ValuesJobs::finish(int run, const std::function<void()>& done)
{
    m_control.reset();
    m_poll.stop();
    if (run == m_run && done) {
        done();
    }
    next();
    Q_EMIT progressed();
}

} // namespace pallascope::app
