#include "app/window/breakpoints.h"

#include "views/fonts.h"

#include <algorithm>

namespace pallascope::app {

namespace {

using namespace Qt::StringLiterals;

const QString kOff = u"off "_s;

} // namespace

QString Breakpoints::Entry::name() const
{
    return views::text(trace::textOf(breakpoint));
}

Breakpoints::Breakpoints(QObject* parent)
    : QObject(parent)
{
    connect(&m_jobs, &BreakJobs::progressed, this, &Breakpoints::progressed);
    connect(&m_jobs, &BreakJobs::found, this,
            [this](const trace::Breakpoint& breakpoint, const navigation::BreakTimes& stops) {
                if (Entry* entry = entryOf(breakpoint)) {
                    entry->stops = stops;
                    entry->isAwaited = false;
                    announce();
                }
            });
    connect(&m_jobs, &BreakJobs::failed, this,
            [this](const trace::Breakpoint& breakpoint, const QString& why) {
                if (Entry* entry = entryOf(breakpoint)) {
                    entry->why = why;
                    entry->isAwaited = false;
                    announce();
                }
            });
}

Breakpoints::Entry* Breakpoints::entryOf(const trace::Breakpoint& breakpoint)
{
    const auto index = find(breakpoint);
    return index ? &m_entries[*index] : nullptr;
}

void Breakpoints::show(const QString& kernel, const RunRequest& request,
                       std::shared_ptr<const layout::RunView> run, bool isReopened)
{
    if (kernel != m_kernel) {
        m_kept[m_kernel] = textsOf(m_entries);
        m_kernel = kernel;
        m_entries.clear();
        take(m_kept[kernel]);
    }
    m_run = std::move(run);
    m_jobs.open(request, m_run, isReopened);
    lookAll();
}

void Breakpoints::showNothing()
{
    m_run = nullptr;
    m_jobs.close();
    lookAll();
}

void Breakpoints::lookAll()
{
    for (Entry& entry : m_entries) {
        look(entry);
    }
    announce();
}

void Breakpoints::look(Entry& entry)
{
    entry.stops.clear();
    entry.why.clear();
    entry.isAwaited = false;
    if (!m_run || !m_run->notRun.empty()) {
        entry.why = tr("Nothing ran.");
        return;
    }
    if (!trace::needsValues(entry.breakpoint)) {
        Result<navigation::BreakTimes> stops =
            navigation::breakTimes(*m_run->trace, entry.breakpoint);
        entry.why = stops ? QString() : views::text(stops.error().message);
        entry.stops = stops ? std::move(*stops) : navigation::BreakTimes();
    } else if (entry.isOn) { // a search takes as long as the run
        entry.isAwaited = true;
        m_jobs.search(entry.breakpoint);
    }
}

Status Breakpoints::add(const std::string& text)
{
    Result<trace::Breakpoint> breakpoint = trace::parseBreakpoint(text);
    if (!breakpoint) {
        return breakpoint.error();
    }
    if (const auto line = m_run ? navigation::lineOf(m_run->trace->info(), *breakpoint)
                                : std::optional<trace::SourceLine>()) {
        breakpoint = navigation::breakpointAt(m_run->trace->info(), *line); // one text for a line
    }
    if (m_run && m_run->notRun.empty() && !trace::needsValues(*breakpoint)) {
        const auto stops = navigation::breakTimes(*m_run->trace, *breakpoint);
        if (!stops) {
            return stops.error();
        }
    }
    add(*breakpoint);
    return Done{};
}

void Breakpoints::add(const trace::Breakpoint& breakpoint)
{
    if (const auto index = find(breakpoint)) {
        setOn(*index, true);
        return;
    }
    m_entries.push_back({.breakpoint = breakpoint});
    look(m_entries.back());
    announce();
}

void Breakpoints::remove(std::size_t index)
{
    m_entries.erase(m_entries.begin() + static_cast<std::ptrdiff_t>(index));
    announce();
}

void Breakpoints::setOn(std::size_t index, bool isOn)
{
    Entry& entry = m_entries[index];
    if (entry.isOn == isOn) {
        return;
    }
    entry.isOn = isOn;
    const bool isKnown = !entry.stops.empty() || entry.isAwaited;
    if (isOn && trace::needsValues(entry.breakpoint) && !isKnown) {
        look(entry);
    }
    announce();
}

void Breakpoints::toggle(const trace::Breakpoint& breakpoint)
{
    if (const auto index = find(breakpoint)) {
        remove(*index);
    } else {
        add(breakpoint);
    }
}

std::optional<std::size_t> Breakpoints::find(const trace::Breakpoint& breakpoint) const
{
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        if (m_entries[i].breakpoint == breakpoint) {
            return i;
        }
    }
    return std::nullopt;
}

std::optional<navigation::BreakHit> Breakpoints::hit(Picoseconds from, int direction) const
{
    return direction > 0 ? navigation::nextHit(m_active, from)
                         : navigation::previousHit(m_active, from);
}

std::shared_ptr<const std::vector<layout::BreakStops>> Breakpoints::marks() const
{
    std::vector<layout::BreakStops> marks;
    for (const Entry& entry : m_entries) {
        if (!entry.stops.empty()) {
            marks.push_back({entry.name().toStdString(), entry.stops, entry.isOn});
        }
    }
    return marks.empty()
               ? nullptr
               : std::make_shared<const std::vector<layout::BreakStops>>(std::move(marks));
}

// Playing asks for the next stop in every frame, so nothing is gathered then.
void Breakpoints::announce()
{
    m_active.clear();
    for (const Entry& entry : m_entries) {
        m_active.push_back(entry.isOn ? entry.stops : navigation::BreakTimes());
    }
    Q_EMIT changed();
}

bool Breakpoints::isLooking() const
{
    return std::any_of(m_entries.begin(), m_entries.end(),
                       [](const Entry& entry) { return entry.isOn && entry.isAwaited; });
}

QStringList Breakpoints::textsOf(const std::vector<Entry>& entries)
{
    QStringList texts;
    for (const Entry& entry : entries) {
        texts.append(entry.isOn ? entry.name() : kOff + entry.name());
    }
    return texts;
}

// What another version wrote, and this one does not understand, is left out.
void Breakpoints::take(const QStringList& texts)
{
    for (const QString& text : texts) {
        const bool isOn = !text.startsWith(kOff);
        const auto breakpoint =
            trace::parseBreakpoint((isOn ? text : text.mid(kOff.size())).toStdString());
        if (breakpoint && !find(*breakpoint)) {
            m_entries.push_back({.breakpoint = *breakpoint, .isOn = isOn});
        }
    }
}

std::map<QString, QStringList> Breakpoints::kept() const
{
    std::map<QString, QStringList> all = m_kept;
    all[m_kernel] = textsOf(m_entries);
    std::erase_if(all, [](const auto& one) { return one.first.isEmpty() || one.second.isEmpty(); });
    return all;
}

void Breakpoints::keep(const std::map<QString, QStringList>& kept)
{
    m_kept = kept;
    m_entries.clear();
    take(m_kept[m_kernel]);
    lookAll();
}

} // namespace pallascope::app
