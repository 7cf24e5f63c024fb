// Looks up values outside the GUI thread. The latest question wins: while one is being answered, a
// newer one waits, and takes its place if the answer takes long.
#pragma once

#include "app/run_job/values_source.h"
#include "app/window/work.h"

#include <QString>

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

    using Run = std::shared_ptr<const layout::RunView>;

    // From now on, questions are about this run. What is known of the one before stays at hand if
    // it is `kept` to compare with.
    void open(const RunRequest& request, const Run& run, bool isReopened, const Run& kept);
    void close(const Run& kept); // there is no run
    void ask(const ValuesAsk& ask);
    // What the kept run has at that time of its own where an answer shows this run, if its values
    // are at hand. The next question takes its place.
    void compare(const ValuesAsk& ask, std::shared_ptr<const layout::ValuesSight> sight,
                 Picoseconds time);
    // Who touches an element, or where its NaN comes from. Takes a whole run; a later question
    // takes its place, and values are looked up again only after it.
    void tell(const HistoryAsk& ask);
    void stopTelling();
    void copy();                    // of the last answer, as text for Python
    void save(const QString& path); // the ref of the last answer, as a .npy file

    // Whether something is looked for that is not shown yet.
    [[nodiscard]] bool isBusy() const { return m_control && !m_control->isComparing; }

    [[nodiscard]] bool isTelling() const { return m_tell || (m_control && m_control->isTelling); }

    [[nodiscard]] double share() const { return m_work.share(); }

Q_SIGNALS:
    void opened(const std::vector<pallascope::app::ValuesRef>& refs, const std::string& note);
    void answered(const pallascope::app::ValuesAsk& ask,
                  const std::shared_ptr<const pallascope::layout::ValuesSight>& sight);
    void compared(const std::shared_ptr<const pallascope::layout::ValuesSight>& sight,
                  const pallascope::layout::values::Counts& kept);
    void told(const pallascope::app::HistoryAsk& ask, const pallascope::app::HistoryTable& table);
    void notTold(const std::string& why);
    void failed(const std::string& why); // nothing is known of this run
    void copied(const QString& text);
    void saved(const QString& path, const QString& error); // the error is empty if there is none
    void progressed();                                     // also when it begins and ends

private:
    struct Control : Work::Control
    {
        std::atomic<bool> isOld = false;
        bool isTelling = false, isComparing = false; // read by the GUI thread alone
        std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

        // Not any more either if it takes long and a newer question waits.
        [[nodiscard]] bool goesOnLooking(double done);
    };

    // Used by the working thread alone, one job after the other.
    struct Source
    {
        std::unique_ptr<ValuesSource> values, ofKept;
        Run run, kept; // which runs these are of

        // What is known of this run stays, if anything is; there is no other any more.
        void keep(const Run& kept);
    };

    // Runs on the working thread. What it returns runs here, unless the run is another by then.
    using Job = std::function<Work::Back(Source&, Control&)>;

    void next();
    void start(Job job);
    void finish(int run, const Work::Back& done);
    [[nodiscard]] Job look(const ValuesAsk& ask);
    [[nodiscard]] Job history(const HistoryAsk& ask);

    std::shared_ptr<Source> m_source = std::make_shared<Source>();
    std::shared_ptr<Control> m_control;            // of the current job; null if there is none
    std::optional<Job> m_open, m_other, m_compare; // waiting
    std::optional<ValuesAsk> m_ask;                // waiting
    std::optional<HistoryAsk> m_tell;              // waiting
    int m_run = 0; // counts runs, so that answers about an earlier one are dropped
    Work m_work;   // one job after the other
};

} // namespace pallascope::app
