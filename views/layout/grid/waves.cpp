#include "views/layout/grid/waves.h"

#include "core/base/format.h"
#include "core/trace/columns.h"
#include "views/layout/run/grid_blocks.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

using trace::at;

constexpr double kWavesHead = 20, kLegendLine = 18, kBetweenWaves = 4; // px
constexpr double kLabel = 48;                                          // px for "wave 12"
constexpr double kLabelLine = 12;                                      // px from label to label
constexpr double kLargest = 13, kLeast = 4; // px of a cell; smaller ones are pixels of an image
constexpr double kHatched = 6;              // px; from here on a cell has room for a pattern
constexpr std::int64_t kMostHits = 20'000;
constexpr Role kRole = Role::Vpu;

// How the cells lie: wave below wave, each in one line or in several.
struct Arrangement
{
    double cell = 0;     // px; 0: an image
    double waveStep = 0; // px from wave to wave
    std::int64_t perLine = 1;
    double height = 0; // of all waves
};

Arrangement arranged(const trace::GridLaunch& launch, double width, double room)
{
    const auto places = static_cast<std::int64_t>(launch.places.size());
    const auto count = static_cast<double>(launch.waves);
    for (double cell = kLargest; cell >= kLeast; --cell) {
        const auto perLine = static_cast<std::int64_t>(std::floor((width - kLabel) / cell));
        if (perLine < 1) {
            continue;
        }
        // An SM's places stay in one line.
        const std::int64_t whole =
            perLine >= launch.perSm ? perLine / launch.perSm * launch.perSm : perLine;
        const std::int64_t lines = (places + whole - 1) / whole;
        const double step = static_cast<double>(lines) * cell + (lines > 1 ? kBetweenWaves : 0);
        if (step * count <= room) {
            return {cell, step, std::min(whole, places), step * count};
        }
    }
    const double step = std::clamp(std::floor(room / count), 1.0, 6.0);
    return {0, step, places, std::min(room, step * count)};
}

// Whether the fullest place has as many blocks as there are waves of blocks that take equally long,
// which the budget counts. Where blocks take differently long, some places have more.
bool areEven(const trace::Trace& trace, const trace::GridLaunch& launch)
{
    const std::int64_t waves = trace.info().blockGrids[at(launch.grid)].waves;
    return waves == 0 || waves == launch.waves; // 0 in older files
}

class WavesPainter
{
public:
    WavesPainter(Canvas& canvas, const RunView& run, const ViewState& state,
                 const trace::GridLaunch& launch, Rect area)
        : m_canvas(canvas)
        , m_trace(*run.trace)
        , m_run(run)
        , m_state(state)
        , m_launch(launch)
        , m_area(area)
        , m_how(arranged(launch, area.w, area.h - kWavesHead - kLegendLine))
    {}

    void paint()
    {
        paintHead();
        m_how.cell > 0 ? paintCells() : paintImage();
        paintLabels();
        paintKey(m_area.y + kWavesHead + m_how.height + 4);
    }

private:
    [[nodiscard]] std::optional<std::int64_t> rowAt(std::size_t place, std::int64_t wave) const
    {
        const std::vector<std::int64_t>& rows = m_launch.places[place].rows;
        return at(wave) < rows.size() ? std::optional(rows[at(wave)]) : std::nullopt;
    }

    void paintHead()
    {
        const trace::BlockGrid& grid = m_trace.info().blockGrids[at(m_launch.grid)];
        m_canvas.text(m_area.x, m_area.y, m_area.w, 17, "Blocks",
                      {12, Role::Text, Weight::SemiBold, Align::Left});
        const double x = m_area.x + textWidth("Blocks", 12, Weight::SemiBold) + 8;
        const auto sms = static_cast<std::int64_t>(m_launch.places.size()) / m_launch.perSm;
        std::string note =
            grid.extents.empty() ? countText(grid.blocks) : "grid " + parts::times(grid.extents);
        // A point of the grid is a cluster.
        note += grid.cluster > 1 ? " of clusters of " + countText(grid.cluster) : "";
        for (const std::string& more :
             {fmt::format("{} on {}",
                          counted(areEven(m_trace, m_launch) ? m_launch.waves : grid.waves, "wave",
                                  "waves"),
                          counted(sms, "SM", "SMs")),
              areEven(m_trace, m_launch)
                  ? std::string()
                  : fmt::format("up to {} blocks in turn", countText(m_launch.waves)),
              m_launch.perSm > 1 ? countText(m_launch.perSm) + " places each" : std::string()}) {
            const std::string longer = more.empty() ? note : note + " · " + more;
            note = x + textWidth(longer, 10) <= m_area.right() ? longer : note;
        }
        m_canvas.text(x, m_area.y + 1, m_area.right() - x, 17, note,
                      {10, Role::Text3, Weight::Regular, Align::Left});
    }

    [[nodiscard]] double waveTop(std::int64_t wave) const
    {
        return m_area.y + kWavesHead
               + std::floor(m_how.height * static_cast<double>(wave)
                            / static_cast<double>(m_launch.waves));
    }

    [[nodiscard]] Rect cellRect(std::size_t place, std::int64_t wave) const
    {
        const auto number = static_cast<std::int64_t>(place);
        return {m_area.x + kLabel + static_cast<double>(number % m_how.perLine) * m_how.cell,
                waveTop(wave) + static_cast<double>(number / m_how.perLine) * m_how.cell,
                m_how.cell - 1, m_how.cell - 1};
    }

    void paintCells()
    {
        const std::int32_t chosen = chosenSm(m_run, m_state);
        for (std::int64_t wave = 0; wave < m_launch.waves; ++wave) {
            for (std::size_t place = 0; place < m_launch.places.size(); ++place) {
                const Rect rect = cellRect(place, wave);
                const std::optional<std::int64_t> row = rowAt(place, wave);
                row ? paintBlockCell(rect, blockDoes(m_trace, *row, m_state.now))
                    : paintEmpty(rect, m_launch.isIdle(place, m_state.now));
                const std::int32_t sm = m_launch.places[place].sm;
                if (sm != trace::kNone && sm == chosen && rect.w >= 5) {
                    m_canvas.frame(rect.x, rect.y, rect.w, rect.h, Role::Text);
                }
                hit({rect.x, rect.y, rect.w + 1, rect.h + 1}, row, place);
            }
        }
    }

    void hit(Rect rect, std::optional<std::int64_t> row, std::size_t place)
    {
        const std::int32_t sm = m_launch.places[place].sm;
        if (row) {
            m_canvas.hit(rect.x, rect.y, rect.w, rect.h, target::GridBlock{*row});
        } else if (sm >= 0 && at(sm) < m_run.index->agents().sms.size()) {
            m_canvas.hit(rect.x, rect.y, rect.w, rect.h, target::Sm{sm});
        }
    }

    void paintBlockCell(Rect rect, BlockDoes what)
    {
        m_canvas.fill(rect.x, rect.y, rect.w, rect.h, colorOf(what));
        if (what == BlockDoes::Claimed && rect.w + 1 >= kHatched) {
            m_canvas.dashedFrame(rect.x, rect.y, rect.w, rect.h, kRole);
        }
    }

    // A place that runs no block in this wave.
    void paintEmpty(Rect rect, bool isIdle)
    {
        if (!isIdle) {
            m_canvas.frame(rect.x, rect.y, rect.w, rect.h, Role::Grid);
        } else if (rect.w + 1 >= kHatched) {
            m_canvas.hatch(rect.x, rect.y, rect.w, rect.h, Role::Wait, Role::View, Hatch::Wait);
        } else {
            m_canvas.fill(rect.x, rect.y, rect.w, rect.h, mix(Role::Wait, 0.5));
        }
    }

    [[nodiscard]] static Color colorOf(BlockDoes what)
    {
        switch (what) {
        case BlockDoes::NotYet:
            return Role::Grid;
        case BlockDoes::Claimed:
            return mix(kRole, 0.14);
        case BlockDoes::Runs:
            return kRole;
        case BlockDoes::Done:
            break;
        }
        return mix(kRole, 0.40);
    }

    // Several waves and places may share a pixel: it shows the liveliest.
    void paintImage()
    {
        enum : std::uint8_t
        {
            kNone,
            kNotYet,
            kIdle,
            kDone,
            kClaimed,
            kRuns
        };

        const double room = m_area.w - kLabel;
        const auto places = m_launch.places.size();
        const auto columns = std::min(places, static_cast<std::size_t>(std::max(1.0, room)));
        const auto rows =
            std::min(at(m_launch.waves), static_cast<std::size_t>(std::max(1.0, m_how.height)));
        std::vector<std::uint8_t> cells(columns * rows, kNone);
        const double width =
            room >= static_cast<double>(2 * columns)
                ? std::floor(room / static_cast<double>(columns)) * static_cast<double>(columns)
                : room;
        const Rect rect{m_area.x + kLabel, m_area.y + kWavesHead, width, m_how.height};
        const bool hasHits = static_cast<std::int64_t>(places) * m_launch.waves <= kMostHits;
        for (std::size_t place = 0; place < places; ++place) {
            for (std::int64_t wave = 0; wave < m_launch.waves; ++wave) {
                const std::size_t x = place * columns / places;
                const std::size_t y = at(wave) * rows / at(m_launch.waves);
                const std::optional<std::int64_t> row = rowAt(place, wave);
                const BlockDoes what = row ? blockDoes(m_trace, *row, m_state.now) : BlockDoes();
                const std::uint8_t now = !row
                                             ? (m_launch.isIdle(place, m_state.now) ? kIdle : kNone)
                                         : what == BlockDoes::NotYet  ? kNotYet
                                         : what == BlockDoes::Claimed ? kClaimed
                                         : what == BlockDoes::Runs    ? kRuns
                                                                      : kDone;
                std::uint8_t& cell = cells[y * columns + x];
                cell = std::max(cell, now);
                if (hasHits || what == BlockDoes::Runs) {
                    const double w = rect.w / static_cast<double>(places);
                    const double top = waveTop(wave);
                    hit({rect.x + static_cast<double>(place) * w, top, std::max(1.0, w),
                         std::max(1.0, waveTop(wave + 1) - top)},
                        row, place);
                }
            }
        }
        m_canvas.image(rect, static_cast<int>(columns), static_cast<int>(rows),
                       {Role::View, Role::Grid, mix(Role::Wait, 0.5), colorOf(BlockDoes::Done),
                        mix(kRole, 0.7), kRole},
                       std::move(cells));
    }

    void paintLabels()
    {
        double free = m_area.y;
        for (std::int64_t wave = 0; wave < m_launch.waves; ++wave) {
            const double top = waveTop(wave) - (m_how.cell >= 10 ? 0 : 2);
            if (top >= free && top + kLabelLine <= m_area.y + kWavesHead + m_how.height + 4) {
                m_canvas.text(m_area.x, top, kLabel - 4, kLabelLine, "wave " + countText(wave + 1),
                              {10, Role::Text3, Weight::Regular, Align::Left});
                free = top + kLabelLine;
            }
        }
    }

    void paintKey(double y)
    {
        struct Entry
        {
            const char* name;
            std::optional<BlockDoes> what; // none: an idle SM
        };

        std::vector<Entry> entries = {{"runs", BlockDoes::Runs},
                                      {"done", BlockDoes::Done},
                                      {"not yet", BlockDoes::NotYet},
                                      {"SM idle", std::nullopt}};
        if (m_launch.hasClaims()) {
            entries.push_back({"claimed", BlockDoes::Claimed});
        }
        double x = m_area.x;
        for (const Entry& entry : entries) {
            const double width = textWidth(entry.name, 10);
            if (x + 16 + width > m_area.right()) {
                return;
            }
            const Rect rect{x, y + 2, 10, 10};
            entry.what ? paintBlockCell(rect, *entry.what) : paintEmpty(rect, true);
            m_canvas.text(x + 15, y, width + 2, 14, entry.name,
                          {10, Role::Text2, Weight::Regular, Align::Left});
            x += std::ceil(width) + 29;
        }
    }

    Canvas& m_canvas;
    const trace::Trace& m_trace;
    const RunView& m_run;
    const ViewState& m_state;
    const trace::GridLaunch& m_launch;
    Rect m_area;
    Arrangement m_how;
};

} // namespace

double wavesHeight(const trace::GridLaunch& launch, double width, double room)
{
    constexpr double kLeastWidth = 100, kLeastWaves = 12; // px
    if (width < kLeastWidth || room < kWavesHead + kLegendLine + kLeastWaves) {
        return 0;
    }
    return kWavesHead + kLegendLine
           + arranged(launch, width, room - kWavesHead - kLegendLine).height + 4;
}

void paintWaves(Canvas& canvas, const RunView& run, const ViewState& state,
                const trace::GridLaunch& launch, Rect area)
{
    WavesPainter(canvas, run, state, launch, area).paint();
}

std::string wavesCaption(Canvas& canvas, const RunView& run, const ViewState& state,
                         const trace::GridLaunch& launch)
{
    const std::int64_t done = launch.endedBy(state.now);
    const std::int64_t claimed = launch.claimedBy(state.now) - launch.claimedEndedBy(state.now);
    const std::int64_t runs = launch.begunBy(state.now) - done - claimed;
    const std::int64_t all = launch.blocks, idle = launch.idleSms(state.now);
    const auto say = [&](FactKind kind, std::int64_t value) {
        canvas.state({kind, -1, static_cast<double>(value), countText(value)});
    };
    say(FactKind::GridBlocks, all);
    say(FactKind::GridBlocksRunning, runs);
    say(FactKind::GridBlocksDone, done);
    std::string caption =
        areEven(*run.trace, launch)
            ? fmt::format("wave |{}| of |{}| · ", countText(launch.waveAt(state.now) + 1),
                          countText(launch.waves))
            : "";
    caption += fmt::format("|{}| of |{}| blocks done, |{}| running", countText(done),
                           countText(all), countText(runs));
    if (claimed > 0) {
        caption += fmt::format(", |{}| claimed", countText(claimed));
    }
    if (idle > 0) {
        say(FactKind::SmsIdle, idle);
        caption += fmt::format(" · |{}| idle", counted(idle, "SM", "SMs"));
    }
    return caption;
}

} // namespace pallascope::layout
