#include "app/window/fields.h"

#include "views/fonts.h"
#include "views/scene_painter.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <bit>

namespace pallascope::app {
namespace {

using namespace layout;
using views::color;

constexpr int kTextInset = 7;
constexpr int kArrowRoom = 20;
// In smaller ranges, steps are by one, not by powers of two.
constexpr std::int64_t kSmallRange = 64;

void triangle(QPainter& painter, double x, double y, double w, double h, const QColor& ink)
{
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    painter.drawPolygon(QPolygonF({{x, y}, {x + w, y}, {x + w / 2, y + h}}));
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void paintField(QPainter& painter, const QWidget& field, const FieldLook& look)
{
    const QRectF box(field.rect());
    painter.fillRect(box, color(Color(field.isEnabled() ? Role::View : Role::Panel), look.theme));
    const bool thick = look.bad || field.hasFocus();
    Role edge = field.hasFocus() ? Role::Focus : Role::Edge;
    edge = look.bad ? Role::Error : edge;
    const double t = thick ? 2 : 1;
    views::paintFrame(painter, box.adjusted(t, t, -t, -t), edge, look.theme, static_cast<int>(t));
}

std::int64_t powerAbove(std::int64_t value)
{
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value))) * 2;
}

std::int64_t powerBelow(std::int64_t value)
{
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value - 1)));
}

} // namespace

ChoiceField::ChoiceField(QWidget* parent)
    : QComboBox(parent)
{
    setFont(views::font(11));
    setFixedHeight(kFieldHeight);
}

void ChoiceField::setLook(FieldLook look)
{
    m_look = look;
    update();
}

QSize ChoiceField::sizeHint() const
{
    int wide = 0;
    for (int i = 0; i < count(); ++i) {
        wide = std::max(wide, fontMetrics().horizontalAdvance(itemText(i)));
    }
    return {wide + kTextInset + kArrowRoom, kFieldHeight};
}

QSize ChoiceField::minimumSizeHint() const
{
    return {kTextInset + kArrowRoom, kFieldHeight};
}

void ChoiceField::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    paintField(painter, *this, m_look);
    painter.setFont(font());
    painter.setPen(color(Color(isEnabled() ? Role::Text : Role::Text3), m_look.theme));
    const QRect box = rect().adjusted(kTextInset, 0, -kArrowRoom + 4, 0);
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                     fontMetrics().elidedText(currentText(), Qt::ElideRight, box.width()));
    triangle(painter, width() - 13, height() / 2.0 - 2, 7, 4.5,
             color(Color(Role::Text2), m_look.theme));
}

// Scrolling a form must not change its values.
void ChoiceField::wheelEvent(QWheelEvent* event)
{
    hasFocus() ? QComboBox::wheelEvent(event) : event->ignore();
}

NumberField::NumberField(std::int64_t minimum, std::int64_t maximum, QWidget* parent)
    : QAbstractSpinBox(parent)
    , m_minimum(minimum)
    , m_maximum(maximum)
    , m_byOne(maximum <= kSmallRange)
{
    setFont(views::font(11));
    setFixedHeight(kFieldHeight);
    setFrame(false);
    lineEdit()->setFrame(false);
    lineEdit()->setFont(font());
    lineEdit()->setTextMargins(kTextInset - 4, 0, 0, 0);
    connect(this, &QAbstractSpinBox::editingFinished, this, &NumberField::commit);
}

void NumberField::setLook(FieldLook look)
{
    m_look = look;
    update();
}

void NumberField::setValueText(const QString& text)
{
    m_committed = text;
    if (lineEdit()->text() != text) {
        lineEdit()->setText(text);
        lineEdit()->setCursorPosition(0); // where there is little room, the first digits show
        placeEdit();
    }
}

int NumberField::leastWidth() const
{
    constexpr int kAround = 13; // px: two frames, the margins of the edit and its cursor
    return fontMetrics().horizontalAdvance(lineEdit()->text()) + kAround;
}

QSize NumberField::sizeHint() const
{
    return {72, kFieldHeight};
}

QSize NumberField::minimumSizeHint() const
{
    return {40, kFieldHeight};
}

// Return commits and Escape takes back; in a field, these keys must not reach the window. Where
// nothing has been typed, there is nothing of the field's to undo: then the window does.
bool NumberField::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* const pressed = static_cast<QKeyEvent*>(event);
        const int key = pressed->key();
        if (lineEdit()->text().trimmed() == m_committed
            && (pressed->matches(QKeySequence::Undo) || pressed->matches(QKeySequence::Redo))) {
            event->ignore();
            return true;
        }
        if (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Escape) {
            event->accept();
            return true;
        }
    }
    return QAbstractSpinBox::event(event);
}

void NumberField::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) {
        lineEdit()->setText(m_committed);
        clearFocus();
        return;
    }
    QAbstractSpinBox::keyPressEvent(event);
}

void NumberField::commit()
{
    const QString now = lineEdit()->text().trimmed();
    if (now != m_committed) {
        m_committed = now;
        Q_EMIT committed(now);
    }
}

void NumberField::stepBy(int steps)
{
    bool valid = false;
    std::int64_t value = lineEdit()->text().toLongLong(&valid);
    if (!valid) {
        return;
    }
    value = std::clamp(value, m_minimum, m_maximum);
    for (int i = 0; i < std::abs(steps); ++i) {
        if (m_byOne) {
            value += steps > 0 ? 1 : -1;
        } else {
            value = steps > 0 ? powerAbove(value) : (value > 1 ? powerBelow(value) : value);
        }
        value = std::clamp(value, m_minimum, m_maximum);
    }
    lineEdit()->setText(QString::number(value));
    commit();
}

QValidator::State NumberField::validate(QString& /*input*/, int& /*position*/) const
{
    return QValidator::Acceptable;
}

QAbstractSpinBox::StepEnabled NumberField::stepEnabled() const
{
    return StepUpEnabled | StepDownEnabled;
}

void NumberField::wheelEvent(QWheelEvent* event)
{
    hasFocus() ? QAbstractSpinBox::wheelEvent(event) : event->ignore();
}

void NumberField::resizeEvent(QResizeEvent* event)
{
    QAbstractSpinBox::resizeEvent(event);
    placeEdit();
}

void NumberField::showEvent(QShowEvent* event)
{
    QAbstractSpinBox::showEvent(event);
    placeEdit();
}

// A style that changes, as with the theme, places the edit anew.
void NumberField::changeEvent(QEvent* event)
{
    QAbstractSpinBox::changeEvent(event);
    placeEdit();
}

// Places the edit inside our frame, which the style does not know about.
void NumberField::placeEdit()
{
    constexpr int kFrame = 2;
    const int right = hasArrows() ? kArrowRoom : 2 * kFrame;
    lineEdit()->setGeometry(kFrame, kFrame, width() - right, height() - 2 * kFrame);
}

// A narrow field keeps its room for the number; the keys still step.
bool NumberField::hasArrows() const
{
    const int number = fontMetrics().horizontalAdvance(lineEdit()->text());
    return width() >= kArrowRoom + kTextInset + number + kTextInset;
}

void NumberField::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    paintField(painter, *this, m_look);
    if (!hasArrows()) {
        return;
    }
    const QColor ink = color(Color(Role::Text3), m_look.theme);
    const double x = width() - 13;
    const double middle = height() / 2.0;
    triangle(painter, x, middle - 2, 6, -3.5, ink);
    triangle(painter, x, middle + 2, 6, 3.5, ink);
}

} // namespace pallascope::app
