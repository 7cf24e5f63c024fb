#include "app/window/file_dialogs.h"

#include "app/window/session.h"
#include "views/fonts.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>

namespace pallascope::app {

using namespace Qt::StringLiterals;

FileDialogs::FileDialogs(Session& session, QWidget& window)
    : QObject(&window)
    , m_session(session)
    , m_window(window)
{}

void FileDialogs::open(const QString& path)
{
    m_folder = QFileInfo(path).absolutePath();
    m_session.open(path);
}

void FileDialogs::openAll(const QStringList& paths)
{
    if (paths.size() < 2) {
        open(paths.first());
        return;
    }
    m_folder = QFileInfo(paths.first()).absolutePath();
    m_session.compareFiles(paths[0], paths[1]);
    if (paths.size() > 2) {
        m_session.runs().note(
            tr("Two runs are compared: the first two of %1 files").arg(paths.size()));
    }
}

QString FileDialogs::kindsToOpen()
{
    return tr("Traces, kernels and lessons (*.json *.json.gz *.pallascope);;All files (*)");
}

void FileDialogs::askCompare()
{
    const QStringList paths =
        QFileDialog::getOpenFileNames(&m_window, tr("Compare two files"), m_folder, kindsToOpen());
    if (!paths.isEmpty()) {
        openAll(paths);
    }
}

void FileDialogs::askOpen()
{
    const QString path = QFileDialog::getOpenFileName(&m_window, tr("Open trace, kernel or lesson"),
                                                      m_folder, kindsToOpen());
    if (!path.isEmpty()) {
        open(path);
    }
}

void FileDialogs::askSave()
{
    if (!m_session.runs().shown()) {
        return;
    }
    const QFileInfo kernel(views::text(m_session.runs().shown()->request.kernel));
    const QString name = kernel.completeBaseName() + u".trace.json.gz"_s;
    const QString path =
        QFileDialog::getSaveFileName(&m_window, tr("Save trace"), QDir(m_folder).filePath(name),
                                     tr("Traces (*.trace.json *.trace.json.gz)"));
    if (!path.isEmpty()) {
        m_folder = QFileInfo(path).absolutePath();
        m_session.runs().saveTrace(path);
    }
}

QString FileDialogs::askPicture(const QString& view)
{
    const bool isWindow = view == u"window"_s; // which has no picture of lines
    const QString path = QFileDialog::getSaveFileName(
        &m_window, tr("Export picture"), QDir(m_folder).filePath(view + u".png"_s),
        isWindow ? tr("Pictures (*.png)") : tr("Pictures (*.png *.svg)"));
    if (!path.isEmpty()) {
        m_folder = QFileInfo(path).absolutePath();
    }
    return path;
}

} // namespace pallascope::app
