#include "app/window/capture_dialog.h"

#include "app/run_job/chips.h"
#include "app/run_job/run_job.h"
#include "views/fonts.h"

#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;
using views::text;

constexpr int kWidth = 620;
constexpr int kCommandLines = 4, kSaidLines = 9;
constexpr int kLineHeight = 16, kTextMargin = 8;

// A read-only text as wide as the dialog and `lines` lines high; its text can be copied.
QPlainTextEdit* makeText(const QString& name, int lines, QWidget* parent)
{
    auto* box = new QPlainTextEdit(parent);
    box->setObjectName(name);
    box->setReadOnly(true);
    box->setFixedHeight(lines * kLineHeight + kTextMargin);
    box->setTabChangesFocus(true);
    box->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    return box;
}

} // namespace

CaptureDialog::CaptureDialog(QWidget* parent)
    : QDialog(parent)
    , m_grid(new QGridLayout(this))
{
    setWindowTitle(tr("Capture a kernel"));
    setFixedWidth(kWidth);
    m_grid->setContentsMargins(20, 16, 20, 16);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(6);
    m_grid->setColumnStretch(1, 1);
    m_file = addLine(u"file"_s, tr("Python file"), tr("matmul.py"));
    addBrowse(m_file, [this] {
        return QFileDialog::getOpenFileName(this, tr("Python file"), m_file->text(),
                                            tr("Python (*.py);;All files (*)"));
    });
    m_function = addLine(u"function"_s, tr("Function"), tr("matmul"));
    m_arguments = addLine(u"arguments"_s, tr("Arguments"), u"bf16[4096,4096] bf16[4096,4096]"_s);
    m_chip = new ChoiceField(this); // made here, because Tab goes in the order of creation
    for (const auto& [id, name] : chips()) {
        m_chip->addItem(text(name), text(id));
    }
    m_chip->setObjectName(u"chip"_s);
    addRow(tr("Chip"), m_chip);
    m_output = addLine(u"output"_s, tr("Output"), tr("matmul.pallascope"));
    addBrowse(m_output, [this] {
        return QFileDialog::getSaveFileName(this, tr("Output"), m_output->text(),
                                            tr("Kernels (*.pallascope *.kernel.json)"));
    });
    m_python = addLine(u"python"_s, tr("Python"), tr("PALLASCOPE_PYTHON, else python3"));
    m_more =
        addLine(u"more"_s, tr("More options"), u"--mesh x=8 --cores 2 --donate 0 --name NAME"_s);
    addCommand();
    addEnd();
    for (QLineEdit* line : {m_file, m_function, m_arguments, m_output, m_python, m_more}) {
        connect(line, &QLineEdit::textChanged, this, &CaptureDialog::follow);
    }
    connect(m_output, &QLineEdit::textEdited, this, [this] { m_outputGiven = true; });
    for (QLineEdit* line : {m_file, m_function}) {
        connect(line, &QLineEdit::textChanged, this, &CaptureDialog::proposeOutput);
    }
    connect(m_chip, &QComboBox::currentIndexChanged, this, &CaptureDialog::follow);
    connect(m_chip, &QComboBox::activated, this, [this] { m_chipGiven = true; });
    connect(&m_job, &CaptureJob::progressed, this, [this](const QString& what, int seconds) {
        show(tr("%1… %2 s").arg(what).arg(seconds), false);
    });
    connect(&m_job, &CaptureJob::failed, this, [this](const QString& said, const QString& output) {
        setRunning(false);
        const bool many = said.contains(u'\n'); // a sentence, followed by a list
        show(many ? said.section(u'\n', 0, 0) : said, true,
             many                     ? said.section(u'\n', 1)
             : output.contains(u'\n') ? output
                                      : QString());
    });
    connect(&m_job, &CaptureJob::written, this, [this](const QString& file) {
        setRunning(false);
        show({}, false);
        accept();
        Q_EMIT captured(file, m_chip->currentData().toString());
    });
    follow();
}

void CaptureDialog::proposeChip(const std::string& chip)
{
    if (!m_chipGiven) {
        const int shown = m_chip->findData(text(chip));
        m_chip->setCurrentIndex(shown >= 0 ? shown : m_chip->findData(text(kUsualChip)));
    }
}

QLineEdit* CaptureDialog::addLine(const QString& name, const QString& label, const QString& hint)
{
    auto* line = new QLineEdit(this);
    line->setObjectName(name);
    line->setPlaceholderText(hint);
    addRow(label, line);
    return line;
}

void CaptureDialog::addRow(const QString& label, QWidget* field)
{
    auto* words = new QLabel(label, this);
    words->setObjectName(u"hint"_s);
    words->setBuddy(field);
    field->setAccessibleName(label);
    field->setFixedHeight(kFieldHeight);
    const int row = m_grid->rowCount();
    m_grid->addWidget(words, row, 0);
    m_grid->addWidget(field, row, 1);
}

void CaptureDialog::addBrowse(QLineEdit* beside, std::function<QString()> ask)
{
    auto* button = new QPushButton(tr("Browse…"), this);
    button->setAutoDefault(false);
    m_grid->addWidget(button, m_grid->rowCount() - 1, 2);
    connect(button, &QPushButton::clicked, this, [beside, ask = std::move(ask)] {
        const QString path = ask();
        if (!path.isEmpty()) {
            beside->setText(path);
            Q_EMIT beside->textEdited(path);
        }
    });
}

void CaptureDialog::addCommand()
{
    auto* words = new QLabel(tr("Runs"), this);
    words->setObjectName(u"hint"_s);
    m_command = makeText(u"command"_s, kCommandLines, this);
    m_command->setAccessibleName(tr("Command"));
    m_copy = new QPushButton(tr("Copy"), this);
    m_copy->setObjectName(u"copy"_s);
    m_copy->setAutoDefault(false);
    const int row = m_grid->rowCount();
    m_grid->addWidget(words, row, 0, Qt::AlignTop);
    m_grid->addWidget(m_command, row, 1);
    m_grid->addWidget(m_copy, row, 2, Qt::AlignTop);
    connect(m_copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(m_command->toPlainText()); });
}

void CaptureDialog::addEnd()
{
    m_status = new QLabel(this);
    m_status->setWordWrap(true);
    m_status->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_status->setTextFormat(Qt::PlainText);
    m_said = makeText(u"said"_s, kSaidLines, this);
    m_said->setAccessibleName(tr("What Python said"));
    m_said->hide();
    m_start = new QPushButton(tr("Capture"), this);
    m_start->setObjectName(u"start"_s);
    m_start->setDefault(true);
    m_cancel = new QPushButton(tr("Close"), this);
    m_cancel->setObjectName(u"cancel"_s);
    m_cancel->setAutoDefault(false);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addStretch(1);
    buttons->addWidget(m_cancel);
    buttons->addWidget(m_start);
    int row = m_grid->rowCount();
    m_grid->addWidget(m_status, row++, 0, 1, 3);
    m_grid->addWidget(m_said, row++, 0, 1, 3);
    m_grid->addLayout(buttons, row, 0, 1, 3);
    connect(m_start, &QPushButton::clicked, this, &CaptureDialog::start);
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        if (!m_job.isRunning()) {
            reject();
            return;
        }
        m_job.cancel();
        setRunning(false);
        show(tr("Cancelled; no file was written."), false);
    });
}

CaptureRequest CaptureDialog::request() const
{
    CaptureRequest request;
    request.function =
        (m_file->text().trimmed() + u':' + m_function->text().trimmed()).toStdString();
    request.arguments = wordsOf(m_arguments->text().toStdString());
    request.output = m_output->text().trimmed().toStdString();
    request.python = m_python->text().trimmed().toStdString();
    request.more = {"--chip", m_chip->currentData().toString().toStdString()};
    for (std::string& word : wordsOf(m_more->text().toStdString())) {
        request.more.push_back(std::move(word));
    }
    return request;
}

// Proposes a place beside the Python file, unless another one was typed.
void CaptureDialog::proposeOutput()
{
    const QString file = m_file->text().trimmed();
    const QString function = m_function->text().trimmed();
    m_outputGiven = m_outputGiven && !m_output->text().isEmpty();
    if (!m_outputGiven) {
        m_output->setText(file.isEmpty() || function.isEmpty()
                              ? QString()
                              : QFileInfo(file).path() + u'/' + function + u".pallascope"_s);
    }
}

void CaptureDialog::follow()
{
    const bool enough = !m_file->text().trimmed().isEmpty()
                        && !m_function->text().trimmed().isEmpty()
                        && !m_output->text().trimmed().isEmpty();
    m_command->setPlainText(enough ? text(typed(captureWords(request()))) : QString());
    m_start->setEnabled(enough && !m_job.isRunning());
    m_copy->setEnabled(enough);
}

void CaptureDialog::start()
{
    setRunning(true);
    m_job.start(request());
}

void CaptureDialog::setRunning(bool running)
{
    for (QLineEdit* line : {m_file, m_function, m_arguments, m_output, m_python, m_more}) {
        line->setEnabled(!running);
    }
    m_chip->setEnabled(!running);
    m_start->setEnabled(!running);
    m_cancel->setText(running ? tr("Cancel") : tr("Close"));
}

void CaptureDialog::show(const QString& status, bool error, const QString& output)
{
    m_status->setObjectName(error ? u"error"_s : u"hint"_s);
    m_status->setStyleSheet({}); // makes Qt look the name up again
    m_status->setText(status);
    m_said->setPlainText(output);
    m_said->setVisible(!output.isEmpty());
    adjustSize();
}

void CaptureDialog::setTheme(layout::Theme theme)
{
    m_chip->setLook({theme, false});
}

void CaptureDialog::done(int result)
{
    if (m_job.isRunning()) {
        m_job.cancel();
        setRunning(false);
        show({}, false);
    }
    QDialog::done(result);
}

} // namespace pallascope::app
