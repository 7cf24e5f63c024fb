// What the window keeps from one start to the next, in a settings file of the user: the theme, the
// size of its texts, its size and place, where the docks are, the folder of the last file, the
// files opened last, breakpoints, and whether the callouts of the first start were seen. Pictures
// and tests make windows that remember nothing.
#pragma once

#include <QObject>
#include <QSettings>
#include <QStringList>

class QMenu;

namespace pallascope::app {

class MainWindow;

class Remembered : public QObject
{
    Q_OBJECT

public:
    static constexpr int kMostFiles = 10;

    // Gives the window back what was kept. `file` is an INI file; if it is empty, it is the user's
    // own. What cannot be read counts as not kept.
    explicit Remembered(MainWindow& window, const QString& file = {});

    // In percent; usual if none was kept in the file. Asked for before there is an application.
    [[nodiscard]] static int textSize(const QString& file = {});
    void keepTextSize(int percent);

    // Absolute paths, the last opened first.
    [[nodiscard]] QStringList files() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override; // keeps all when the window closes

private:
    void keep();
    void addFile(const QString& path);
    void fillMenu();
    void offerFirstMinute();
    void takeBreakpoints();
    void keepBreakpoints();

    MainWindow& m_window;
    QSettings m_settings;
};

} // namespace pallascope::app
