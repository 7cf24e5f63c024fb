#include "app/window/verdict_strip.h"

#include "app/window/dock.h"
#include "core/base/format.h"
#include "views/fonts.h"
#include "views/layout/overview/overview.h"
#include "views/scene_painter.h"

#include <QFontMetricsF>
#include <QPainter>

#include <cmath>

namespace pallascope::app {
namespace {

using namespace layout;
using namespace Qt::StringLiterals;
using views::color;

constexpr int kVerdictHeight = 26;
constexpr int kBar = 4; // px of the coloured left edge
constexpr int kTextLeft = 14;
constexpr int kProgress = 2; // px
constexpr int kProgressAfterMs = 200;
constexpr int kNoticeMs = 5000;
constexpr int kLine = 17;

} // namespace

// Painted on top of the verdict: an error covers it, progress and notices cover its right end.
class VerdictStrip::Message : public QWidget
{
public:
    using QWidget::QWidget;

    QString text;
    bool error = false;
    Theme theme = Theme::Light;

protected:
    void paintEvent(QPaintEvent* /*event*/) override
    {
        QPainter painter(this);
        painter.fillRect(rect(), color(Color(Role::Panel), theme));
        painter.setFont(views::font(12));
        painter.setPen(color(Color(error ? Role::Error : Role::Text2), theme));
        if (error) {
            painter.fillRect(0, 0, kBar, height() - 1, color(Color(Role::Error), theme));
            const int flags = static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter) | Qt::TextWordWrap;
            painter.drawText(QRect(kTextLeft, 0, width() - 2 * kTextLeft, height() - 1), flags,
                             text);
        } else {
            painter.drawText(rect().adjusted(0, 0, -kTextLeft, -1),
                             Qt::AlignRight | Qt::AlignVCenter, text);
        }
        painter.fillRect(0, height() - 1, width(), 1, color(Color(Role::Line), theme));
    }
};

VerdictStrip::VerdictStrip(Session& session, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_view(new views::SceneView(layoutVerdictStrip, views::SceneView::Use::Fixed, this))
    , m_message(new Message(this))
    , m_cancel(new HeadButton(tr("Cancel"), this))
    , m_bySteps(new HeadButton(tr("by step"), this))
    , m_letGo(new HeadButton(tr("let go"), this))
{
    setFixedHeight(kVerdictHeight);
    m_view->setOptions({.background = Role::Panel});
    m_message->hide();
    m_cancel->setCheckable(false);
    m_cancel->hide();
    m_letGo->setCheckable(false);
    m_bySteps->hide();
    m_letGo->hide();
    connect(m_letGo, &QAbstractButton::clicked, &m_session, &Session::letGo);
    connect(m_bySteps, &QAbstractButton::clicked, &m_session.viewpoint(), &Viewpoint::alignBySteps);
    connect(&m_session.viewpoint(), &Viewpoint::keptChanged, this, &VerdictStrip::place);
    m_delay.setSingleShot(true);
    m_delay.setInterval(kProgressAfterMs);
    m_notice.setSingleShot(true);
    m_notice.setInterval(kNoticeMs);
    connect(m_cancel, &QAbstractButton::clicked, &m_session.runs(), &Runs::cancel);
    connect(&m_delay, &QTimer::timeout, this, &VerdictStrip::follow);
    connect(&m_notice, &QTimer::timeout, this, [this] {
        m_noticeText.clear();
        follow();
    });
    connect(&m_session.runs(), &Runs::jobChanged, this, [this] {
        const JobStatus& job = m_session.runs().job();
        if (job.running && !m_delay.isActive() && !m_cancel->isVisible() && job.share == 0) {
            m_delay.start();
        }
        if (!job.notice.isEmpty()) {
            m_noticeText = job.notice;
            m_notice.start();
        }
        follow();
    });
    connect(&m_session, &Session::said, this, [this](const QString& sentence) {
        m_noticeText = sentence;
        m_notice.start();
        follow();
    });
}

QString VerdictStrip::message() const
{
    return m_message->isHidden() ? QString() : m_message->text;
}

void VerdictStrip::setTheme(Theme theme)
{
    m_theme = theme;
    m_message->theme = theme;
    for (HeadButton* button : {m_cancel, m_bySteps, m_letGo}) {
        button->setTheme(theme);
    }
    m_message->update();
    update();
}

void VerdictStrip::follow()
{
    const JobStatus& job = m_session.runs().job();
    const bool progress = job.running && !m_delay.isActive();
    m_message->error = !job.running && !job.error.isEmpty();
    if (m_message->error) {
        m_message->text = tr("%1: %2").arg(job.failed, job.error);
    } else if (progress) {
        m_message->text = tr("%1… %2").arg(job.what, views::text(percentText(job.share, 0)));
    } else {
        m_message->text = m_noticeText;
    }
    m_message->setVisible(!m_message->text.isEmpty());
    m_cancel->setVisible(progress);
    place();
    m_message->update();
    update();
}

void VerdictStrip::place()
{
    const bool error = m_message->error && !m_message->isHidden();
    int height = kVerdictHeight;
    if (error) {
        const QFontMetricsF metrics(views::font(12));
        const QRectF room(0, 0, std::max(1, width() - 2 * kTextLeft), 1000);
        const double wrapped =
            metrics.boundingRect(room, Qt::TextWordWrap, m_message->text).height();
        const int lines = static_cast<int>(std::ceil(wrapped / metrics.lineSpacing() - 0.01));
        height = std::max(kVerdictHeight, lines * kLine + 9);
    }
    setFixedHeight(height);
    const bool progress = !m_cancel->isHidden();
    const int line = kVerdictHeight - (progress ? kProgress : 0);
    int left = width(); // where progress or a notice begins; the verdict ends before it
    if (error) {
        m_message->setGeometry(0, 0, width(), height);
    } else if (!m_message->isHidden()) {
        const double wide =
            QFontMetricsF(views::font(12)).horizontalAdvance(m_message->text) + 2 * kTextLeft;
        const QSize button = m_cancel->sizeHint();
        const int end = progress ? width() - button.width() - kTextLeft : width();
        left = std::max(0, end - static_cast<int>(std::ceil(wide)));
        m_message->setGeometry(left, 0, end - left, line);
        m_cancel->setGeometry(end, 3, button.width(), button.height());
    }
    left = placeKept(left, m_session.viewpoint().state().kept != nullptr && !error);
    m_view->setGeometry(0, 0, left, line);
    m_cancel->raise();
}

int VerdictStrip::placeKept(int x, bool wanted)
{
    m_bySteps->setChecked(m_session.viewpoint().state().isKeptBySteps);
    for (HeadButton* button : {m_letGo, m_bySteps}) {
        button->setVisible(wanted);
        if (wanted) {
            const QSize size = button->sizeHint();
            x -= size.width() + 2;
            button->setGeometry(x, 3, size.width(), size.height());
        }
    }
    return x;
}

void VerdictStrip::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place();
}

void VerdictStrip::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.fillRect(rect(), color(Color(Role::Panel), m_theme));
    if (!m_cancel->isHidden()) {
        const int done = static_cast<int>(std::lround(m_session.runs().job().share * width()));
        painter.fillRect(0, height() - kProgress, width(), kProgress,
                         color(Color(Role::Line), m_theme));
        painter.fillRect(0, height() - kProgress, done, kProgress,
                         color(Color(Role::Focus), m_theme));
    }
}

} // namespace pallascope::app
