// Looks up values outside the GUI thread. The latest question wins: while one is being answered, a
// newer one waits, and takes its place if the answer takes long.
#pragma once

#include "app/run_job/values_source.h"

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <QTimer>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace pallascope::app {

class ValuesJobs : public QObject
{
    Q_OBJECT

public:
    explicit ValuesJobs(QObject* parent = nullptr);
    ~ValuesJobs() override; // cancels and waits, so no thread outlives the object

    // From now on, questions are about this run.
    void open(const RunRequest& request, std::shared_ptr<const layout::RunView> run,
              bool isReopened);
    void close(); // there is no run
    void ask(const ValuesAsk& ask);
    // Who touches an element, or where its NaN comes from. Takes a whole run; a later question
    // takes its place, and values are looked up again only after it.
    void tell(const HistoryAsk& ask);
    void stopTelling();
    void copy();                    // of the last answer, as text for Python
    void save(const QString& path); // the ref of the last answer, as a .npy file

    [[nodiscard]] bool isBusy() const { return m_control != nullptr; }

    [[nodiscard]] bool isTelling() const { return m_tell || (m_control && m_control->isTelling); }

    [[nodiscard]] double share() const { return m_control ? m_control->share.load() : 0; }

Q_SIGNALS:
    void opened(const std::vector<pallascope::app::ValuesRef>& refs, const std::string& note);
    void answered(const pallascope::app::ValuesAsk& ask,
                  const std::shared_ptr<const pallascope::layout::ValuesSight>& sight);
    void told(const pallascope::app::HistoryAsk& ask, const pallascope::app::HistoryTable& table);
    void notTold(const std::string& why);
    void failed(const std::string& why); // nothing is known of this run
    void copied(const QString& text);
    void saved(const QString& path, const QString& error); // the error is empty if there is none
    void progressed();                                     // also when it begins and ends

private:
    struct Control // shared with the working thread
    {
        std::atomic<bool> abandoned = false, isOld = false;
        bool isTelling = false; // read by the GUI thread alone
        std::atomic<double> share = 0;
        std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

        [[nodiscard]] bool goesOn(double done);
    };

    // Used by the working thread alone, one job after the other.
    struct Source
    {
        std::unique_ptr<ValuesSource> values;
    };

    // Runs on the working thread. What it returns runs here, unless the run is another by then.
    using Job = std::function<std::function<void()>(Source&, Control&)>;

    void next();
    void start(Job job);
    void finish(int run, const std::function<void()>& done);
    [[nodiscard]] Job look(const ValuesAsk& ask);
    [[nodiscard]] Job history(const HistoryAsk& ask);

    QThreadPool m_thread; // one thread; destroyed before what it uses
    std::shared_ptr<Source> m_source = std::make_shared<Source>();
    std::shared_ptr<Control> m_control; // of the current job; null if there is none
    std::optional<Job> m_open, m_other; // waiting
    std::optional<ValuesAsk> m_ask;     // waiting
    std::optional<HistoryAsk> m_tell;   // waiting
    QTimer m_poll;
    int m_run = 0; // counts runs, so that answers about an earlier one are dropped
};

} // namespace pallascope::app
