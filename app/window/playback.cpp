#include "app/window/playback.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace pallascope::app {
namespace {

constexpr int kFrameMs = 16;
// After a pause of the whole program, for instance of a suspended laptop, playback goes on instead
// of leaping.
constexpr double kLongestTickSeconds = 0.25;
constexpr double kPicosecondsPerMicrosecond = 1e6;

std::vector<Speed> makeSpeeds()
{
    const auto label = [](const char* text) {
        return QCoreApplication::translate("Playback", text);
    };
    return {
        {label("¼ step / s"), 0.25, 0},
        {label("½ step / s"), 0.5, 0},
        {label("1 step / 1.5 s"), 1 / 1.5, 0},
        {label("1 step / s"), 1, 0},
        {label("2 steps / s"), 2, 0},
        {label("5 steps / s"), 5, 0},
        {label("10 steps / s"), 10, 0},
        {label("30 steps / s"), 30, 0},
        {label("100 steps / s"), 100, 0},
        {label("300 steps / s"), 300, 0},
        {label("1000 steps / s"), 1000, 0},
        {label("0.1 µs / s"), 0, 0.1 * kPicosecondsPerMicrosecond},
        {label("0.5 µs / s"), 0, 0.5 * kPicosecondsPerMicrosecond},
        {label("2 µs / s"), 0, 2 * kPicosecondsPerMicrosecond},
        {label("10 µs / s"), 0, 10 * kPicosecondsPerMicrosecond},
        {label("100 µs / s"), 0, 100 * kPicosecondsPerMicrosecond},
        {label("as fast as possible"), 0, 0},
    };
}

// The speed that a window begins with: one steady step per 1.5 s.
constexpr int kFirstSpeed = 2;
// As fast as possible: the whole run passes in this time, so that there is something to see, but
// never slower than the other speeds.
constexpr double kFastestSeconds = 2;
constexpr double kFasterThanOthers = 2;

} // namespace

Playback::Playback(QObject* parent)
    : QObject(parent)
    , m_speeds(makeSpeeds())
    , m_speed(kFirstSpeed)
{
    m_timer.setTimerType(Qt::PreciseTimer);
    m_timer.setInterval(kFrameMs);
    connect(&m_timer, &QTimer::timeout, this, &Playback::tick);
}

void Playback::start()
{
    m_owed = 0;
    m_clock.start();
    m_timer.start();
}

void Playback::stop()
{
    m_timer.stop();
}

void Playback::setSpeed(int index)
{
    const int last = static_cast<int>(m_speeds.size()) - 1;
    const int clamped = std::clamp(index, 0, last);
    if (clamped != m_speed) {
        m_speed = clamped;
        Q_EMIT speedChanged();
    }
}

void Playback::changeSpeed(int direction)
{
    const auto last = static_cast<int>(m_speeds.size()) - 1;
    for (int i = m_speed + direction; i >= 0 && i <= last; i += direction) {
        if ((rateOf(i) - rateOf(m_speed)) * direction > 0) {
            setSpeed(i);
            return;
        }
    }
}

void Playback::setRun(Picoseconds steadyStep, Picoseconds length)
{
    m_stepTime = steadyStep;
    m_length = length;
    const QString chosen = m_speeds[static_cast<std::size_t>(m_speed)].label;
    std::vector<std::pair<double, Speed>> rated;
    for (const Speed& speed : m_speeds) {
        rated.emplace_back(rateOf(speed), speed);
    }
    std::stable_sort(rated.begin(), rated.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < rated.size(); ++i) {
        m_speeds[i] = rated[i].second;
        m_speed = m_speeds[i].label == chosen ? static_cast<int>(i) : m_speed;
    }
    Q_EMIT speedChanged();
}

double Playback::rateOf(int index) const
{
    return rateOf(m_speeds[static_cast<std::size_t>(index)]);
}

double Playback::rateOf(const Speed& speed) const
{
    const auto step = static_cast<double>(m_stepTime.value());
    if (speed.stepsPerSecond > 0) {
        return speed.stepsPerSecond * step;
    }
    if (speed.picosecondsPerSecond > 0) {
        return speed.picosecondsPerSecond;
    }
    double fastest = static_cast<double>(m_length.value()) / kFastestSeconds;
    for (const Speed& other : m_speeds) {
        fastest = std::max(fastest,
                           kFasterThanOthers
                               * std::max(other.stepsPerSecond * step, other.picosecondsPerSecond));
    }
    return fastest;
}

void Playback::setReducedMotion(bool on)
{
    if (on != m_reducedMotion) {
        m_reducedMotion = on;
        Q_EMIT reducedMotionChanged(on);
    }
}

void Playback::tick()
{
    const double seconds =
        std::min(kLongestTickSeconds, static_cast<double>(m_clock.nsecsElapsed()) * 1e-9);
    m_clock.start();
    m_owed += seconds * picosecondsPerSecond();
    const double grain = m_reducedMotion ? static_cast<double>(m_stepTime.value()) : 1;
    const double due = std::floor(m_owed / grain) * grain;
    if (due >= 1) {
        m_owed -= due;
        Q_EMIT advanced(Picoseconds(static_cast<std::int64_t>(due)));
    }
}

} // namespace pallascope::app
