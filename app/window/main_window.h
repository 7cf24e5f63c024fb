// The window: it makes the bars, the docks and the menus, and connects them to the session. The
// session decides what the window shows, and the layouts decide how it looks.
#pragma once

#include "app/window/actions.h"
#include "app/window/session.h"
#include "app/window/values_panel.h"

#include <QMainWindow>

namespace pallascope::views {
class SceneView;
}

namespace pallascope::app {

class CaptureDialog;
class CommandPalette;
class Docks;
class FileDialogs;
class FirstMinute;
class RunTitle;
class SweepDialog;
class TransportBar;
class VerdictStrip;

class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    [[nodiscard]] Session& session() { return m_session; }

    [[nodiscard]] Docks& docks() { return *m_docks; }

    [[nodiscard]] TransportBar& transport() { return *m_transport; }

    [[nodiscard]] VerdictStrip& strip() { return *m_strip; }

    [[nodiscard]] views::SceneView& program() { return *m_program; }

    [[nodiscard]] CommandPalette& palette() { return *m_palette; }

    // The callouts of the first start, which nobody sees unless they are shown.
    [[nodiscard]] FirstMinute& firstMinute() { return *m_firstMinute; }

    [[nodiscard]] CaptureDialog& captureDialog() { return *m_capture; }

    [[nodiscard]] SweepDialog& sweepDialog() { return *m_sweep; }

    [[nodiscard]] FileDialogs& files() { return *m_files; }

    // What another window needs to go on from here.
    struct State
    {
        Session::State session;
        ValuesPanel::State values;
    };

    [[nodiscard]] State state() const;
    void goOn(const State& state);

    [[nodiscard]] QMenu* recentMenu() const { return m_actions.recent; }

    void askCapture();
    void askSweep();
    void askPicture(const QString& view);
    // Writes PNG or SVG, depending on the ending of the name. Errors are shown in the window.
    void savePictureOf(const QString& view, const QString& path);
    void openPalette();
    void showKeys();
    void showAbout();

Q_SIGNALS:
    void textSizeAsked(int percent); // for a window in this one's place

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildBars();
    void connectSession();
    void connectFocus();
    void pushState();
    void pushRun();
    void showFile();
    void pushUnfit();
    void followKept();
    [[nodiscard]] QString formError() const;
    void applyTheme();
    [[nodiscard]] std::vector<views::SceneView*> allViews() const;

    Session m_session;
    Docks* m_docks = nullptr;
    RunTitle* m_title = nullptr;
    TransportBar* m_transport = nullptr;
    VerdictStrip* m_strip = nullptr;
    views::SceneView* m_program = nullptr; // the strip of kernels; hidden where there is only one
    CommandPalette* m_palette = nullptr;
    FirstMinute* m_firstMinute = nullptr;
    FileDialogs* m_files = nullptr;
    CaptureDialog* m_capture = nullptr; // kept, so that it still has what was typed
    SweepDialog* m_sweep = nullptr;     // likewise, with its rows
    Actions m_actions;
};

} // namespace pallascope::app
