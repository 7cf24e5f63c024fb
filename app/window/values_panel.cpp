#include "app/window/values_panel.h"

#include "core/base/format.h"
#include "core/base/shape.h"
#include "views/fonts.h"
#include "views/scene_painter.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <bit>

namespace pallascope::app {
namespace {

using namespace layout;
using namespace Qt::StringLiterals;
using views::text;

constexpr int kEdge = 10, kBetween = 6; // px around and between fields
constexpr int kAwaitedAfterMs = 100;    // a shorter wait shows nothing

QHBoxLayout* row()
{
    auto* layout = new QHBoxLayout;
    layout->setContentsMargins(kEdge, 0, kEdge, 0);
    layout->setSpacing(kBetween);
    return layout;
}

} // namespace

ValuesPanel::ValuesPanel(Session& session, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_picture(new views::ValuesPicture(this))
    , m_ref(new ChoiceField(this))
    , m_agent(new ChoiceField(this))
    , m_side(new ChoiceField(this))
    , m_range(new HeadButton(tr("range"), this))
    , m_log(new HeadButton(tr("log"), this))
    , m_lock(new HeadButton(tr("lock"), this))
    , m_computeAll(new HeadButton(tr("Compute all values"), this))
    , m_history(new ValuesHistory(this))
    , m_note(new QLabel(this))
    , m_second(new QWidget(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(4);
    column->addLayout(firstRow());
    m_second->setLayout(row());
    m_second->layout()->addWidget(m_agent);
    static_cast<QHBoxLayout*>(m_second->layout())->addStretch(1);
    m_second->hide();
    column->addWidget(m_second);
    column->addLayout(noteRow());
    column->addWidget(m_picture, 3);
    column->addWidget(m_history, 2);
    m_awaitedDelay.setSingleShot(true);
    m_awaitedDelay.setInterval(kAwaitedAfterMs);
    connectFields();
    connectJobs();
    connectSession();
    connectHistory();
}

QLayout* ValuesPanel::firstRow()
{
    m_ref->setAccessibleName(tr("Ref"));
    m_agent->setAccessibleName(tr("Agent"));
    m_side->setAccessibleName(tr("Elements of a cell"));
    m_side->addItem(tr("fit"), 0);
    for (std::int64_t side = 1; side <= kLargestValuesSide; side *= 2) {
        m_side->addItem(tr("1 cell = %1×%1").arg(side), QVariant::fromValue<qint64>(side));
    }
    m_range->setToolTip(tr("Colours by value; diverging where both signs occur"));
    m_log->setToolTip(tr("Colours by the logarithm of the magnitude"));
    m_lock->setToolTip(tr("Colours keep their meaning from step to step: the scale only grows"));
    m_range->setChecked(true);
    m_lock->setChecked(true);
    auto* first = row();
    first->addWidget(m_ref, 3);
    first->addWidget(m_side, 2);
    for (HeadButton* button : {m_range, m_log, m_lock}) {
        first->addWidget(button);
    }
    return first;
}

QLayout* ValuesPanel::noteRow()
{
    m_note->setObjectName(u"hint"_s);
    m_note->setWordWrap(true);
    m_note->setFont(views::font(11));
    m_note->hide();
    m_computeAll->setChecked(true); // which makes it look like a button
    m_computeAll->hide();
    auto* last = row();
    last->addWidget(m_note, 1);
    last->addWidget(m_computeAll);
    return last;
}

void ValuesPanel::connectFields()
{
    connect(m_ref, &QComboBox::activated, this, &ValuesPanel::chooseRef);
    connect(m_agent, &QComboBox::activated, this, &ValuesPanel::ask);
    connect(m_side, &QComboBox::activated, this,
            [this](int index) { setSide(m_side->itemData(index).toLongLong(), {}); });
    const auto choose = [this](ValuesScale scale) {
        m_choice.scale = scale;
        m_range->setChecked(scale == ValuesScale::Range);
        m_log->setChecked(scale == ValuesScale::Log);
        redraw();
    };
    connect(m_range, &QAbstractButton::clicked, this, [choose] { choose(ValuesScale::Range); });
    connect(m_log, &QAbstractButton::clicked, this, [choose] { choose(ValuesScale::Log); });
    connect(m_lock, &QAbstractButton::clicked, this, [this](bool checked) {
        m_isLocked = checked;
        m_held.reset();
        redraw();
    });
    connect(m_computeAll, &QAbstractButton::clicked, this, [this] {
        m_computeAll->setChecked(true);
        if (const auto& shown = m_session.runs().shown()) {
            RunRequest next = shown->request;
            next.fullValues = true;
            m_session.runs().start(next);
        }
    });
    connect(m_picture, &views::ValuesPicture::elementChosen, this, [this](std::int64_t element) {
        chooseElement(indexOf(m_picture->sight()->shape, element));
    });
    connect(m_picture, &views::ValuesPicture::cornerChosen, this,
            [this](std::int64_t row, std::int64_t column) {
                m_choice.corner = {row, column};
                ask();
            });
    connect(m_picture, &views::ValuesPicture::cursorMoved, this, &ValuesPanel::moveCursor);
    connect(m_picture, &views::ValuesPicture::zoomed, this, &ValuesPanel::zoom);
    connect(m_picture, &views::ValuesPicture::copyWanted, this, &ValuesPanel::copy);
    connect(m_picture, &views::ValuesPicture::resized, this, &ValuesPanel::ask);
}

void ValuesPanel::connectJobs()
{
    connect(&m_jobs, &ValuesJobs::opened, this, &ValuesPanel::takeRefs);
    connect(&m_jobs, &ValuesJobs::answered, this, &ValuesPanel::take);
    connect(&m_jobs, &ValuesJobs::compared, this, &ValuesPanel::takeKept);
    connect(&m_jobs, &ValuesJobs::failed, this, &ValuesPanel::fail);
    connect(&m_jobs, &ValuesJobs::progressed, this, &ValuesPanel::showAwaited);
    connect(&m_jobs, &ValuesJobs::copied, this,
            [](const QString& copied) { QApplication::clipboard()->setText(copied); });
    connect(&m_jobs, &ValuesJobs::saved, this, [this](const QString&, const QString& error) {
        if (!error.isEmpty()) {
            m_session.runs().report(error);
        }
    });
    connect(&m_awaitedDelay, &QTimer::timeout, this, &ValuesPanel::showAwaited);
}

void ValuesPanel::connectSession()
{
    connect(&m_session.viewpoint(), &Viewpoint::runChanged, this, &ValuesPanel::followRun);
    connect(&m_session.viewpoint(), &Viewpoint::nowChanged, this, &ValuesPanel::ask);
    connect(&m_session.viewpoint(), &Viewpoint::selectionChanged, this,
            &ValuesPanel::followSelection);
}

void ValuesPanel::setTheme(Theme theme)
{
    m_theme = theme;
    for (ChoiceField* field : {m_ref, m_agent, m_side}) {
        field->setLook({theme, false});
    }
    m_history->setTheme(theme);
    for (HeadButton* button : {m_range, m_log, m_lock, m_computeAll}) {
        button->setTheme(theme);
    }
    for (const auto& [axis, field] : m_axes) {
        field->setLook({theme, false});
    }
    update();
}

QString ValuesPanel::noteText() const
{
    return m_note->isHidden() ? QString() : m_note->text();
}

void ValuesPanel::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.fillRect(rect(), views::color(Color(Role::View), m_theme));
}

void ValuesPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    openIfSeen();
    ask();
}

void ValuesPanel::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    menu.addAction(tr("Copy as NumPy"), this, &ValuesPanel::copy);
    menu.addAction(tr("Save as .npy…"), this, &ValuesPanel::save);
    menu.addAction(tr("History of the element"), this, [this] { tellHistory(false); });
    if (!m_history->nanButton()->isHidden()) {
        menu.addAction(tr("Follow its NaN"), this, [this] { tellHistory(true); });
    }
    QMenu* others = menu.addMenu(tr("Minus"));
    const auto add = [&](const QString& name, std::optional<std::size_t> other) {
        QAction* action = others->addAction(name, this, [this, other] { subtract(other); });
        action->setCheckable(true);
        action->setChecked(other == m_minus);
    };
    add(tr("nothing"), std::nullopt);
    for (std::size_t i = 0; ref() != nullptr && i < m_refs.size(); ++i) {
        if (m_refs[i].shape == ref()->shape && &m_refs[i] != ref()) {
            add(m_ref->itemText(static_cast<int>(i)), i);
        }
    }
    if (ref() != nullptr && m_choice.element) {
        const QString element = views::text(ref()->name + "[" + join(*m_choice.element, ",") + "]");
        menu.addAction(tr("Break when %1 is…").arg(element), this,
                       [this, element] { Q_EMIT conditionAsked(u"when:"_s + element + u">="_s); });
    }
    menu.exec(event->globalPos());
}

} // namespace pallascope::app
