// Has the history of the element that the Values dock shows told, or the way of its NaN, and leads
// to what it tells. It follows the element from picture to picture while the list is open.
#pragma once

#include "app/window/values_history.h"
#include "app/window/values_jobs.h"
#include "app/window/viewpoint.h"

#include <QObject>
#include <QTimer>

#include <memory>
#include <optional>
#include <string>

namespace pallascope::app {

// So long an element must stay chosen before its history is looked for.
inline constexpr int kHistoryAfterMs = 250;

class HistoryTeller : public QObject
{
    Q_OBJECT

public:
    // All of them must outlive it.
    HistoryTeller(ValuesJobs& jobs, Viewpoint& viewpoint, ValuesHistory& list);

    // A picture: its element is the one whose history is told.
    struct Shown
    {
        std::shared_ptr<const layout::RunView> run;
        std::size_t ref = 0; // of the refs that the jobs know
        std::string name;
        std::shared_ptr<const layout::ValuesSight> sight;
        bool isDifference = false; // which has no history
    };

    void follow(Shown shown);

    void forget() { m_shown = {}; } // there is no picture

    void tell(bool ofNan);
    void stop();

Q_SIGNALS:
    void told(); // the replay has lost its place

private:
    void connectList();
    void ask();
    void take(const HistoryAsk& ask, const HistoryTable& table);
    void goToRow(const HistoryRow& row);

    ValuesJobs& m_jobs;
    Viewpoint& m_viewpoint;
    ValuesHistory& m_list;
    Shown m_shown;
    std::optional<HistoryAsk> m_asked; // whose history is listed, or will be
    QString m_element;                 // of it: "out[3,5]"
    QTimer m_delay;
};

} // namespace pallascope::app
