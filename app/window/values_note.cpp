#include "app/window/values_note.h"

#include "app/window/values_row.h"
#include "views/fonts.h"

namespace pallascope::app {

using namespace Qt::StringLiterals;

ValuesNote::ValuesNote(QWidget* parent)
    : QWidget(parent)
    , m_note(new QLabel(this))
    , m_computeAll(new HeadButton(tr("Compute all values"), this))
{
    m_note->setObjectName(u"hint"_s);
    m_note->setWordWrap(true);
    m_note->setFont(views::font(11));
    m_computeAll->setChecked(true); // which makes it look like a button
    auto* row = valuesRow();
    setLayout(row);
    row->addWidget(m_note, 1);
    row->addWidget(m_computeAll);
    say({}, false);
    connect(m_computeAll, &QAbstractButton::clicked, this, [this] {
        m_computeAll->setChecked(true);
        Q_EMIT allAsked();
    });
}

void ValuesNote::say(const QString& note, bool offersAll)
{
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
    m_computeAll->setVisible(offersAll);
    setVisible(!note.isEmpty() || offersAll);
}

} // namespace pallascope::app
