#include "app/window/capture_job.h"

#include "views/fonts.h"

#include <csignal>

namespace pallascope::app {
namespace {

constexpr int kSecond = 1000;
constexpr int kPatienceMs = 2000; // after an interrupt, so that Python can remove what it has begun
constexpr qsizetype kMostSaid = 1 << 20; // bytes
constexpr auto kSetBy = "the field Python";

QStringList listOf(const std::vector<std::string>& words)
{
    QStringList list;
    for (const std::string& word : words) {
        list.push_back(views::text(word));
    }
    return list;
}

} // namespace

CaptureJob::CaptureJob(QObject* parent)
    : QObject(parent)
{
    m_second.setInterval(kSecond);
    connect(&m_second, &QTimer::timeout, this,
            [this] { Q_EMIT progressed(m_what, static_cast<int>(m_since.elapsed() / kSecond)); });
}

CaptureJob::~CaptureJob()
{
    cancel();
    for (QProcess* process : findChildren<QProcess*>()) {
        process->disconnect();
        if (!process->waitForFinished(kPatienceMs)) {
            process->kill();
            process->waitForFinished();
        }
    }
}

void CaptureJob::start(CaptureRequest request)
{
    cancel();
    m_request = std::move(request);
    m_since.start();
    m_second.start();
    prepareEnvironment();
    run(questionWords(m_request), tr("Looking for the packages"), [this](int exitCode) {
        if (const Status found = answerTo(m_request, exitCode, kSetBy); !found) {
            fail(views::text(found.error().message));
            return;
        }
        capture();
    });
}

void CaptureJob::capture()
{
    run(captureWords(m_request), tr("Python is tracing"), [this](int exitCode) {
        if (exitCode == 0) {
            m_second.stop();
            Q_EMIT written(views::text(m_request.output));
            return;
        }
        const QString sentence = views::text(lastWords(m_said.toStdString()));
        fail(!sentence.isEmpty() ? sentence
                                 : tr("Python ended with %1 and no word.").arg(exitCode));
    });
}

void CaptureJob::run(const std::vector<std::string>& words, const QString& what,
                     std::function<void(int)> then)
{
    m_what = what;
    m_said.clear();
    m_process = new QProcess(this);
    QProcess* const process = m_process;
    process->setStandardInputFile(QProcess::nullDevice());
    process->setStandardOutputFile(QProcess::nullDevice());
    const auto hear = [this, process] {
        m_said = (m_said + process->readAllStandardError()).right(kMostSaid);
    };
    connect(process, &QProcess::readyReadStandardError, this, hear);
    connect(
        process, &QProcess::finished, this,
        [this, process, hear, then = std::move(then)](int exitCode, QProcess::ExitStatus status) {
            hear();
            process->deleteLater();
            m_process = nullptr;
            then(status == QProcess::NormalExit ? exitCode : 128 + exitCode);
        });
    connect(process, &QProcess::errorOccurred, this, [this, process](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            process->deleteLater();
            m_process = nullptr;
            const std::string why =
                process->errorString().section(u':', -1).trimmed().toStdString();
            fail(views::text(cannotRun(m_request, why, kSetBy).message));
        }
    });
    Q_EMIT progressed(m_what, static_cast<int>(m_since.elapsed() / kSecond));
    process->start(views::text(words.front()), listOf(words).mid(1));
}

void CaptureJob::fail(const QString& sentence)
{
    m_second.stop();
    Q_EMIT failed(sentence, QString::fromUtf8(m_said).trimmed());
}

void CaptureJob::cancel()
{
    m_second.stop();
    if (m_process == nullptr) {
        return;
    }
    QProcess* const process = m_process;
    m_process = nullptr;
    process->disconnect(this);
    connect(process, &QProcess::finished, process, &QObject::deleteLater);
    if (process->processId() > 0) {
        (void)::kill(static_cast<pid_t>(process->processId()), SIGINT);
    }
    QTimer::singleShot(kPatienceMs, process, &QProcess::kill);
}

} // namespace pallascope::app
