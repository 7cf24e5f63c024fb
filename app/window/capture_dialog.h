// File → Capture: what `pallascope capture` asks for as fields, the command that is run, how far it
// is, and what Python says when it fails.
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

Q_SIGNALS:
    void captured(const QString& file, const QString& chip);

protected:
    void done(int result) override; // also by Escape and the title bar: cancels

private:
    QLineEdit* addLine(const QString& name, const QString& label, const QString& hint);
    void addBrowse(QLineEdit* beside, std::function<QString()> ask);
    void addRow(const QString& label, QWidget* field);
    void addCommand();
    void addEnd();
    [[nodiscard]] CaptureRequest request() const;
    void follow(); // fields changed
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
    bool m_outputGiven = false; // by hand, not made from file and function
};

} // namespace pallascope::app
