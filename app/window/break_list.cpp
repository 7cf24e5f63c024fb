#include "app/window/break_list.h"

#include "app/window/fields.h"
#include "core/base/format.h"
#include "views/fonts.h"
#include "views/scene_painter.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollArea>

namespace pallascope::app {

namespace {

using namespace Qt::StringLiterals;
using layout::Role;
using layout::Weight;

constexpr int kBreakRow = 20; // px

} // namespace

BreakTag::BreakTag(QWidget* parent)
    : QAbstractButton(parent)
{
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
}

void BreakTag::setTheme(layout::Theme theme)
{
    m_theme = theme;
    update();
}

QSize BreakTag::sizeHint() const
{
    return {16, kBreakRow};
}

void BreakTag::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor ink = views::color(Role::Focus, m_theme);
    painter.setPen(QPen(ink, 1));
    painter.setBrush(isChecked() ? QBrush(ink) : QBrush(Qt::NoBrush));
    const double top = (height() - 11) / 2.0 + 0.5;
    painter.drawPolygon(QPolygonF(
        QList<QPointF>{{1.5, top}, {8, top}, {13, top + 5}, {8, top + 10}, {1.5, top + 10}}));
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

BreakList::BreakList(Session& session, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_note(new QLabel(this))
    , m_cancel(new HeadButton(tr("cancel"), this))
    , m_list(new QVBoxLayout)
    , m_field(new QLineEdit(this))
{
    m_note->setObjectName(u"hint"_s);
    m_note->setWordWrap(true);
    auto* head = new QHBoxLayout;
    head->addWidget(m_field, 1);
    head->addWidget(m_cancel);
    auto* rows = new QWidget;
    rows->setLayout(m_list);
    m_list->setContentsMargins(0, 0, 0, 0);
    m_list->setSpacing(0);
    m_list->addStretch(1);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(rows);
    m_field->setPlaceholderText(tr("line:42, grid:3,0, block:x(2,0), first:nan, when:count[0]>=3"));
    m_field->setObjectName(u"field"_s);
    m_field->setFixedHeight(kFieldHeight);
    m_field->setAccessibleName(tr("Another breakpoint"));
    m_field->setFont(views::font(11));
    m_field->installEventFilter(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(10, 5, 10, 6);
    column->setSpacing(3);
    column->addLayout(head);
    column->addWidget(m_note);
    column->addWidget(scroll, 1);
    connect(m_field, &QLineEdit::returnPressed, this, &BreakList::addTyped);
    connect(m_cancel, &QAbstractButton::clicked, this,
            [this] { m_session.breakpoints().cancelSearch(); });
    connect(&m_session.breakpoints(), &Breakpoints::changed, this, [this] {
        m_said.clear();
        fill();
    });
    connect(&m_session.breakpoints(), &Breakpoints::progressed, this, &BreakList::showStates);
    fill();
}

void BreakList::setTheme(layout::Theme theme)
{
    m_theme = theme;
    m_cancel->setTheme(theme);
    for (const Row& row : m_rows) {
        row.tag->setTheme(theme);
        row.remove->setTheme(theme);
    }
    update();
}

void BreakList::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.fillRect(rect(), views::color(Role::View, m_theme));
}

void BreakList::ask(const QString& text)
{
    m_field->setText(text);
    m_field->setFocus(Qt::ShortcutFocusReason);
    m_field->end(false);
}

// Return adds what was typed and Escape leaves the field; elsewhere both are shortcuts.
bool BreakList::eventFilter(QObject* watched, QEvent* event)
{
    const bool isKey =
        event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
    const int key = isKey ? static_cast<QKeyEvent*>(event)->key() : 0;
    const bool isEscape = key == Qt::Key_Escape;
    if (event->type() == QEvent::ShortcutOverride
        && (isEscape || key == Qt::Key_Return || key == Qt::Key_Enter)) {
        event->accept();
        return true;
    }
    if (event->type() == QEvent::KeyPress && isEscape) {
        m_field->clear();
        m_field->clearFocus();
        say({});
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void BreakList::addTyped()
{
    const QString text = m_field->text().trimmed();
    if (text.isEmpty()) {
        return;
    }
    const Status added = m_session.breakpoints().add(text.toStdString());
    if (added) {
        m_field->clear();
    }
    say(added ? QString() : views::text(added.error().message));
}

void BreakList::say(const QString& sentence)
{
    m_said = sentence;
    showNote();
}

BreakList::Row BreakList::makeRow(std::size_t index)
{
    const QString name = m_session.breakpoints().entries()[index].name();
    Row row;
    row.widget = new QWidget(this);
    row.widget->setFixedHeight(kBreakRow);
    row.tag = new BreakTag(row.widget);
    row.tag->setTheme(m_theme);
    row.tag->setAccessibleName(name);
    row.name = new QLabel(name, row.widget);
    row.name->setFont(views::font(11, Weight::Mono));
    row.status = new QLabel(row.widget);
    row.status->setObjectName(u"hint"_s);
    row.status->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row.status->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row.remove = new HeadButton(u"×"_s, row.widget);
    row.remove->setTheme(m_theme);
    row.remove->setToolTip(tr("Remove"));
    row.remove->setAccessibleName(tr("Remove %1").arg(name));
    auto* line = new QHBoxLayout(row.widget);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(6);
    line->addWidget(row.tag);
    line->addWidget(row.name);
    line->addWidget(row.status, 1);
    line->addWidget(row.remove);
    connect(row.tag, &QAbstractButton::clicked, this,
            [this, index](bool isOn) { m_session.breakpoints().setOn(index, isOn); });
    connect(row.remove, &QAbstractButton::clicked, this,
            [this, index] { m_session.breakpoints().remove(index); });
    return row;
}

// Rows are made anew only where the list is another one: a button that is being pressed stays.
void BreakList::fill()
{
    const auto& entries = m_session.breakpoints().entries();
    bool isSame = entries.size() == m_rows.size();
    for (std::size_t i = 0; isSame && i < entries.size(); ++i) {
        isSame = m_rows[i].name->text() == entries[i].name();
    }
    if (!isSame) {
        for (const Row& row : m_rows) {
            row.widget->hide();
            row.widget->deleteLater();
        }
        m_rows.clear();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            m_rows.push_back(makeRow(i));
            m_list->insertWidget(static_cast<int>(i), m_rows.back().widget);
        }
    }
    showStates();
    showNote();
}

// What was said last; else why a breakpoint that is on cannot stop this run.
void BreakList::showNote()
{
    QString note = m_said;
    for (const Breakpoints::Entry& entry : m_session.breakpoints().entries()) {
        if (note.isEmpty() && entry.isOn) {
            note = entry.why;
        }
    }
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
}

QString BreakList::caption() const
{
    std::int64_t stops = 0;
    const auto& entries = m_session.breakpoints().entries();
    for (const Breakpoints::Entry& entry : entries) {
        stops += entry.isOn ? static_cast<std::int64_t>(entry.stops.size()) : 0;
    }
    return entries.empty()
               ? tr("F8 goes to the next, Shift+F8 to the previous one")
               : tr("|%1| in this kernel · |%2| stops in this run")
                     .arg(views::text(countText(static_cast<std::int64_t>(entries.size()))),
                          views::text(countText(stops)));
}

QString BreakList::statusText(std::size_t index) const
{
    const Breakpoints::Entry& entry = m_session.breakpoints().entries()[index];
    if (!entry.why.isEmpty()) {
        return tr("not in this run");
    }
    if (entry.isAwaited) {
        const double share = m_session.breakpoints().share().value_or(0);
        return tr("looking, %1").arg(views::text(percentText(share, 0)));
    }
    if (entry.stops.empty()) {
        return !entry.isOn && trace::needsValues(entry.breakpoint) ? tr("off") : tr("never");
    }
    const auto count = static_cast<std::int64_t>(entry.stops.size());
    return views::text(counted(count, "stop", "stops"));
}

void BreakList::showStates()
{
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i].tag->setChecked(m_session.breakpoints().entries()[i].isOn);
        m_rows[i].status->setText(statusText(i));
        m_rows[i].status->setToolTip(m_session.breakpoints().entries()[i].why);
    }
    m_cancel->setVisible(m_session.breakpoints().isLooking());
}

} // namespace pallascope::app
