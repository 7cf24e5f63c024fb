// The content of the Values dock: which ref is looked at and how, what it holds at the playhead,
// and what of it is not known.
#pragma once

#include "app/window/dock.h"
#include "app/window/fields.h"
#include "app/window/session.h"
#include "app/window/values_history.h"
#include "app/window/values_jobs.h"
#include "views/values_picture.h"

#include <QLabel>
#include <QLayout>
#include <QTimer>
#include <QWidget>

#include <optional>
#include <vector>

namespace pallascope::app {

// Elements on a side of the largest cell.
inline constexpr std::int64_t kLargestValuesSide = 1024;
// So long an element must stay chosen before its history is looked for.
inline constexpr int kHistoryAfterMs = 250;

class ValuesPanel : public QWidget
{
    Q_OBJECT

public:
    explicit ValuesPanel(Session& session, QWidget* parent = nullptr);

    void setTheme(layout::Theme theme);

    [[nodiscard]] views::ValuesPicture* picture() const { return m_picture; }

    // Chooses a ref by its name and memory; false if there is none.
    bool choose(const std::string& name, const std::string& memory);
    void chooseElement(const std::vector<std::int64_t>& index);
    // Shows the difference with another ref of the same shape, by its row in the field; none: the
    // ref alone.
    void subtract(std::optional<std::size_t> other);
    void copy();
    void save(); // asks for a file

    [[nodiscard]] const layout::ValuesChoice& choice() const { return m_choice; }

    [[nodiscard]] ChoiceField* refField() const { return m_ref; }

    [[nodiscard]] QString noteText() const;

    [[nodiscard]] HeadButton* computeAll() const { return m_computeAll; }

    // The history of the chosen element, or the way of its NaN, in a list below the picture.
    void tellHistory(bool ofNan);
    void stopHistory();

    [[nodiscard]] ValuesHistory* history() const { return m_history; }

Q_SIGNALS:
    void conditionAsked(const QString& text); // the beginning of a breakpoint on an element

protected:
    void showEvent(QShowEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    [[nodiscard]] QLayout* firstRow();
    [[nodiscard]] QLayout* noteRow();
    void connectFields();
    void connectJobs();
    void connectSession();
    void connectHistory();
    void followRun();
    void openIfSeen();
    [[nodiscard]] ValuesJobs::Run keptRun() const;
    void takeRefs(std::vector<ValuesRef> refs, const std::string& note);
    void followSelection();
    void chooseRef(int index);
    void chooseFirst();
    void fillRefs();
    void fillAgents();
    void makeAxes();
    void chooseAxis(std::size_t axis, std::int64_t number);
    void ask();
    void take(const ValuesAsk& ask, const std::shared_ptr<const layout::ValuesSight>& sight);
    void takeKept(const std::shared_ptr<const layout::ValuesSight>& sight,
                  const layout::values::Counts& kept);
    [[nodiscard]] std::vector<layout::values::Resident>
    residents(const ValuesAsk& ask, const layout::values::Plane& plane) const;
    void fail(const std::string& why);
    void redraw();
    void showNote();
    void showAwaited();
    void askHistory();
    void followElement();
    void goToRow(const HistoryRow& row);
    [[nodiscard]] QString elementText() const;
    void moveCursor(int rows, int columns);
    void zoom(int direction, std::int64_t element);
    // Without a corner, the chosen element is in the middle.
    void setSide(std::int64_t side, std::optional<std::pair<std::int64_t, std::int64_t>> corner);
    [[nodiscard]] const ValuesRef* ref() const;
    [[nodiscard]] std::string cost() const; // of computing all values

    Session& m_session;
    ValuesJobs m_jobs;
    views::ValuesPicture* m_picture;
    ChoiceField *m_ref, *m_agent, *m_side;
    HeadButton *m_range, *m_log, *m_lock, *m_computeAll;
    ValuesHistory* m_history;
    QLabel* m_note;
    QWidget* m_second; // the row with the agent and the outer axes
    std::vector<std::pair<std::size_t, NumberField*>> m_axes;
    std::vector<QWidget*> m_axisWidgets; // these fields and their names
    layout::Theme m_theme = layout::Theme::Light;

    std::shared_ptr<const layout::RunView> m_opened; // the run that the refs are of
    std::vector<ValuesRef> m_refs;
    std::string m_known, m_failure; // ValuesSource::note(); why nothing is known
    layout::ValuesChoice m_choice;
    std::optional<std::size_t> m_minus; // of m_refs
    bool m_isLocked = true;
    std::optional<layout::ValuesRange> m_held; // the range that the colours keep
    std::string m_wanted, m_wantedMemory;      // the ref that was chosen, in later runs too
    std::optional<HistoryAsk> m_asked;         // whose history is listed, or will be
    QTimer m_awaitedDelay, m_askHistoryDelay;
};

} // namespace pallascope::app
