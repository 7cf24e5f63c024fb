#include "app/window/transport_bar.h"

#include "app/window/fields.h"
#include "core/trace/loop_rounds.h"
#include "views/fonts.h"
#include "views/layout/run/position.h"
#include "views/scene_painter.h"

#include <QAbstractItemView>
#include <QPainter>

#include <cmath>

namespace pallascope::app {
namespace {

using namespace layout;
using namespace Qt::StringLiterals;
using views::color;

constexpr int kBarHeight = 41; // px, with a line above and a line below
constexpr int kBarPadding = 10;
constexpr int kBarTop = 8;
constexpr int kButtonHeight = 26;
constexpr int kButtonWidth = 28;
constexpr int kPlayWidth = 34;
constexpr int kIcon = 12;
constexpr int kUnitWidth = 112; // "by loop round"
constexpr int kLoopRole = Qt::UserRole + 1;
constexpr int kSpeedWidth = 132; // "as fast as possible"
constexpr int kLeastStrip = 160;
// The scene of the strip is higher than the bar in it, because the playhead and the range stick
// out.
constexpr int kStripTop = 5;
constexpr int kStripHeight = 32;

bool isMain(TransportIcon icon)
{
    return icon == TransportIcon::Play || icon == TransportIcon::Pause;
}

void paintIcon(QPainter& p, TransportIcon icon, double x, double y, const QColor& ink)
{
    const auto shape = [&](std::initializer_list<QPointF> points) {
        QPolygonF polygon;
        for (const QPointF& point : points) {
            polygon.append(point + QPointF(x, y));
        }
        p.drawPolygon(polygon);
    };
    const auto bar = [&](double bx, double by, double w, double h) {
        p.fillRect(QRectF(x + bx, y + by, w, h), ink);
    };
    p.setPen(Qt::NoPen);
    p.setBrush(ink);
    p.setRenderHint(QPainter::Antialiasing, true);
    switch (icon) {
    case TransportIcon::Play:
        shape({{2, 0}, {12, 6}, {2, 12}});
        break;
    case TransportIcon::Pause:
        bar(2, 0, 4, 12);
        bar(8, 0, 4, 12);
        break;
    case TransportIcon::Home:
        bar(0, 1, 2, 10);
        shape({{11, 1}, {4, 6}, {11, 11}});
        break;
    case TransportIcon::End:
        bar(10, 1, 2, 10);
        shape({{1, 1}, {8, 6}, {1, 11}});
        break;
    case TransportIcon::Back:
        shape({{8, 1}, {1, 6}, {8, 11}});
        bar(10, 1, 2, 10);
        break;
    case TransportIcon::Forward:
        shape({{4, 1}, {11, 6}, {4, 11}});
        bar(0, 1, 2, 10);
        break;
    }
}

} // namespace

TransportButton::TransportButton(TransportIcon icon, const QString& name, QWidget* parent)
    : QAbstractButton(parent)
    , m_icon(icon)
{
    setAccessibleName(name);
    setFocusPolicy(Qt::TabFocus);
}

void TransportButton::setIcon(TransportIcon icon)
{
    m_icon = icon;
    update();
}

void TransportButton::setTheme(Theme theme)
{
    m_theme = theme;
    update();
}

QSize TransportButton::sizeHint() const
{
    return {isMain(m_icon) ? kPlayWidth : kButtonWidth, kButtonHeight};
}

void TransportButton::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    const bool main = isMain(m_icon);
    const bool pressed = isDown();
    Role fill =
        main ? Role::Focus : (pressed || underMouse() ? Role::SelectBackground : Role::View);
    fill = isEnabled() ? fill : Role::Chrome;
    painter.fillRect(rect(), color(Color(fill), m_theme));
    if (!main || !isEnabled()) {
        views::paintFrame(painter, QRectF(rect()).adjusted(1, 1, -1, -1), Role::Line, m_theme, 1);
    }
    if (hasFocus()) {
        const Role ring = main ? Role::Text : Role::Focus;
        views::paintFrame(painter, QRectF(rect()).adjusted(2, 2, -2, -2), ring, m_theme, 2);
    }
    Role ink = main ? Role::View : Role::Text;
    ink = isEnabled() ? ink : Role::Text3;
    paintIcon(painter, m_icon, (width() - kIcon) / 2.0 - (main ? 1 : 0), kBarTop,
              color(Color(ink), m_theme));
}

TransportBar::TransportBar(Session& session, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_unit(new ChoiceField(this))
    , m_speed(new ChoiceField(this))
    , m_overview(new views::OverviewView(this))
{
    setFixedHeight(kBarHeight);
    add(TransportIcon::Home, tr("First"), [this] { m_session.viewpoint().home(); });
    add(TransportIcon::Back, tr("Back"),
        [this] { m_session.viewpoint().step(m_session.viewpoint().unit(), -1); });
    m_play = add(TransportIcon::Play, tr("Play"), [this] {
        m_session.viewpoint().setPlaying(!m_session.viewpoint().state().playing);
    });
    add(TransportIcon::Forward, tr("Forward"),
        [this] { m_session.viewpoint().step(m_session.viewpoint().unit(), 1); });
    add(TransportIcon::End, tr("Last"), [this] { m_session.viewpoint().end(); });

    m_unit->setAccessibleName(tr("What Back and Forward move by"));
    showUnits();
    m_speed->setAccessibleName(tr("Playback speed"));
    showSpeed();
    for (ChoiceField* field : {m_unit, m_speed}) {
        field->setFixedHeight(kButtonHeight);
    }
    connect(m_unit, &QComboBox::activated, this, &TransportBar::chooseUnit);
    connect(&m_session.viewpoint(), &Viewpoint::unitChanged, this, &TransportBar::showUnits);
    connect(m_speed, &QComboBox::activated, this,
            [this](int index) { m_session.viewpoint().playback().setSpeed(index); });
    connect(&m_session.viewpoint().playback(), &Playback::speedChanged, this,
            &TransportBar::showSpeed);
    connect(&m_session.viewpoint(), &Viewpoint::playingChanged, this, [this] {
        const bool playing = m_session.viewpoint().state().playing;
        m_play->setIcon(playing ? TransportIcon::Pause : TransportIcon::Play);
        m_play->setAccessibleName(playing ? tr("Pause") : tr("Play"));
    });
    connect(&m_session.viewpoint(), &Viewpoint::nowChanged, this, &TransportBar::showPosition);
    connect(&m_session.viewpoint(), &Viewpoint::runChanged, this, &TransportBar::showPosition);
    connect(m_overview, &views::OverviewView::timeChosen, &m_session.viewpoint(),
            &Viewpoint::setNow);
    connect(m_overview, &views::OverviewView::rangeChosen, &m_session.viewpoint(),
            &Viewpoint::setVisible);
}

TransportButton* TransportBar::add(TransportIcon icon, const QString& name,
                                   std::function<void()> act)
{
    auto* button = new TransportButton(icon, name, this);
    connect(button, &QAbstractButton::clicked, this, std::move(act));
    m_buttons.push_back(button);
    return button;
}

void TransportBar::setTheme(Theme theme)
{
    m_theme = theme;
    for (TransportButton* button : m_buttons) {
        button->setTheme(theme);
    }
    m_unit->setLook({theme, false});
    m_speed->setLook({theme, false});
    update();
}

// The list goes from slow to fast, which differs from run to run.
void TransportBar::showSpeed()
{
    const Playback& playback = m_session.viewpoint().playback();
    m_speed->clear();
    for (const Speed& speed : playback.speeds()) {
        m_speed->addItem(speed.label);
    }
    m_speed->setCurrentIndex(playback.speed());
}

namespace {

QString nameOf(StepUnit unit)
{
    switch (unit) {
    case StepUnit::Step:
        return TransportBar::tr("by step");
    case StepUnit::Round:
        return TransportBar::tr("by loop round");
    case StepUnit::Operation:
        return TransportBar::tr("by operation");
    case StepUnit::Copy:
        return TransportBar::tr("by copy");
    case StepUnit::Event:
        return TransportBar::tr("by event");
    case StepUnit::Wait:
        return TransportBar::tr("by wait");
    case StepUnit::Line:
        return TransportBar::tr("by line");
    }
    return {};
}

// The loops that can be marked: those that have rounds to go by.
std::vector<std::int32_t> markable(const RunView& run)
{
    std::vector<std::int32_t> loops;
    for (std::int32_t loop = 0; static_cast<std::size_t>(loop) < run.trace->info().loops.size();
         ++loop) {
        if (run.index->rounds().size(loop) > 1) {
            loops.push_back(loop);
        }
    }
    return loops;
}

// The items by which one goes from round to round, with their loops. In a run of grid steps one of
// the loops is always marked, so that the position can say which round it is.
std::vector<std::pair<QString, std::int32_t>> roundItems(const RunView& run)
{
    const std::vector<std::int32_t> loops = markable(run);
    std::vector<std::pair<QString, std::int32_t>> items;
    if (!goesBySteps(run) || loops.size() == 1) {
        items.emplace_back(nameOf(StepUnit::Round),
                           goesBySteps(run) ? loops.front() : trace::kNone);
    }
    for (const std::int32_t loop : loops) {
        if (loops.size() > 1) {
            const std::string name = trace::loopName(run.trace->info().loops, loop);
            items.emplace_back(TransportBar::tr("by round of %1").arg(QString::fromStdString(name)),
                               loop);
        }
    }
    return items;
}

} // namespace

// An item's data is the unit; that of a round also has a second one, the loop.
void TransportBar::showUnits()
{
    const Viewpoint& viewpoint = m_session.viewpoint();
    const auto& run = viewpoint.run();
    m_unit->clear();
    const auto add = [&](const QString& name, StepUnit unit, std::int32_t loop) {
        m_unit->addItem(name, static_cast<int>(unit));
        const int item = m_unit->count() - 1;
        m_unit->setItemData(item, loop, kLoopRole);
        const bool isItsLoop = unit != StepUnit::Round || loop == viewpoint.state().loop;
        if (unit == viewpoint.unit() && isItsLoop) {
            m_unit->setCurrentIndex(item);
        }
    };
    for (const StepUnit unit : viewpoint.units()) {
        if (unit != StepUnit::Round || !run) {
            add(nameOf(unit), unit, trace::kNone);
            continue;
        }
        for (const auto& [name, loop] : roundItems(*run)) {
            add(name, unit, loop);
        }
    }
    m_unit->view()->setMinimumWidth(m_unit->view()->sizeHintForColumn(0) + 2 * kBarPadding);
    place(); // a position with rounds is longer
    update();
}

void TransportBar::chooseUnit(int index)
{
    const auto unit = static_cast<StepUnit>(m_unit->itemData(index).toInt());
    if (unit == StepUnit::Round) {
        m_session.viewpoint().markLoop(m_unit->itemData(index, kLoopRole).toInt());
    } else {
        m_session.viewpoint().setUnit(unit);
    }
}

void TransportBar::showPosition()
{
    const auto& run = m_session.viewpoint().run();
    if (!run) {
        return;
    }
    const bool ran = run->notRun.empty();
    for (TransportButton* button : m_buttons) {
        button->setEnabled(ran);
    }
    const QString position =
        ran ? views::text(layout::positionText(*run, m_session.viewpoint().state()))
            : tr("not run");
    if (position != m_position) {
        m_position = position;
        setAccessibleDescription(QString(position).remove(QLatin1Char('|')));
        place();
        update(); // also where a longer one stood
    }
}

void TransportBar::place()
{
    int x = kBarPadding;
    for (TransportButton* button : m_buttons) {
        const QSize size = button->sizeHint();
        button->setGeometry(x, kBarTop, size.width(), size.height());
        x += size.width() + 3;
    }
    x += 7;
    m_unit->setGeometry(x, kBarTop, kUnitWidth, kButtonHeight);
    x += kUnitWidth + 6;
    m_speed->setGeometry(x, kBarTop, kSpeedWidth, kButtonHeight);
    x += kSpeedWidth + 18;
    // The room is that of the widest position in this run, its end at its last step, so that the
    // strip keeps its width.
    if (m_session.viewpoint().run()) {
        const double wide =
            views::richWidth(views::text(layout::widestPositionText(
                                 *m_session.viewpoint().run(), m_session.viewpoint().state().loop)),
                             12);
        m_positionWidth = static_cast<int>(std::ceil(wide)) + 8;
    }
    const bool fits = width() - x - m_positionWidth - 24 >= kLeastStrip;
    const int room = fits ? m_positionWidth + 14 : 0;
    const int strip = std::max(0, width() - x - room - kBarPadding);
    m_overview->setGeometry(x, kStripTop, strip, kStripHeight);
    m_positionX = fits ? x + strip + 14 : width();
}

void TransportBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place();
}

void TransportBar::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.fillRect(rect(), color(Color(Role::Chrome), m_theme));
    painter.fillRect(0, 0, width(), 1, color(Color(Role::Line), m_theme));
    painter.fillRect(0, height() - 1, width(), 1, color(Color(Role::Line), m_theme));
    if (m_positionX < width()) {
        const double wide = std::min<double>(views::richWidth(m_position, 12) + 2, m_positionWidth);
        const QRectF room(width() - kBarPadding - wide, 1, wide, height() - 2);
        views::paintRich(painter, room, m_position, 12, m_theme);
    }
}

} // namespace pallascope::app
