// File → Capture: fields for what `pallascope capture` takes, the command that is run, how far it
// is, and what Python says if it fails.
#pragma once

#include "app/window/capture_job.h"
#include "app/window/fields.h"

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

class QGridLayout;

namespace pallascope::app {

class CaptureDialog : public QDialog
{
    Q_OBJECT

public:
    explicit CaptureDialog(QWidget* parent);

    void setTheme(layout::Theme theme);
    // To capture for, until another one is chosen: that of the run that is shown; the usual one if
    // it is none of those built in.
    void proposeChip(const std::string& chip);

Q_SIGNALS:
    void captured(const QString& file, const QString& chip);

protected:
    void done(int result) override; // Escape and the title bar come here, too; cancels the capture

private:
    QLineEdit* addLine(const QString& name, const QString& label, const QString& hint);
    void addBrowse(QLineEdit* beside, std::function<QString()> ask);
    void addRow(const QString& label, QWidget* field);
    void addCommand();
    void addEnd();
    [[nodiscard]] CaptureRequest request() const;
    void follow(); // brings the rest up to date with the fields
    void proposeOutput();
    void start();
    void show(const QString& status, bool error, const QString& output = {});
    void setRunning(bool running);

    CaptureJob m_job;
    QGridLayout* m_grid;
    QLineEdit *m_file, *m_function, *m_arguments, *m_output, *m_python, *m_more;
    ChoiceField* m_chip = nullptr;
    QPlainTextEdit *m_command, *m_said;
    QLabel* m_status;
    QPushButton *m_start, *m_cancel, *m_copy;
    bool m_chipGiven = false;   // chosen by the user
    bool m_outputGiven = false; // typed by the user, not derived from file and function
};

} // namespace pallascope::app
