// The dialogs of the Help menu: the keys, and what this program is.
#include "app/window/help.h"

#include "views/fonts.h"

#include <QAction>
#include <QDialog>
#include <QGridLayout>
#include <QLabel>

namespace pallascope::app {
namespace {

using layout::Weight;
using namespace Qt::StringLiterals;

constexpr int kColumns = 2;

QString tr(const char* text)
{
    return QDialog::tr(text);
}

QDialog* makeDialog(QWidget& parent, const QString& title)
{
    auto* dialog = new QDialog(&parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    return dialog;
}

} // namespace

void showKeys(QWidget& parent, const std::vector<QAction*>& actions)
{
    QDialog* dialog = makeDialog(parent, tr("Keys"));
    auto* grid = new QGridLayout(dialog);
    grid->setContentsMargins(20, 16, 20, 16);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(3);
    std::vector<QAction*> withKeys;
    for (QAction* action : actions) {
        if (!action->shortcut().isEmpty()) {
            withKeys.push_back(action);
        }
    }
    const int rows = (static_cast<int>(withKeys.size()) + kColumns - 1) / kColumns;
    for (int i = 0; i < static_cast<int>(withKeys.size()); ++i) {
        const QAction& action = *withKeys[static_cast<std::size_t>(i)];
        auto* keys = new QLabel(
            QKeySequence::listToString(action.shortcuts(), QKeySequence::NativeText), dialog);
        keys->setFont(views::font(11, Weight::Medium));
        auto* name = new QLabel(QString(action.text()).remove(QLatin1Char('&')), dialog);
        grid->addWidget(keys, i % rows, 2 * (i / rows));
        grid->addWidget(name, i % rows, 2 * (i / rows) + 1);
    }
    auto* mouse = new QLabel(
        tr("Time line: wheel zooms, drag pans, Shift and drag measures, a click on the ruler "
           "sets the playhead.\nStrip of the whole run: drag scrubs, Shift and drag frames a "
           "range.\n"
           "Grid: double click goes to the next use of a block. Arrows walk through a focused "
           "view.\nSource: a click beside a line number sets a breakpoint. A right click on a "
           "thing "
           "of any view runs to it, or breaks at it."),
        dialog);
    mouse->setObjectName(u"hint"_s);
    grid->addWidget(mouse, rows, 0, 1, 2 * kColumns);
    grid->setRowMinimumHeight(rows, 64);
    dialog->open();
}

std::string programVersion()
{
    return PALLASCOPE_VERSION;
}

void showAbout(QWidget& parent)
{
    QDialog* dialog = makeDialog(parent, tr("About Pallascope"));
    auto* grid = new QGridLayout(dialog);
    grid->setContentsMargins(24, 20, 24, 20);
    grid->setVerticalSpacing(8);
    auto* name = new QLabel(tr("Pallascope %1").arg(QStringLiteral(PALLASCOPE_VERSION)), dialog);
    name->setFont(views::font(18, Weight::SemiBold));
    auto* what = new QLabel(
        tr("Explorer and profiler for Pallas kernels, on a model of the chip.\n"
           "Every time is the model's: no accelerator is used, nothing is sent anywhere."),
        dialog);
    auto* made = new QLabel(
        tr("Apache License 2.0. Made with Qt %1 (LGPL), fonts Inter and JetBrains Mono (OFL).")
            .arg(QString::fromLatin1(qVersion())),
        dialog);
    made->setObjectName(u"hint"_s);
    grid->addWidget(name, 0, 0);
    grid->addWidget(what, 1, 0);
    grid->addWidget(made, 2, 0);
    dialog->open();
}

} // namespace pallascope::app
