#include "app/window/remembered.h"

#include "app/window/docks.h"
#include "app/window/file_dialogs.h"
#include "app/window/first_minute.h"
#include "app/window/main_window.h"
#include "app/window/text_size.h"

#include <QEvent>
#include <QFileInfo>
#include <QMenu>
#include <QUrl>

#include <algorithm>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;

constexpr auto kTheme = "theme", kGeometry = "geometry", kDocks = "docks", kMoved = "docks_moved",
               kFolder = "folder", kFiles = "files", kFirstMinute = "first_minute_seen",
               kBreakpoints = "breakpoints", kTextSize = "text_size";

QString fileOfUser()
{
    return QSettings(QSettings::IniFormat, QSettings::UserScope, u"pallascope"_s, u"window"_s)
        .fileName();
}

} // namespace

Remembered::Remembered(MainWindow& window, const QString& file)
    : QObject(&window)
    , m_window(window)
    , m_settings(file.isEmpty() ? fileOfUser() : file, QSettings::IniFormat)
{
    const bool dark = m_settings.value(kTheme).toString() == u"dark"_s;
    window.session().setTheme(dark ? layout::Theme::Dark : layout::Theme::Light);
    window.restoreGeometry(m_settings.value(kGeometry).toByteArray());
    window.docks().restore(m_settings.value(kDocks).toByteArray(),
                           m_settings.value(kMoved).toBool());
    window.files().setFolder(m_settings.value(kFolder).toString());
    fillMenu();
    takeBreakpoints();
    window.installEventFilter(this);
    offerFirstMinute();
    connect(&window.session().runs(), &Runs::adopted, this,
            [this] { addFile(m_window.session().runs().file()); });
}

// At the very first start, on the first run that is shown. Whoever closes the window meanwhile has
// seen enough.
void Remembered::offerFirstMinute()
{
    if (m_settings.value(kFirstMinute).toBool()) {
        return;
    }
    FirstMinute& minute = m_window.firstMinute();
    connect(
        &m_window.session().runs(), &Runs::adopted, &minute,
        [&minute] {
            QMetaObject::invokeMethod( // once the views have their run and their places
                &minute, [&minute] { minute.show(); }, Qt::QueuedConnection);
        },
        Qt::SingleShotConnection);
    connect(&minute, &FirstMinute::ended, this,
            [this] { m_settings.setValue(kFirstMinute, true); });
}

int Remembered::textSize(const QString& file)
{
    const QSettings kept(file.isEmpty() ? fileOfUser() : file, QSettings::IniFormat);
    const int size = kept.value(kTextSize).toInt();
    return std::find(kTextSizes.begin(), kTextSizes.end(), size) == kTextSizes.end()
               ? kUsualTextSize
               : size;
}

void Remembered::keepTextSize(int percent)
{
    m_settings.setValue(kTextSize, percent);
}

QStringList Remembered::files() const
{
    return m_settings.value(kFiles).toStringList();
}

void Remembered::addFile(const QString& path)
{
    if (path.isEmpty()) {
        return;
    }
    const QFileInfo info(path);
    QStringList all = files();
    all.removeAll(info.absoluteFilePath());
    all.prepend(info.absoluteFilePath());
    all = all.mid(0, kMostFiles);
    m_settings.setValue(kFiles, all);
    m_window.files().setFolder(info.absolutePath());
    fillMenu();
}

// The names alone, and the folder where two files have one name.
void Remembered::fillMenu()
{
    QMenu& menu = *m_window.recentMenu();
    menu.clear();
    const QStringList all = files();
    for (const QString& path : all) {
        const QFileInfo info(path);
        const auto isAlike = [&](const QString& other) {
            return other != path && QFileInfo(other).fileName() == info.fileName();
        };
        const bool alike = std::any_of(all.begin(), all.end(), isAlike);
        QString name =
            alike ? tr("%1 in %2").arg(info.fileName(), info.absolutePath()) : info.fileName();
        name.replace(QLatin1Char('&'), u"&&"_s);
        menu.addAction(name, &m_window, [this, path] { m_window.files().open(path); });
    }
    if (!all.isEmpty()) {
        menu.addSeparator();
        menu.addAction(tr("Forget these files"), this, [this] {
            m_settings.remove(kFiles);
            m_settings.remove(kBreakpoints);
            fillMenu();
        });
    }
    menu.setEnabled(!all.isEmpty());
}

// A group with a list of texts for each kernel, whose name is escaped: a path is no key.
void Remembered::takeBreakpoints()
{
    std::map<QString, QStringList> kept;
    m_settings.beginGroup(kBreakpoints);
    for (const QString& key : m_settings.childKeys()) {
        kept[QUrl::fromPercentEncoding(key.toLatin1())] = m_settings.value(key).toStringList();
    }
    m_settings.endGroup();
    m_window.session().breakpoints().keep(kept);
}

void Remembered::keepBreakpoints()
{
    m_settings.remove(kBreakpoints);
    m_settings.beginGroup(kBreakpoints);
    for (const auto& [kernel, texts] : m_window.session().breakpoints().kept()) {
        m_settings.setValue(QString::fromLatin1(QUrl::toPercentEncoding(kernel)), texts);
    }
    m_settings.endGroup();
}

void Remembered::keep()
{
    keepBreakpoints();
    const bool dark = m_window.session().theme() == layout::Theme::Dark;
    m_settings.setValue(kTheme, dark ? u"dark"_s : u"light"_s);
    m_settings.setValue(kGeometry, m_window.saveGeometry());
    m_settings.setValue(kDocks, m_window.docks().state());
    m_settings.setValue(kMoved, m_window.docks().areMoved());
    m_settings.setValue(kFolder, m_window.files().folder());
    if (m_window.firstMinute().isShown()) {
        m_settings.setValue(kFirstMinute, true);
    }
    m_settings.sync();
}

bool Remembered::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == &m_window && event->type() == QEvent::Close) {
        keep();
    }
    return QObject::eventFilter(watched, event);
}

} // namespace pallascope::app
