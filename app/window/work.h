// Work outside the GUI thread, as the jobs of the window do it: threads, how the current job is
// told to stop and says how far it is, and the way back to the GUI thread.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include <atomic>
#include <functional>
#include <memory>

namespace pallascope::app {

class Work : public QObject
{
    Q_OBJECT

public:
    struct Control // shared with the working thread
    {
        std::atomic<bool> isCancelled = false;
        std::atomic<double> share = 0;

        // For the job to call as it goes on; false tells it to stop.
        [[nodiscard]] bool goesOn(double done)
        {
            share = done;
            return !isCancelled;
        }
    };

    // Of several threads, one has the current job and the others end cancelled ones.
    Work(int threads, int pollMs);
    ~Work() override; // cancels and waits, so no thread outlives what jobs use

    // From now on this is the current job. What it returns runs on the GUI thread, also if another
    // job is current by then. `job` must not throw.
    using Back = std::function<void()>;
    void start(const std::shared_ptr<Control>& control, std::function<Back()> job);
    void cancel(); // tells the current job to stop
    void end();    // there is no current job any more

    [[nodiscard]] bool isRunning() const { return m_control != nullptr; }

    [[nodiscard]] double share() const { return m_control ? m_control->share.load() : 0; }

Q_SIGNALS:
    void progressed(); // regularly, while there is a current job

private:
    QThreadPool m_threads;              // destroyed before what its threads use
    std::shared_ptr<Control> m_control; // of the current job; null if there is none
    QTimer m_poll;
};

} // namespace pallascope::app
