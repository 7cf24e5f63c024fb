// Runs one capture at a time in a process of its own: it first asks Python whether it has the
// packages. The file that is written appears whole or not at all, even if the capture is cancelled.
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
    void cancel(); // nothing is emitted after this

    [[nodiscard]] bool isRunning() const { return m_process != nullptr; }

Q_SIGNALS:
    void progressed(const QString& what, int seconds); // at once, and then every second
    void written(const QString& file);
    // `output` is everything that Python printed.
    void failed(const QString& sentence, const QString& output);

private:
    void run(const std::vector<std::string>& words, const QString& what,
             std::function<void(int exitCode)> then);
    void capture();
    void fail(const QString& sentence);

    CaptureRequest m_request;
    // Of the current job; processes of cancelled jobs may still be ending.
    QProcess* m_process = nullptr;
    QString m_what;
    QByteArray m_said; // what Python wrote on standard error
    QElapsedTimer m_since;
    QTimer m_second;
};

} // namespace pallascope::app
