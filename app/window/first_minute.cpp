#include "app/window/first_minute.h"

#include "app/window/dock.h"
#include "app/window/docks.h"
#include "app/window/main_window.h"
#include "app/window/transport_bar.h"
#include "views/fonts.h"
#include "views/scene_painter.h"
#include "views/to_qt.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace pallascope::app {
namespace {

using namespace layout;
using namespace Qt::StringLiterals;
using views::color;

constexpr int kCount = 4;
constexpr int kWide = 264;   // px of a callout
constexpr int kBorder = 2;   // px, of callouts and of frames
constexpr int kApart = 8;    // px between a callout and its thing
constexpr int kLeastOf = 24; // px of a thing that counts as being in sight

} // namespace

// Goes round what is meant, and lets the pointer through.
class FirstMinute::Frame : public QWidget
{
public:
    explicit Frame(QWidget* parent)
        : QWidget(parent)
    {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        hide();
    }

    Theme theme = Theme::Light;

protected:
    void paintEvent(QPaintEvent* /*event*/) override
    {
        QPainter painter(this);
        views::paintFrame(painter, QRectF(rect()).adjusted(kBorder, kBorder, -kBorder, -kBorder),
                          Role::Focus, theme, kBorder);
    }
};

class FirstMinute::Callout : public QWidget
{
public:
    explicit Callout(QWidget* parent)
        : QWidget(parent)
        , text(new QLabel(this))
        , number(new QLabel(this))
        , next(new HeadButton(FirstMinute::tr("next"), this))
        , skip(new HeadButton(FirstMinute::tr("skip"), this))
    {
        setFixedWidth(kWide);
        setCursor(Qt::PointingHandCursor);
        text->setWordWrap(true);
        text->setFont(views::font(12));
        number->setObjectName(u"hint"_s);
        next->setCheckable(false);
        skip->setCheckable(false);
        auto* row = new QHBoxLayout;
        row->addWidget(number);
        row->addStretch(1);
        row->addWidget(skip);
        row->addWidget(next);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(12, 10, 8, 8);
        column->setSpacing(8);
        column->addWidget(text);
        column->addLayout(row);
        hide();
    }

    QLabel *text, *number;
    HeadButton *next, *skip;
    Theme theme = Theme::Light;

protected:
    void paintEvent(QPaintEvent* /*event*/) override
    {
        QPainter painter(this);
        painter.fillRect(rect(), color(Color(Role::Focus), theme));
        painter.fillRect(rect().adjusted(kBorder, kBorder, -kBorder, -kBorder),
                         color(Color(Role::View), theme));
    }

    // A click anywhere on it goes on.
    void mousePressEvent(QMouseEvent* /*event*/) override { next->click(); }
};

FirstMinute::FirstMinute(MainWindow& window)
    : QObject(&window)
    , m_window(window)
    , m_callout(new Callout(&window))
    , m_frame(new Frame(&window))
{
    m_entries = {
        {tr("<b>A step</b> is one point of the kernel's grid, or one round of its loop. → goes to "
            "the next step, ← back, and Space plays."),
         [this] {
             return QRect(
                 m_window.transport().mapTo(&m_window, QPoint(0, 0)),
                 QSize(m_window.transport().overview()->x(), m_window.transport().height()));
         }},
        {tr("<b>Slots</b> are the places for blocks in the memory on the chip. While the kernel "
            "uses one block, the next one arrives in another slot."),
         [this] { return ofSlots(); }},
        {tr("<b>The time line</b> shows what copies, computes and waits, each in its lane. Red and "
            "hatched is time lost by waiting. The wheel zooms, a drag pans."),
         [this] { return ofDock(u"timeline"_s); }},
        {tr("<b>Change</b> a size, a block, the buffers or the chip, and the kernel runs again. "
            "K keeps this run, to be compared with the next ones."),
         [this] { return ofDock(u"kernel"_s); }},
    };
    Q_ASSERT(m_entries.size() == kCount);
    connect(m_callout->next, &QAbstractButton::clicked, this, &FirstMinute::next);
    connect(m_callout->skip, &QAbstractButton::clicked, this, &FirstMinute::end);
    window.installEventFilter(this);
    for (const Dock* dock : window.docks().all()) {
        const_cast<Dock*>(dock)->installEventFilter(this);
    }
}

FirstMinute::~FirstMinute() = default;

int FirstMinute::count()
{
    return kCount;
}

void FirstMinute::show(int number)
{
    while (number < kCount && m_entries[static_cast<std::size_t>(number)].thing().isEmpty()) {
        ++number;
    }
    if (number >= kCount) {
        end();
        return;
    }
    m_shown = number;
    m_callout->text->setText(m_entries[static_cast<std::size_t>(number)].text);
    m_callout->number->setText(tr("%1 of %2").arg(number + 1).arg(kCount));
    m_callout->next->setText(number + 1 < kCount ? tr("next") : tr("done"));
    m_callout->setAccessibleName(m_callout->text->text().remove(u"<b>"_s).remove(u"</b>"_s));
    m_frame->show();
    m_callout->show();
    place();
}

void FirstMinute::next()
{
    show(m_shown + 1);
}

void FirstMinute::end()
{
    if (m_shown < 0) {
        return;
    }
    m_shown = -1;
    m_callout->hide();
    m_frame->hide();
    Q_EMIT ended();
}

QRect FirstMinute::callout() const
{
    return m_callout->geometry();
}

QRect FirstMinute::thing() const
{
    return isShown() ? m_entries[static_cast<std::size_t>(m_shown)].thing() : QRect();
}

void FirstMinute::setTheme(Theme theme)
{
    m_callout->theme = m_frame->theme = theme;
    m_callout->next->setTheme(theme);
    m_callout->skip->setTheme(theme);
    m_callout->update();
    m_frame->update();
}

QRect FirstMinute::ofDock(const QString& name) const
{
    const Dock* dock = m_window.docks().dock(name);
    if (!dock->isVisible() || dock->isFloating() || dock->visibleRegion().isEmpty()) {
        return {};
    }
    return {dock->mapTo(&m_window, QPoint(0, 0)), dock->size()};
}

// The part of the memory view with the slots, or all of it if it shows none.
QRect FirstMinute::ofSlots() const
{
    const QRect dock = ofDock(u"memory"_s);
    auto* view = qobject_cast<views::SceneView*>(m_window.docks().dock(u"memory"_s)->widget());
    if (dock.isEmpty() || view == nullptr) {
        return dock;
    }
    QRectF all;
    for (const Hit& hit : view->scene().hits) {
        if (is<target::Buffer>(hit.target)) {
            all |= views::toQt(hit.rect);
        }
    }
    const QRect in = all.toAlignedRect() & view->rect();
    return in.height() < kLeastOf ? dock : in.translated(view->mapTo(&m_window, QPoint(0, 0)));
}

// Beside the thing, where most of the callout is in the window and nothing of the thing is covered.
QRect FirstMinute::placeFor(const QSize& size, const QRect& thing) const
{
    const QRect window = m_window.rect().adjusted(kApart, kApart, -kApart, -kApart);
    const int midX = thing.center().x() - size.width() / 2;
    const QPoint right(thing.right() + 1 + kApart, thing.top());
    const QPoint left(thing.left() - kApart - size.width(), thing.top());
    const QPoint below(midX, thing.bottom() + 1 + kApart);
    const QPoint above(midX, thing.top() - kApart - size.height());
    const bool isWide = thing.width() > 2 * thing.height();
    QRect best;
    for (const QPoint& corner :
         isWide ? std::array{below, above, right, left} : std::array{right, left, below, above}) {
        QRect rect(corner, size);
        rect.moveLeft(std::clamp(rect.left(), window.left(),
                                 std::max(window.left(), window.right() + 1 - size.width())));
        rect.moveTop(std::clamp(rect.top(), window.top(),
                                std::max(window.top(), window.bottom() + 1 - size.height())));
        if (!rect.intersects(thing)) {
            return rect;
        }
        best = best.isNull() ? rect : best;
    }
    return best;
}

void FirstMinute::place()
{
    if (!isShown()) {
        return;
    }
    const QRect about = thing();
    if (about.isEmpty()) { // it was closed meanwhile
        show(m_shown + 1);
        return;
    }
    m_frame->setGeometry(about);
    m_callout->setFixedHeight(m_callout->layout()->heightForWidth(kWide));
    m_callout->setGeometry(placeFor(m_callout->size(), about));
    m_frame->raise();
    m_callout->raise();
}

bool FirstMinute::eventFilter(QObject* watched, QEvent* event)
{
    const QEvent::Type type = event->type();
    if (isShown()
        && (type == QEvent::Resize || type == QEvent::Move || type == QEvent::Hide
            || type == QEvent::Show)) {
        QMetaObject::invokeMethod(this, &FirstMinute::place, Qt::QueuedConnection);
    }
    return QObject::eventFilter(watched, event);
}

} // namespace pallascope::app
