// The breakpoints of the window, and where they stop the run that is shown. Each kernel has its
// own. They are known for every run of it: where a run has no such line, step or block, the entry
// says so and waits for one that has.
#pragma once

#include "app/window/break_jobs.h"
#include "views/navigation/break_stops.h"

#include <QObject>
#include <QStringList>

#include <map>
#include <optional>
#include <vector>

namespace pallascope::app {

class Breakpoints : public QObject
{
    Q_OBJECT

public:
    struct Entry
    {
        trace::Breakpoint breakpoint;
        bool isOn = true;
        navigation::BreakTimes stops; // in the run that is shown
        bool isAwaited = false;       // its stops are being looked for
        QString why;                  // it cannot stop this run; empty if it can

        [[nodiscard]] QString name() const; // as people write it
    };

    explicit Breakpoints(QObject* parent = nullptr);

    // `kernel` is the file or the name by which the breakpoints of a kernel are kept.
    void show(const QString& kernel, const RunRequest& request,
              std::shared_ptr<const layout::RunView> run, bool isReopened);
    void showNothing(); // no run

    [[nodiscard]] const std::vector<Entry>& entries() const { return m_entries; }

    // Adds one, or turns it on where it is there. The error says what is wrong with the text.
    [[nodiscard]] Status add(const std::string& text);
    void add(const trace::Breakpoint& breakpoint);
    void remove(std::size_t index);
    void setOn(std::size_t index, bool isOn);
    // Adds it; or removes it if it is there.
    void toggle(const trace::Breakpoint& breakpoint);
    [[nodiscard]] std::optional<std::size_t> find(const trace::Breakpoint& breakpoint) const;

    // The next or previous stop of those that are on.
    [[nodiscard]] std::optional<navigation::BreakHit> hit(Picoseconds from, int direction) const;
    // The stops of all of them, as far as they are known; null if there are none.
    [[nodiscard]] std::shared_ptr<const std::vector<layout::BreakStops>> marks() const;
    // Whether one that is on may stop the run at places that are not known yet.
    [[nodiscard]] bool isLooking() const;

    // How much of the run the current search has looked at.
    [[nodiscard]] std::optional<double> share() const { return m_jobs.share(); }

    void cancelSearch() { m_jobs.cancel(); }

    // For settings: kernel by kernel, "off " before one that is off.
    [[nodiscard]] std::map<QString, QStringList> kept() const;
    void keep(const std::map<QString, QStringList>& kept);

Q_SIGNALS:
    void changed();
    void progressed(); // of a search

private:
    [[nodiscard]] static QStringList textsOf(const std::vector<Entry>& entries);
    void take(const QStringList& texts);
    void look(Entry& entry);
    void lookAll();
    void announce();
    Entry* entryOf(const trace::Breakpoint& breakpoint);

    std::vector<Entry> m_entries;
    std::vector<navigation::BreakTimes> m_active; // of each entry; empty for one that is off
    std::map<QString, QStringList> m_kept;        // of other kernels
    QString m_kernel;
    std::shared_ptr<const layout::RunView> m_run;
    BreakJobs m_jobs;
};

} // namespace pallascope::app
