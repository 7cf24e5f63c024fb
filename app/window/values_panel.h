// The content of the Values dock: which ref is looked at and how, what it holds at the playhead,
// and what of it is not known.
#pragma once

#include "app/window/fields.h"
#include "app/window/history_teller.h"
#include "app/window/session.h"
#include "app/window/values_axes.h"
#include "app/window/values_colours.h"
#include "app/window/values_history.h"
#include "app/window/values_jobs.h"
#include "app/window/values_note.h"
#include "views/values_picture.h"

#include <QLayout>
#include <QTimer>
#include <QWidget>

#include <optional>
#include <vector>

namespace pallascope::app {

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

    // What another window's panel needs to show the same of the same run.
    struct State
    {
        std::optional<std::size_t> ref, minus; // rows of the field; no ref: nothing was looked at
        std::string wanted, wantedMemory;      // what the user chose; empty: nothing
        std::string agent;
        layout::ValuesChoice choice;
        ValuesColours::State colours;
    };

    [[nodiscard]] State state() const;
    // For the run that is shown, once its refs are there.
    void goOn(const State& state);

    [[nodiscard]] ChoiceField* refField() const { return m_ref; }

    [[nodiscard]] ValuesNote* note() const { return m_note; }

    // The history of the chosen element, or the way of its NaN, in a list below the picture.
    [[nodiscard]] HistoryTeller& historyTeller() { return m_teller; }

    [[nodiscard]] ValuesHistory* history() const { return m_history; }

Q_SIGNALS:
    void conditionAsked(const QString& text); // the beginning of a breakpoint on an element

protected:
    void showEvent(QShowEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void connectFields();
    void connectJobs();
    void connectSession();
    void followRun();
    void forgetRefs();
    void openIfSeen();
    [[nodiscard]] ValuesJobs::Run keptRun() const;
    void takeRefs(std::vector<ValuesRef> refs, const std::string& note);
    void followSelection();
    void chooseRef(int index);
    void chooseAxis(std::size_t axis, std::int64_t number);
    [[nodiscard]] std::optional<std::int32_t> device() const;
    void followDevice();
    void ask();
    void take(const ValuesAsk& ask, const std::shared_ptr<const layout::ValuesSight>& sight);
    void takeKept(const std::shared_ptr<const layout::ValuesSight>& sight,
                  const layout::values::Counts& kept);
    void fail(const std::string& why);
    void redraw();
    void showNote();
    void showAwaited();
    void moveCursor(int rows, int columns);
    void zoom(int direction, std::int64_t element);
    // Without a corner, the chosen element is in the middle.
    void setSide(std::int64_t side, std::optional<std::pair<std::int64_t, std::int64_t>> corner);
    [[nodiscard]] const ValuesRef* ref() const;

    Session& m_session;
    ValuesJobs m_jobs;
    views::ValuesPicture* m_picture;
    ChoiceField *m_ref, *m_side;
    ValuesColours* m_colours;
    ValuesAxes* m_axes;
    ValuesNote* m_note;
    ValuesHistory* m_history;
    HistoryTeller m_teller;
    layout::Theme m_theme = layout::Theme::Light;

    std::shared_ptr<const layout::RunView> m_opened; // the run that the refs are of
    std::vector<ValuesRef> m_refs;
    std::string m_known, m_failure; // ValuesSource::note(); why nothing is known
    layout::ValuesChoice m_choice;
    std::optional<std::size_t> m_minus;   // of m_refs
    std::string m_wanted, m_wantedMemory; // the ref that was chosen, in later runs too
    std::optional<State> m_goesOn;        // until the refs are there
    QTimer m_awaitedDelay;
};

} // namespace pallascope::app
