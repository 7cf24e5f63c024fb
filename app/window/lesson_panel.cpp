#include "app/window/lesson_panel.h"

#include "views/fonts.h"
#include "views/scene_painter.h"

#include <QPainter>
#include <QResizeEvent>

#include <fmt/format.h>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;
using layout::Weight;
using study::LessonClaim;
using study::LessonPart;
using views::text;

constexpr int kTextSize = 12;
constexpr int kHighEnough = 128; // px: seven lines, or five buttons
constexpr int kWideEnough = 760; // px: the task stands beside the text
constexpr int kMostText = 780;   // px; longer lines are hard to read

QString escaped(const std::string& utf8)
{
    return text(utf8).toHtmlEscaped();
}

QString withFont(const QString& html, Weight weight)
{
    const QFont font = views::font(kTextSize, weight);
    return u"<span style=\"font-family:'%1'; font-weight:%2\">%3</span>"_s.arg(font.family())
        .arg(font.weight())
        .arg(html);
}

QString mono(const QString& html)
{
    return withFont(html, Weight::Mono);
}

QString strong(const QString& html)
{
    return withFont(html, Weight::SemiBold);
}

QString claimHtml(const LessonClaim& claim, layout::Theme theme)
{
    const QString now =
        (claim.holds ? LessonPanel::tr("it is %1") : LessonPanel::tr("not yet: it is %1"))
            .arg(escaped(claim.actual));
    const QString ink = views::color(layout::Color(layout::Role::Text2), theme).name();
    return u"%1 %2 <span style=\"color:%3\">%4</span>"_s.arg(claim.holds ? u"✓"_s : u"○"_s,
                                                             mono(escaped(claim.text)), ink, now);
}

QLabel* makeText(QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setTextFormat(Qt::RichText);
    label->setWordWrap(true);
    label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    label->setFont(views::font(kTextSize));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

} // namespace

LessonPanel::LessonPanel(LessonGuide& guide, QWidget* parent)
    : QWidget(parent)
    , m_guide(guide)
    , m_pages(new QStackedWidget(this))
{
    m_pages->addWidget(makeList());
    m_pages->addWidget(makeStep());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(10, 4, 10, 6);
    column->addWidget(m_pages);
    connect(&guide, &LessonGuide::changed, this, &LessonPanel::refresh);
    refresh();
}

HeadButton* LessonPanel::addButton(const QString& label, QBoxLayout* into)
{
    auto* button = new HeadButton(label, this);
    button->setCheckable(false);
    into->addWidget(button, 0, Qt::AlignLeft);
    m_buttons.push_back(button);
    return button;
}

QWidget* LessonPanel::makeList()
{
    auto* list = new QWidget(this);
    auto* column = new QVBoxLayout(list);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    for (const NamedLesson& each : builtInLessons()) {
        auto* row = new QHBoxLayout;
        m_offers.push_back(addButton(text(each.lesson.title), row));
        auto* about = new QLabel(text(each.lesson.about), list);
        about->setObjectName(u"hint"_s);
        about->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        row->addWidget(about, 1);
        column->addLayout(row);
        connect(m_offers.back(), &QAbstractButton::clicked, this,
                [this, &each] { m_guide.begin(each); });
    }
    column->addStretch(1);
    return list;
}

QWidget* LessonPanel::makeStep()
{
    auto* step = new QWidget(this);
    m_columns = new QBoxLayout(QBoxLayout::LeftToRight, step);
    m_columns->setContentsMargins(0, 0, 0, 0);
    m_columns->setSpacing(16);
    auto* both = new QWidget(step);
    auto* texts = new QBoxLayout(QBoxLayout::LeftToRight, both);
    texts->setContentsMargins(0, 0, 0, 0);
    texts->setSpacing(20);
    m_text = makeText(both);
    m_task = makeText(both);
    m_text->setMaximumWidth(kMostText);
    texts->addWidget(m_text, 5);
    texts->addWidget(m_task, 4);
    texts->addStretch(1);
    m_scroll = new QScrollArea(step);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setWidgetResizable(true);
    m_scroll->setWidget(both);
    m_columns->addWidget(m_scroll, 1);
    m_moves = new QBoxLayout(QBoxLayout::TopToBottom);
    m_moves->setSpacing(3);
    m_next = addButton(tr("next step"), m_moves);
    m_next->setLeading(true);
    m_back = addButton(tr("step before"), m_moves);
    m_again = addButton(tr("run of this step"), m_moves);
    m_answer = addButton(tr("show the answer"), m_moves);
    m_leave = addButton(tr("leave the lesson"), m_moves);
    m_moves->addStretch(1);
    m_columns->addLayout(m_moves);
    connect(m_next, &QAbstractButton::clicked, this, [this] { m_guide.go(1); });
    connect(m_back, &QAbstractButton::clicked, this, [this] { m_guide.go(-1); });
    connect(m_leave, &QAbstractButton::clicked, &m_guide, &LessonGuide::leave);
    connect(m_answer, &QAbstractButton::clicked, &m_guide, &LessonGuide::showAnswer);
    connect(m_again, &QAbstractButton::clicked, &m_guide, &LessonGuide::showStep);
    return step;
}

// Figures are bold. A lesson that names what its report lacks shows why.
QString LessonPanel::richText(const std::string& marked) const
{
    const auto parts = study::lessonText(marked, m_guide.report(), m_guide.reportBefore());
    if (!parts) {
        const QString ink = views::color(layout::Color(layout::Role::Error), m_theme).name();
        return u"<span style=\"color:%1\">%2</span>"_s.arg(ink, escaped(parts.error().message));
    }
    QString html;
    for (const LessonPart& part : *parts) {
        const QString plain = escaped(part.text);
        html += part.kind == LessonPart::Kind::Figure ? strong(plain)
                : part.kind == LessonPart::Kind::Name ? mono(plain)
                                                      : plain;
    }
    return html;
}

QString LessonPanel::taskText() const
{
    const study::LessonTask& task = *m_guide.step().task;
    QStringList names;
    for (const std::string& name : task.vary) {
        names.append(mono(escaped(name)));
    }
    const auto& progress = m_guide.progress();
    const bool isReached = progress && progress->isReached();
    QStringList lines{u"%1 %2 %3"_s.arg(strong(isReached ? tr("Reached.") : tr("Your turn.")),
                                        richText(task.text),
                                        tr("Change %1 in Kernel.").arg(names.join(u", "_s)))};
    if (progress && !progress->apart.empty()) {
        lines.append(escaped(progress->apart));
    } else if (progress) {
        for (const LessonClaim& claim : progress->claims) {
            lines.append(claimHtml(claim, m_theme));
        }
    }
    if (m_guide.isAnswerShown()) {
        lines.append(tr("An answer is %1.").arg(mono(escaped(assignmentsText(task.answer)))));
    }
    return lines.join(u"<br>"_s);
}

void LessonPanel::refresh()
{
    const bool isTaken = m_guide.lesson().has_value();
    m_pages->setCurrentIndex(isTaken ? 1 : 0);
    if (isTaken) {
        const study::LessonStep& step = m_guide.step();
        m_text->setText(u"%1<br>%2"_s.arg(strong(escaped(step.title)), richText(step.text)));
        m_task->setVisible(step.task.has_value() || !m_guide.isOwnRun());
        m_task->setText(step.task ? taskText() : tr("The run that is shown is not this step's."));
        m_answer->setVisible(step.task.has_value());
        m_answer->setEnabled(!m_guide.report().empty());
        m_again->setEnabled(!m_guide.isOwnRun());
        m_next->setEnabled(m_guide.canGo(1));
        m_back->setEnabled(m_guide.canGo(-1));
    }
    Q_EMIT captionChanged();
}

QString LessonPanel::caption() const
{
    return m_guide.lesson() ? tr("%1 · step |%2| of |%3|")
                                  .arg(text(m_guide.lesson()->lesson.title))
                                  .arg(m_guide.number() + 1)
                                  .arg(m_guide.count())
                            : tr("choose one of |%1|").arg(builtInLessons().size());
}

void LessonPanel::setTheme(layout::Theme theme)
{
    m_theme = theme;
    for (HeadButton* button : m_buttons) {
        button->setTheme(theme);
    }
    refresh();
    update();
}

QSize LessonPanel::sizeHint() const
{
    return {640, kHighEnough};
}

// Beside each other where there is room, else one below the other.
void LessonPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    const bool isWide = event->size().width() > kWideEnough;
    m_columns->setDirection(isWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    m_moves->setDirection(isWide ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    static_cast<QBoxLayout*>(m_scroll->widget()->layout())
        ->setDirection(isWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

void LessonPanel::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.fillRect(rect(), views::color(layout::Color(layout::Role::View), m_theme));
}

} // namespace pallascope::app
