#include "app/window/values_panel.h"

#include "app/window/values_row.h"
#include "core/base/format.h"
#include "core/base/shape.h"
#include "views/fonts.h"
#include "views/layout/values/move.h"
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

namespace pallascope::app {
namespace {

using namespace layout;
using namespace Qt::StringLiterals;
using views::text;

constexpr int kAwaitedAfterMs = 100; // a shorter wait shows nothing

} // namespace

ValuesPanel::ValuesPanel(Session& session, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_picture(new views::ValuesPicture(this))
    , m_ref(new ChoiceField(this))
    , m_side(new ChoiceField(this))
    , m_colours(new ValuesColours(this))
    , m_axes(new ValuesAxes(this))
    , m_note(new ValuesNote(this))
    , m_history(new ValuesHistory(this))
    , m_teller(m_jobs, session.viewpoint(), *m_history)
{
    m_ref->setAccessibleName(tr("Ref"));
    m_side->setAccessibleName(tr("Elements of a cell"));
    m_side->addItem(tr("fit"), 0);
    for (std::int64_t side = 1; side <= values::kLargestSide; side *= 2) {
        m_side->addItem(tr("1 cell = %1×%1").arg(side), QVariant::fromValue<qint64>(side));
    }
    auto* first = valuesRow();
    first->addWidget(m_ref, 3);
    first->addWidget(m_side, 2);
    first->addWidget(m_colours);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(4);
    column->addLayout(first);
    column->addWidget(m_axes);
    column->addWidget(m_note);
    column->addWidget(m_picture, 3);
    column->addWidget(m_history, 2);
    m_awaitedDelay.setSingleShot(true);
    m_awaitedDelay.setInterval(kAwaitedAfterMs);
    connectFields();
    connectJobs();
    connectSession();
}

void ValuesPanel::connectFields()
{
    connect(m_ref, &QComboBox::activated, this, &ValuesPanel::chooseRef);
    connect(m_axes, &ValuesAxes::agentChosen, this, &ValuesPanel::ask);
    connect(m_axes, &ValuesAxes::axisChosen, this, &ValuesPanel::chooseAxis);
    connect(m_colours, &ValuesColours::changed, this, &ValuesPanel::redraw);
    connect(m_side, &QComboBox::activated, this,
            [this](int index) { setSide(m_side->itemData(index).toLongLong(), {}); });
    connect(m_note, &ValuesNote::allAsked, this, [this] {
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
    connect(&m_teller, &HistoryTeller::told, this, &ValuesPanel::ask);
    connect(&m_awaitedDelay, &QTimer::timeout, this, &ValuesPanel::showAwaited);
}

void ValuesPanel::connectSession()
{
    connect(&m_session.viewpoint(), &Viewpoint::runChanged, this, &ValuesPanel::followRun);
    connect(&m_session.viewpoint(), &Viewpoint::nowChanged, this, &ValuesPanel::ask);
    connect(&m_session.viewpoint(), &Viewpoint::deviceChanged, this, &ValuesPanel::followDevice);
    connect(&m_session.viewpoint(), &Viewpoint::selectionChanged, this,
            &ValuesPanel::followSelection);
}

void ValuesPanel::setTheme(Theme theme)
{
    m_theme = theme;
    for (ChoiceField* field : {m_ref, m_side}) {
        field->setLook({theme, false});
    }
    m_colours->setTheme(theme);
    m_axes->setTheme(theme);
    m_history->setTheme(theme);
    m_note->setTheme(theme);
    update();
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
    menu.addAction(tr("History of the element"), this, [this] { m_teller.tell(false); })
        ->setEnabled(m_picture->sight() != nullptr);
    if (!m_history->nanButton()->isHidden()) {
        menu.addAction(tr("Follow it back"), this, [this] { m_teller.tell(true); });
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
