// The files that the window opens and saves, the dialogs that ask for them, and the folder in which
// these begin.
#pragma once

#include <QObject>
#include <QStringList>

class QWidget;

namespace pallascope::app {

class Session;

class FileDialogs : public QObject
{
    Q_OBJECT

public:
    // Lives as long as the window, which its dialogs lie over.
    FileDialogs(Session& session, QWidget& window);

    // The folder in which dialogs begin; empty: the current one.
    [[nodiscard]] const QString& folder() const { return m_folder; }

    void setFolder(const QString& folder) { m_folder = folder; }

    void open(const QString& path);
    // One file, or two to compare; says so where there are more.
    void openAll(const QStringList& paths);
    void askOpen();
    void askCompare(); // two files
    void askSave();
    // The name for a picture of this view; empty if none was given.
    [[nodiscard]] QString askPicture(const QString& view);

private:
    [[nodiscard]] static QString kindsToOpen();

    Session& m_session;
    QWidget& m_window;
    QString m_folder;
};

} // namespace pallascope::app
