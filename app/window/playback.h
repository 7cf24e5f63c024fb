// The clock of playback: modelled time per second of watching. It only says how far the playhead
// has to move; the session moves it.
#pragma once

// moc 6.4 cannot parse the standard library's <compare> (of units.h) unless a Qt header came first.
// clang-format off
#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include "core/base/units.h"

#include <vector>

// clang-format on

namespace pallascope::app {

// Either steps or picoseconds of modelled time per second of watching.
struct Speed
{
    QString label;
    double stepsPerSecond = 0;
    double picosecondsPerSecond = 0;
};

[[nodiscard]] const std::vector<Speed>& speeds();
inline constexpr int kDefaultSpeed = 2; // one steady step per 1.5 s

class Playback : public QObject
{
    Q_OBJECT

public:
    explicit Playback(QObject* parent = nullptr);

    void start();
    void stop();

    [[nodiscard]] bool isPlaying() const { return m_timer.isActive(); }

    void setSpeed(int index); // clamped

    [[nodiscard]] int speed() const { return m_speed; }

    void setStepTime(Picoseconds steadyStep) { m_stepTime = steadyStep; }

    // One jump per step instead of motion.
    void setReducedMotion(bool on) { m_reducedMotion = on; }

    [[nodiscard]] bool reducedMotion() const { return m_reducedMotion; }

    [[nodiscard]] double picosecondsPerSecond() const;

Q_SIGNALS:
    // Modelled time since the last tick; never zero.
    void advanced(pallascope::Picoseconds time);
    void speedChanged();

private:
    void tick();

    QTimer m_timer;
    QElapsedTimer m_clock;
    int m_speed = kDefaultSpeed;
    Picoseconds m_stepTime{1};
    double m_owed = 0; // modelled picoseconds not yet handed out
    bool m_reducedMotion = false;
};

} // namespace pallascope::app
