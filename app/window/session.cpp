#include "app/window/session.h"

#include "core/trace_file/trace_file.h"
#include "views/fonts.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"
#include "views/layout/timeline/time_axis.h"
#include "views/navigation/times.h"

#include <QFileInfo>

#include <algorithm>
#include <cmath>

namespace pallascope::app {
namespace {

using layout::Target;
namespace target = layout::target;
using layout::TimeRange;
using layout::ViewState;
using views::text;

constexpr int kStaleAfterMs = 200; // shorter runs replace the picture without a word
constexpr double kFollowAt = 0.75; // playback holds the time line still up to here
constexpr double kJumpTo = 0.25;   // where a jump puts the playhead when it left the range
constexpr auto kFieldOfKernel = "kernel", kFieldOfChip = "chip"; // names of the form

const KernelInfo* findKernel(const std::vector<KernelInfo>& all, const std::string& name)
{
    const auto it = std::find_if(all.begin(), all.end(),
                                 [&](const auto& kernel) { return kernel.name == name; });
    return it == all.end() ? nullptr : &*it;
}

// Requests hold only what differs from the defaults, so that equal runs have equal requests.
void put(RunRequest& request, const std::string& name, const std::string& value)
{
    const std::vector<KernelInfo> all = kernels();
    if (const KernelInfo* kernel = findKernel(all, request.kernel)) {
        for (const ParameterInfo& parameter : kernel->parameters) {
            if (parameter.name == name && parameter.defaultValue == value) {
                request.parameters.erase(name);
                return;
            }
        }
    }
    request.parameters[name] = value;
}

// What a request has in a field of the form; empty: the default.
std::string valueIn(const RunRequest& request, const std::string& field)
{
    if (field == kFieldOfKernel || field == kFieldOfChip) {
        return field == kFieldOfKernel ? request.kernel : request.chip;
    }
    const auto given = request.parameters.find(field);
    return given == request.parameters.end() ? std::string() : given->second;
}

// The fields of the form that an error is about.
std::vector<std::string> fieldsOf(const Error& error)
{
    std::vector<std::string> fields;
    for (const About& thing : error.about) {
        switch (thing.subject) {
        case Subject::Kernel:
            fields.emplace_back(kFieldOfKernel);
            break;
        case Subject::Chip:
            fields.emplace_back(kFieldOfChip);
            break;
        case Subject::Parameter:
            fields.push_back(thing.name);
            break;
        case Subject::Setting:
        case Subject::Operand:
        case Subject::File:
            break; // have no field
        }
    }
    return fields;
}

} // namespace

Session::Session(QObject* parent)
    : QObject(parent)
{
    m_staleDelay.setSingleShot(true);
    m_staleDelay.setInterval(kStaleAfterMs);
    connect(&m_staleDelay, &QTimer::timeout, this, [this] {
        ViewState next = m_state;
        next.stale = m_job.running;
        change(next);
    });
    connect(&m_playback, &Playback::advanced, this,
            [this](Picoseconds time) { moveTo(m_state.now + time, Follow::Scroll); });
    connect(&m_runs, &RunJobs::progressed, this, [this] {
        m_job.share = m_runs.share();
        Q_EMIT jobChanged();
    });
    connect(&m_runs, &RunJobs::finished, this, &Session::finishRun);
    connect(&m_saves, &RunJobs::finished, this, &Session::finishSave);
}

// ---- runs and traces

void Session::start(RunRequest request)
{
    m_request = std::move(request);
    Q_EMIT requestChanged();
    setJob({true, tr("re-running"), 0, {}, {}, {}});
    m_staleDelay.start();
    m_runs.start([request = m_request](const Progress& progress) -> JobResult {
        Result<FinishedRun> result = runKernel(request, progress);
        if (!result) {
            return result.error();
        }
        return std::optional(std::move(*result));
    });
}

void Session::setKernel(const std::string& kernel)
{
    RunRequest next = m_request;
    next.kernel = kernel;
    next.parameters.clear();
    next.fullValues = next.check = false;
    start(next);
}

void Session::setChip(const std::string& chip)
{
    RunRequest next = m_request;
    next.chip = chip;
    next.fullValues = next.check = false;
    start(next);
}

void Session::setParameter(const std::string& name, const std::string& value)
{
    RunRequest next = m_request;
    put(next, name, value);
    next.fullValues = next.check = false; // times need no numbers; "Check values" asks for them
    if (next == m_request && m_job.error.isEmpty()) {
        return;
    }
    start(next);
}

void Session::applyAlternative(std::size_t index)
{
    if (!m_run || index >= m_run->view->alternatives.size()) {
        return;
    }
    RunRequest next = m_run->request;
    for (const auto& [name, value] : m_run->view->alternatives[index].changed) {
        put(next, name, value);
    }
    next.fullValues = next.check = false;
    start(next);
}

void Session::checkValues()
{
    RunRequest next = m_request;
    next.fullValues = next.check = true;
    start(next);
}

void Session::openTrace(const QString& path)
{
    setJob({true, tr("opening %1").arg(QFileInfo(path).fileName()), 0, {}, {}, {}});
    m_staleDelay.start();
    m_runs.start([path = path.toStdString()](const Progress& progress) -> JobResult {
        Result<FinishedRun> result = app::openFile(path, progress);
        if (!result) {
            return result.error();
        }
        return std::optional(std::move(*result));
    });
}

void Session::saveTrace(const QString& path)
{
    if (!m_run) {
        return;
    }
    m_savePath = path;
    m_saves.start([path = path.toStdString(),
                   trace = m_run->view->trace](const Progress& progress) -> JobResult {
        trace_file::SaveOptions options;
        options.progress = progress;
        const Status status = trace_file::save(*trace, path, options);
        if (!status) {
            return status.error();
        }
        return std::optional<FinishedRun>();
    });
}

void Session::finishSave(const JobResult& result)
{
    JobStatus job = m_job;
    job.error = result ? QString() : text(result.error().message);
    job.parameter.clear();
    job.notice = result ? tr("Saved %1").arg(m_savePath) : QString();
    setJob(job);
}

void Session::cancel()
{
    if (!m_job.running) {
        return;
    }
    m_runs.cancel();
    if (m_run) { // the form shows again what the views show
        m_request = m_run->request;
        Q_EMIT requestChanged();
    }
    setJob({false, {}, 0, {}, {}, tr("Cancelled")});
}

void Session::finishRun(const JobResult& result)
{
    if (result) {
        if (result->has_value()) {
            adopt(**result);
        }
        return;
    }
    const Error& error = result.error();
    if (error.kind == ErrorKind::Cancelled) {
        setJob({false, {}, 0, {}, {}, tr("Cancelled")});
        return;
    }
    setJob({false, {}, 0, text(error.message), fieldOf(error), {}});
}

// The field that an error is about: one that the user has just changed, if there is any.
QString Session::fieldOf(const Error& error) const
{
    const auto isChanged = [this](const std::string& field) {
        return !m_run || valueIn(m_run->request, field) != valueIn(m_request, field);
    };
    const std::vector<std::string> named = fieldsOf(error);
    const auto changed = std::find_if(named.begin(), named.end(), isChanged);
    if (changed != named.end()) {
        return text(*changed);
    }
    if (m_run && m_run->request.kernel == m_request.kernel) {
        const std::vector<KernelInfo> all = kernels();
        std::vector<std::string> fields{kFieldOfChip};
        if (const KernelInfo* kernel = findKernel(all, m_request.kernel)) {
            for (const ParameterInfo& parameter : kernel->parameters) {
                fields.push_back(parameter.name);
            }
        }
        const auto other = std::find_if(fields.begin(), fields.end(), isChanged);
        if (other != fields.end()) {
            return text(*other);
        }
    }
    return named.empty() ? QString() : text(named.front());
}

void Session::adopt(FinishedRun run)
{
    const bool first = !m_run;
    const Picoseconds before = first ? Picoseconds(0) : trace().end();
    m_run = std::move(run);
    m_stops = std::make_unique<navigation::Stops>(m_run->view->trace);
    const auto& view = *m_run->view;
    m_playback.setStepTime(Picoseconds(std::max<std::int64_t>(
        1, view.periodTime.value() / std::max<std::int64_t>(1, view.period))));
    ViewState next = m_state;
    next.stale = false;
    next.selection = next.hover = {};
    next.firstSourceLine = 0;
    if (trace().end() != before) {
        // The same share of the run, so that views of two block sizes can be compared.
        const double share = before.value() > 0 ? ratio(m_state.now, before) : 0;
        const double end = static_cast<double>(trace().end().value());
        next.now = Picoseconds(std::llround(std::clamp(share, 0.0, 1.0) * end));
        next.visible = next.now.value() == 0 ? layout::firstFrame(trace())
                                             : layout::frameAround(trace(), next.now);
    }
    m_staleDelay.stop();
    m_request = m_run->request;
    m_state = next; // views get the new run together with the new state
    Q_EMIT runChanged();
    Q_EMIT requestChanged();
    Q_EMIT nowChanged();
    Q_EMIT rangeChanged();
    setJob({});
}

void Session::look(ViewState state)
{
    if (!m_run) {
        return;
    }
    state.now = std::clamp(state.now, Picoseconds(0), trace().end());
    if (state.visible.begin >= state.visible.end) {
        state.visible = layout::frameAround(trace(), state.now);
    }
    state.playing = m_state.playing;
    state.stale = m_state.stale;
    change(state);
}

void Session::report(const QString& error)
{
    setJob({m_job.running, m_job.what, m_job.share, error, {}, {}});
}

void Session::setJob(JobStatus job)
{
    if (!job.running) {
        m_staleDelay.stop();
        ViewState next = m_state;
        next.stale = false;
        change(next);
    }
    if (job != m_job) {
        m_job = std::move(job);
        Q_EMIT jobChanged();
    }
}

// ---- the playhead

void Session::setPlaying(bool playing)
{
    if (!m_run || playing == m_state.playing) {
        return;
    }
    if (playing && m_state.now >= trace().end()) {
        moveTo(Picoseconds(0), Follow::Jump);
    }
    playing ? m_playback.start() : m_playback.stop();
    ViewState next = m_state;
    next.playing = playing;
    change(next);
}

void Session::setNow(Picoseconds now)
{
    moveTo(now, Follow::Jump);
}

void Session::end()
{
    if (m_run) {
        setNow(trace().end());
    }
}

void Session::step(StepUnit unit, int direction)
{
    if (!m_run) {
        return;
    }
    setPlaying(false);
    const auto stop =
        direction > 0 ? m_stops->next(unit, m_state.now) : m_stops->previous(unit, m_state.now);
    if (stop) {
        setNow(*stop);
    }
}

TimeRange Session::within(Picoseconds begin, Picoseconds length) const
{
    const Picoseconds end = trace().end();
    length = std::min(length, end);
    begin = std::clamp(begin, Picoseconds(0), end - length);
    return {begin, begin + length};
}

void Session::moveTo(Picoseconds now, Follow follow)
{
    if (!m_run) {
        return;
    }
    ViewState next = m_state;
    next.now = std::clamp(now, Picoseconds(0), trace().end());
    const Picoseconds length = next.visible.end - next.visible.begin;
    const auto part = [length](double share) {
        return Picoseconds(std::llround(share * static_cast<double>(length.value())));
    };
    const bool outside = next.now < next.visible.begin || next.now > next.visible.end;
    if (follow == Follow::Scroll && next.now > next.visible.begin + part(kFollowAt)) {
        next.visible = within(next.now - part(kFollowAt), length);
    } else if (outside && follow != Follow::No) {
        next.visible = within(next.now - part(kJumpTo), length);
    }
    const bool over = next.now == trace().end() && m_state.playing;
    if (over) {
        m_playback.stop();
        next.playing = false;
    }
    change(next);
}

void Session::change(const ViewState& next)
{
    const ViewState before = std::exchange(m_state, next);
    if (before.now != next.now) {
        Q_EMIT nowChanged();
    }
    if (!(before.visible == next.visible)) {
        Q_EMIT rangeChanged();
    }
    if (!(before.hover == next.hover)) {
        Q_EMIT hoverChanged();
    }
    if (!(before.selection == next.selection)) {
        Q_EMIT selectionChanged();
    }
    if (before.playing != next.playing) {
        Q_EMIT playingChanged();
    }
    if (before.firstSourceLine != next.firstSourceLine) {
        Q_EMIT sourceScrolled();
    }
    if (before.stale != next.stale) {
        Q_EMIT staleChanged();
    }
}

// ---- the range of the time line

void Session::setVisible(TimeRange range)
{
    ViewState next = m_state;
    next.visible = range;
    change(next);
}

void Session::zoom(double factor)
{
    if (!m_run) {
        return;
    }
    const layout::TimeAxis axis{0, 1000, m_state.visible};
    const double x = axis.toX(m_state.now);
    const bool inView = x >= 0 && x <= axis.width;
    setVisible(layout::zoomed(axis, inView ? x : axis.width / 2, factor, trace().end()));
}

void Session::pan(double share)
{
    if (m_run) {
        const layout::TimeAxis axis{0, 1000, m_state.visible};
        setVisible(layout::panned(axis, -share * axis.width, trace().end()));
    }
}

void Session::frame(Frame frame)
{
    if (!m_run) {
        return;
    }
    switch (frame) {
    case Frame::Operation:
        setVisible(navigation::stepRange(trace(), m_state.now));
        break;
    case Frame::Steps:
        setVisible(layout::frameAround(trace(), m_state.now));
        break;
    case Frame::Run:
        setVisible({Picoseconds(0), trace().end()});
        break;
    }
}

// ---- looking at things

void Session::setHover(const Target& target)
{
    ViewState next = m_state;
    next.hover = target;
    change(next);
}

void Session::select(const Target& target)
{
    ViewState next = m_state;
    next.selection = target;
    change(next);
}

void Session::activate(const Target& target)
{
    if (const auto* other = std::get_if<target::Alternative>(&target)) {
        applyAlternative(static_cast<std::size_t>(other->index));
    } else if (const auto* at = std::get_if<target::Time>(&target)) {
        if (at->time) {
            setNow(*at->time);
        }
    } else if (layout::is<target::Finding>(target) || layout::is<target::Print>(target)) {
        select(target);
        goTo(target);
    } else if (layout::is<target::Lane>(target) || target == m_state.selection) {
        select({});
    } else {
        select(target);
    }
}

void Session::goTo(const Target& target)
{
    if (!m_run) {
        return;
    }
    if (const auto time = navigation::timeOf(trace(), target, m_state.now)) {
        setPlaying(false);
        setNow(*time);
    }
}

void Session::nextFinding(int direction)
{
    if (!m_run || trace().info().findings.empty()) {
        return;
    }
    const auto count = static_cast<std::int64_t>(trace().info().findings.size());
    const auto* selected = std::get_if<target::Finding>(&m_state.selection);
    std::int64_t at = selected != nullptr ? selected->index.value_or(-1) + direction
                      : direction > 0     ? 0
                                          : count - 1;
    at = (at % count + count) % count;
    activate(target::Finding{at});
}

void Session::setFirstSourceLine(std::int64_t line)
{
    ViewState next = m_state;
    next.firstSourceLine = line;
    change(next);
}

void Session::setTheme(layout::Theme theme)
{
    if (theme != m_theme) {
        m_theme = theme;
        Q_EMIT themeChanged();
    }
}

} // namespace pallascope::app
