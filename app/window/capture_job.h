// One capture at a time, in a process of its own: asks the Python for its packages, then runs it.
// The file it writes appears whole or not at all, also when it is cancelled.
#pragma once

#include "app/capture/capture.h"

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QTimer>

#include <functional>

namespace pallascope::app {

class CaptureJob : public QObject
{
    Q_OBJECT

public:
    explicit CaptureJob(QObject* parent = nullptr);
    ~CaptureJob() override; // ends the process

    void start(CaptureRequest request);
    void cancel(); // nothing is emitted any more

    [[nodiscard]] bool isRunning() const { return m_process != nullptr; }

Q_SIGNALS:
    void progressed(const QString& what, int seconds); // at once, then every second
    void written(const QString& file);
    void failed(const QString& sentence, const QString& output); // all that Python printed

private:
    void run(const std::vector<std::string>& words, const QString& what,
             std::function<void(int exitCode)> then);
    void capture();
    void fail(const QString& sentence);

    CaptureRequest m_request;
    QProcess* m_process = nullptr; // of the job that counts; cancelled ones are unwinding
    QString m_what;
    QByteArray m_said; // on standard error
    QElapsedTimer m_since;
    QTimer m_second;
};

} // namespace pallascope::app
