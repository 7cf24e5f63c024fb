#include "views/style.h"

#include "views/fonts.h"
#include "views/scene_accessible.h"
#include "views/scene_painter.h"

#include <QApplication>

namespace pallascope::views {
namespace {

using namespace layout;
using namespace Qt::StringLiterals;

constexpr auto kSheet = R"(
QWidget { font-family: "%sans"; font-size: 11px; }
QMainWindow { background: %line; }
QMainWindow::separator { background: %line; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: %focus; }
QMenuBar { background: %chrome; color: %text; font-size: 12px; padding: 0 0 0 2px; spacing: 0; }
QMenuBar::item { background: transparent; padding: 4px 8px 4px 8px; margin: 0 3px 0 0; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: %selectBackground; }
QMenu { background: %view; color: %text; border: 1px solid %edge; padding: 4px 0; font-size: 12px; }
QMenu::item { padding: 4px 28px 4px 26px; }
QMenu::item:selected { background: %selectBackground; color: %text; }
QMenu::item:disabled { color: %text3; }
QMenu::separator { height: 1px; background: %line; margin: 4px 0; }
QMenu::indicator { width: 12px; height: 12px; left: 8px; }
QScrollBar:vertical { background: %view; width: 8px; margin: 0; }
QScrollBar::handle:vertical { background: %edge; min-height: 24px; margin: 0 2px; }
QScrollBar:horizontal { background: %view; height: 8px; margin: 0; }
QScrollBar::handle:horizontal { background: %edge; min-width: 24px; margin: 2px 0; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QTabBar { background: %chrome; qproperty-drawBase: 0; }
QTabBar::tab { background: %chrome; color: %text2; padding: 3px 10px; border: 0; }
QTabBar::tab:selected { background: %selectBackground; color: %focus; }
QAbstractItemView { background: %view; color: %text; border: 1px solid %edge; outline: 0;
    selection-background-color: %selectBackground; selection-color: %text; }
QTreeView { border: 0; border-top: 1px solid %line; }
QTreeView::item { padding: 1px 4px; }
QHeaderView::section { background: %view; color: %text3; border: 0; padding: 1px 4px; }
QDialog QLineEdit, QLineEdit#field, QDialog QPlainTextEdit { background: %view; color: %text;
    border: 1px solid %edge; padding: 0 6px; }
QDialog QPlainTextEdit { font-family: "%mono"; }
QDialog QPlainTextEdit { padding: 2px 2px; }
QDialog QLineEdit:focus, QLineEdit#field:focus, QDialog QPlainTextEdit:focus {
    border: 2px solid %focus; padding: 0 5px; }
QDialog QPlainTextEdit:focus { padding: 1px 1px; }
QDialog QLineEdit:disabled { background: %chrome; color: %text3; }
QDialog QPushButton { background: %view; color: %text; border: 1px solid %edge; padding: 0 12px;
    height: 20px; }
QDialog QPushButton:hover { background: %selectBackground; }
QDialog QPushButton:default { color: %focus; border-color: %focus; }
QDialog QPushButton:focus { border: 2px solid %focus; padding: 0 11px; height: 18px; }
QDialog QPushButton:disabled { color: %text3; border-color: %line; }
QLabel#hint { color: %text2; }
QLabel#error { color: %error; }
)";

QString hex(Role role, Theme theme)
{
    return color(Color(role), theme).name();
}

} // namespace

Style::Style()
    : QProxyStyle(u"Fusion"_s)
{}

int Style::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                     QStyleHintReturn* data) const
{
    if (hint == SH_UnderlineShortcut) {
        return QGuiApplication::queryKeyboardModifiers().testFlag(Qt::AltModifier) ? 1 : 0;
    }
    return QProxyStyle::styleHint(hint, option, widget, data);
}

void dressApplication()
{
    QApplication::setApplicationName(u"Pallascope"_s);
    QApplication::setStyle(new Style);
    QApplication::setFont(font(11));
    makeScenesAccessible();
}

QPalette palette(Theme theme)
{
    const auto ink = [theme](Role role) { return color(Color(role), theme); };
    QPalette result;
    result.setColor(QPalette::Window, ink(Role::View));
    result.setColor(QPalette::WindowText, ink(Role::Text));
    result.setColor(QPalette::Base, ink(Role::View));
    result.setColor(QPalette::AlternateBase, ink(Role::Panel));
    result.setColor(QPalette::Text, ink(Role::Text));
    result.setColor(QPalette::Button, ink(Role::View));
    result.setColor(QPalette::ButtonText, ink(Role::Text));
    result.setColor(QPalette::Highlight, ink(Role::SelectBackground));
    result.setColor(QPalette::HighlightedText, ink(Role::Text));
    result.setColor(QPalette::ToolTipBase, ink(Role::View));
    result.setColor(QPalette::ToolTipText, ink(Role::Text));
    result.setColor(QPalette::PlaceholderText, ink(Role::Text3));
    result.setColor(QPalette::Link, ink(Role::Focus));
    result.setColor(QPalette::Mid, ink(Role::Line));
    result.setColor(QPalette::Dark, ink(Role::Edge));
    result.setColor(QPalette::Light, ink(Role::Chrome));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        result.setColor(QPalette::Disabled, role, ink(Role::Text3));
    }
    return result;
}

QString styleSheet(Theme theme)
{
    // Longer names come first, because %text is a prefix of %text2.
    const std::pair<QString, Role> names[] = {{u"%selectBackground"_s, Role::SelectBackground},
                                              {u"%chrome"_s, Role::Chrome},
                                              {u"%view"_s, Role::View},
                                              {u"%line"_s, Role::Line},
                                              {u"%focus"_s, Role::Focus},
                                              {u"%edge"_s, Role::Edge},
                                              {u"%error"_s, Role::Error},
                                              {u"%text2"_s, Role::Text2},
                                              {u"%text3"_s, Role::Text3},
                                              {u"%text"_s, Role::Text}};
    QString sheet = QString::fromLatin1(kSheet);
    sheet.replace(u"%sans"_s, font(11).family());
    sheet.replace(u"%mono"_s, font(11, Weight::Mono).family());
    for (const auto& [name, role] : names) {
        sheet.replace(name, hex(role, theme));
    }
    return sheet;
}

} // namespace pallascope::views
