// The fields of the form: a combo box and a number field, 22 px high with an edge of 1 px. A field
// with an error gets a frame of 2 px; the form shows the sentence below it.
#pragma once

#include "views/layout/scene/theme.h"

#include <QAbstractSpinBox>
#include <QComboBox>

namespace pallascope::app {

inline constexpr int kFieldHeight = 22;

struct FieldLook
{
    layout::Theme theme = layout::Theme::Light;
    bool bad = false;
};

class ChoiceField : public QComboBox
{
    Q_OBJECT

public:
    explicit ChoiceField(QWidget* parent = nullptr);
    void setLook(FieldLook look);

    [[nodiscard]] bool isBad() const { return m_look.bad; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    FieldLook m_look;
};

// Accepts any text: the run says what is wrong with it, below the field, and no key is swallowed.
// Up and down go to the next power of two, because sizes and blocks usually are powers of two; in
// small ranges they go by one.
class NumberField : public QAbstractSpinBox
{
    Q_OBJECT

public:
    NumberField(std::int64_t minimum, std::int64_t maximum, QWidget* parent = nullptr);
    void setLook(FieldLook look);

    [[nodiscard]] bool isBad() const { return m_look.bad; }

    // px that the field takes to show its number.
    [[nodiscard]] int leastWidth() const;
    void setValueText(const QString& text);

    // For numbers that are not sizes, in large ranges too.
    void setStepsByOne() { m_byOne = true; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    void stepBy(int steps) override;
    QValidator::State validate(QString& input, int& position) const override;

Q_SIGNALS:
    void committed(const QString& text);

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    [[nodiscard]] StepEnabled stepEnabled() const override;

private:
    void commit();
    void placeEdit();
    [[nodiscard]] bool hasArrows() const;

    FieldLook m_look;
    std::int64_t m_minimum, m_maximum;
    bool m_byOne;
    QString m_committed;
};

} // namespace pallascope::app
