// What of the values of a run is not known, and a button that has all of them computed. It hides
// where there is nothing to say.
#pragma once

#include "app/window/dock.h"

#include <QLabel>
#include <QWidget>

namespace pallascope::app {

class ValuesNote : public QWidget
{
    Q_OBJECT

public:
    explicit ValuesNote(QWidget* parent);

    void setTheme(layout::Theme theme) { m_computeAll->setTheme(theme); }

    void say(const QString& note, bool offersAll);

    [[nodiscard]] QString text() const { return m_note->isHidden() ? QString() : m_note->text(); }

    [[nodiscard]] HeadButton* computeAll() const { return m_computeAll; }

Q_SIGNALS:
    void allAsked();

private:
    QLabel* m_note;
    HeadButton* m_computeAll;
};

} // namespace pallascope::app
