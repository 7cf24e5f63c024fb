// The clock of playback: how much modelled time passes per second of watching. It only says how far
// the playhead has to move; the viewpoint moves it.
#pragma once

// moc 6.4 cannot parse the standard library's <compare>, which units.h includes, unless a Qt header
// is included before it.
// clang-format off
#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include "core/base/units.h"

#include <vector>

// clang-format on

namespace pallascope::app {

// Steps or picoseconds of modelled time per second of watching; one of the two is 0.
struct Speed
{
    QString label;
    double stepsPerSecond = 0;
    double picosecondsPerSecond = 0;
};

[[nodiscard]] const std::vector<Speed>& speeds();
inline constexpr int kDefaultSpeed = 2; // an index: one steady step per 1.5 s

class Playback : public QObject
{
    Q_OBJECT

public:
    explicit Playback(QObject* parent = nullptr);

    void start();
    void stop();

    [[nodiscard]] bool isPlaying() const { return m_timer.isActive(); }

    void setSpeed(int index); // clamped to the speeds that exist

    [[nodiscard]] int speed() const { return m_speed; }

    void setStepTime(Picoseconds steadyStep) { m_stepTime = steadyStep; }

    // Makes the playhead jump once per step instead of moving.
    void setReducedMotion(bool on) { m_reducedMotion = on; }

    [[nodiscard]] bool reducedMotion() const { return m_reducedMotion; }

    [[nodiscard]] double picosecondsPerSecond() const;

Q_SIGNALS:
    // The modelled time since the last tick, which is never zero.
    void advanced(pallascope::Picoseconds time);
    void speedChanged();

private:
    void tick();

    QTimer m_timer;
    QElapsedTimer m_clock;
    int m_speed = kDefaultSpeed;
    Picoseconds m_stepTime{1};
    double m_owed = 0; // modelled picoseconds that have passed but were not announced yet
    bool m_reducedMotion = false;
};

} // namespace pallascope::app
