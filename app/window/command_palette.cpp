#include "app/window/command_palette.h"

#include "views/fonts.h"

#include <QKeyEvent>
#include <QVBoxLayout>

#include <algorithm>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;

constexpr int kPaletteWidth = 460;
constexpr int kPaletteHeight = 340;
constexpr int kPaletteTop = 66;

} // namespace

bool hasWords(const QString& name, const QString& words)
{
    const QStringList parts = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    return std::all_of(parts.begin(), parts.end(), [&](const QString& part) {
        return name.contains(part, Qt::CaseInsensitive);
    });
}

CommandPalette::CommandPalette(QWidget* parent)
    : QFrame(parent)
    , m_line(new QLineEdit(this))
    , m_list(new QListWidget(this))
{
    setFrameShape(QFrame::Box);
    setAutoFillBackground(true);
    m_line->setPlaceholderText(
        tr("Type what to do, or a step, a time, an SM, a block, a line, a finding"));
    m_line->setFont(views::font(12));
    m_line->setAccessibleName(tr("Command"));
    m_line->setFrame(false);
    m_line->setMinimumHeight(26);
    m_list->setFont(views::font(12));
    m_list->setUniformItemSizes(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFocusPolicy(Qt::NoFocus);
    auto* box = new QVBoxLayout(this);
    box->setContentsMargins(8, 8, 8, 8);
    box->setSpacing(6);
    box->addWidget(m_line);
    box->addWidget(m_list);
    m_line->installEventFilter(this);
    connect(m_line, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_line, &QLineEdit::returnPressed, this, &CommandPalette::run);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::run);
    hide();
}

void CommandPalette::open(Entries entries)
{
    m_entriesOf = std::move(entries);
    const int width = std::min(kPaletteWidth, parentWidget()->width() - 20);
    setGeometry((parentWidget()->width() - width) / 2, kPaletteTop, width, kPaletteHeight);
    m_line->clear();
    filter({});
    show();
    raise();
    m_line->setFocus();
}

QStringList CommandPalette::shown() const
{
    QStringList names;
    for (const PaletteEntry& entry : m_entries) {
        names << entry.name;
    }
    return names;
}

void CommandPalette::filter(const QString& words)
{
    m_list->clear();
    m_entries = m_entriesOf(words);
    m_list->addItems(shown());
    if (m_entries.empty()) {
        auto* none = new QListWidgetItem(tr("Nothing found"), m_list);
        none->setFlags(Qt::NoItemFlags);
    }
    m_list->setCurrentRow(m_entries.empty() ? -1 : 0);
}

void CommandPalette::run()
{
    const int row = m_list->currentRow();
    close();
    if (row >= 0 && row < static_cast<int>(m_entries.size())) {
        m_entries[static_cast<std::size_t>(row)].act();
    }
}

void CommandPalette::close()
{
    m_line->clearFocus();
    hide();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_line && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const int row = m_list->currentRow();
        switch (key->key()) {
        case Qt::Key_Escape:
            close();
            return true;
        case Qt::Key_Down:
            m_list->setCurrentRow(std::min(row + 1, static_cast<int>(m_entries.size()) - 1));
            return true;
        case Qt::Key_Up:
            m_list->setCurrentRow(std::max(row - 1, m_entries.empty() ? -1 : 0));
            return true;
        default:
            break;
        }
    }
    if (watched == m_line && event->type() == QEvent::ShortcutOverride) {
        event->accept(); // while the line is open, it gets Escape, letters and arrows
        return true;
    }
    if (watched == m_line && event->type() == QEvent::FocusOut && isVisible()) {
        hide();
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace pallascope::app
