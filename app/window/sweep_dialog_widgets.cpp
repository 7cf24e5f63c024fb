// The widgets of the sweep dialog and their places.
#include "app/window/sweep_chart.h"
#include "app/window/sweep_dialog.h"
#include "app/window/sweep_fields.h"
#include "app/window/sweep_table.h"
#include "views/fonts.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;

constexpr int kFieldsWidth = 292;

QLabel* makeHint(const QString& words, QWidget* parent)
{
    auto* label = new QLabel(words, parent);
    label->setObjectName(u"hint"_s);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    return label;
}

} // namespace

QPushButton* SweepDialog::makeButton(const QString& name, const QString& label)
{
    auto* button = new QPushButton(label, this);
    button->setObjectName(name);
    return button;
}

QWidget* SweepDialog::makeLeft()
{
    auto* left = new QWidget(this);
    left->setFixedWidth(kFieldsWidth);
    m_what = new QLabel(left);
    m_what->setFont(views::font(12, layout::Weight::SemiBold));
    m_what->setWordWrap(true);
    m_what->setTextFormat(Qt::PlainText);
    m_fields = new SweepFields(left);
    auto* scroll = new QScrollArea(left);
    scroll->setWidget(m_fields);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    m_count = new QLabel(left);
    m_status = makeHint({}, left);
    m_status->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_progress = new QProgressBar(left);
    m_progress->setTextVisible(false);
    m_progress->setFixedHeight(6);
    m_progress->setAccessibleName(tr("Progress of the sweep"));
    m_start = makeButton(u"start"_s, tr("Start"));
    m_start->setDefault(true);
    m_cancel = makeButton(u"cancel"_s, tr("Close"));
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addWidget(m_count, 1);
    buttons->addWidget(m_cancel);
    buttons->addWidget(m_start);
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(m_what);
    m_hint = makeHint({}, left);
    column->addWidget(m_hint);
    column->addWidget(scroll, 1);
    column->addWidget(m_status);
    column->addWidget(m_progress);
    column->addLayout(buttons);
    connect(m_fields, &SweepFields::changed, this, &SweepDialog::follow);
    connect(m_start, &QPushButton::clicked, this, &SweepDialog::start);
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        if (m_runs.isRunning()) {
            stop();
        } else {
            reject();
        }
    });
    return left;
}

QWidget* SweepDialog::makeRight()
{
    auto* right = new QWidget(this);
    auto* split = new QSplitter(Qt::Vertical, right);
    m_chart = new SweepChart(split);
    m_chart->setObjectName(u"chart"_s);
    m_chart->setAccessibleName(tr("Picture of the sweep"));
    m_chart->setMinimumSize(400, 200);
    m_table = new SweepTable(split);
    m_table->setObjectName(u"table"_s);
    m_table->setAccessibleName(tr("Rows of the sweep"));
    m_table->setMinimumHeight(80);
    m_table->hide(); // until there are rows
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    split->setChildrenCollapsible(false);
    m_save = makeButton(u"save"_s, tr("Save rows…"));
    m_export = makeButton(u"export"_s, tr("Export picture…"));
    m_open = makeButton(u"open"_s, tr("Open this run"));
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addWidget(m_save);
    buttons->addWidget(m_export);
    buttons->addStretch(1);
    buttons->addWidget(m_open);
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(10);
    column->addWidget(split, 1);
    column->addLayout(buttons);
    connect(m_open, &QPushButton::clicked, this, &SweepDialog::openChosen);
    connect(m_save, &QPushButton::clicked, this, [this] {
        saveRows(QFileDialog::getSaveFileName(this, tr("Save rows"), u"sweep.json"_s,
                                              tr("Sweeps (*.json)")));
    });
    connect(m_export, &QPushButton::clicked, this, [this] {
        savePictureAs(QFileDialog::getSaveFileName(this, tr("Export picture"), u"sweep.png"_s,
                                                   tr("Pictures (*.png *.svg)")));
    });
    return right;
}

} // namespace pallascope::app
