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

// Steps or picoseconds of modelled time per second of watching; one of the two is 0. Both are 0 for
// "as fast as possible".
struct Speed
{
    QString label;
    double stepsPerSecond = 0;
    double picosecondsPerSecond = 0;
};

class Playback : public QObject
{
    Q_OBJECT

public:
    explicit Playback(QObject* parent = nullptr);

    void start();
    void stop();

    [[nodiscard]] bool isPlaying() const { return m_timer.isActive(); }

    // From the slowest to the fastest in this run, since how long a step takes depends on the run.
    [[nodiscard]] const std::vector<Speed>& speeds() const { return m_speeds; }

    void setSpeed(int index); // an index into speeds(), clamped to them

    [[nodiscard]] int speed() const { return m_speed; }

    // Takes the next speed that is really faster (1) or slower (-1), if there is one.
    void changeSpeed(int direction);

    // Sets the run that is played by its steady step and its length. The chosen speed stays.
    void setRun(Picoseconds steadyStep, Picoseconds length);

    // Makes the playhead jump once per step instead of moving.
    void setReducedMotion(bool on);

    [[nodiscard]] bool reducedMotion() const { return m_reducedMotion; }

    [[nodiscard]] double picosecondsPerSecond() const { return rateOf(m_speed); }

Q_SIGNALS:
    // The modelled time since the last tick, which is never zero.
    void advanced(pallascope::Picoseconds time);
    void speedChanged(); // or the order of the speeds
    void reducedMotionChanged(bool on);

private:
    void tick();
    [[nodiscard]] double rateOf(int index) const;
    [[nodiscard]] double rateOf(const Speed& speed) const;

    QTimer m_timer;
    QElapsedTimer m_clock;
    std::vector<Speed> m_speeds;
    int m_speed = 0;
    Picoseconds m_stepTime{1};
    Picoseconds m_length{1};
    double m_owed = 0; // modelled picoseconds that have passed but were not announced yet
    bool m_reducedMotion = false;
};

} // namespace pallascope::app
