#include "core/analysis/piece_times.h"

#include "core/trace/agents.h"
#include "core/trace/columns.h"

#include <map>

namespace pallascope::analysis {

namespace {

constexpr double kLeastOfPiece = 1.0 / 3;

// How long what may bound pieces was busy in them.
class Busy
{
public:
    Busy(const trace::Index& index, std::int32_t device, const std::string& onChipName)
        : m_index(index)
        , m_info(index.trace().info())
        , m_device(device)
        , m_onChipName(onChipName)
        , m_units(m_info.units.size())
        , m_links(m_info.linksPerDevice())
    {}

    void add(const trace::Piece& piece)
    {
        for (std::size_t unit = 0; unit < m_units.size(); ++unit) {
            const auto id = trace::UnitRow::at(unit);
            const Picoseconds all =
                m_index.unitBusy(id, piece.end) - m_index.unitBusy(id, piece.begin);
            m_units[unit] += Picoseconds(all.value() / m_index.agents().unitCount(id));
        }
        for (std::size_t link = 0; link < m_links.size(); ++link) {
            const auto id = trace::LinkRow::at(linkOf(link));
            for (const bool out : {false, true}) {
                m_links[link] +=
                    m_index.linkBusy(id, out, piece.end) - m_index.linkBusy(id, out, piece.begin);
            }
        }
        m_overhead += piece.overhead;
        m_launch += piece.launch;
        m_time += piece.end - piece.begin;
    }

    [[nodiscard]] Picoseconds time() const { return m_time; }

    [[nodiscard]] std::optional<PieceBound> longest() const
    {
        PieceBound bound;
        Picoseconds busiest;
        const auto consider = [&](const Bound& by, Picoseconds busy,
                                  std::optional<UnitKind> unit = {}) {
            if (busy > busiest) {
                busiest = busy;
                bound.by = by;
                bound.unit = unit;
            }
        };
        for (std::size_t unit = 0; unit < m_units.size(); ++unit) {
            consider(byUnit(m_info.units[unit]), m_units[unit], m_info.units[unit].kind);
        }
        for (std::size_t link = 0; link < m_links.size(); ++link) {
            const trace::Link& of = m_info.links[linkOf(link)];
            consider({BoundKind::Memory, of.kind.empty() ? of.name : of.kind}, m_links[link]);
        }
        consider({BoundKind::StepOverhead}, m_overhead);
        consider({BoundKind::Launches}, m_launch);
        bound.share = m_time > Picoseconds(0) ? ratio(busiest, m_time) : 0;
        return bound.share < kLeastOfPiece ? std::nullopt : std::optional(bound);
    }

private:
    [[nodiscard]] std::size_t linkOf(std::size_t link) const
    {
        return static_cast<std::size_t>(m_device) * m_links.size() + link;
    }

    [[nodiscard]] Bound byUnit(const trace::Unit& unit) const
    {
        const bool moves = unit.kind == UnitKind::Load || unit.kind == UnitKind::Store;
        return moves ? Bound{BoundKind::Memory, m_onChipName}
                     : Bound{BoundKind::Compute, unit.name};
    }

    const trace::Index& m_index;
    const trace::Info& m_info;
    std::int32_t m_device;
    const std::string& m_onChipName;
    std::vector<Picoseconds> m_units, m_links;
    Picoseconds m_overhead, m_launch, m_time;
};

} // namespace

std::optional<PieceBound> boundOf(const trace::Index& index, std::int32_t device,
                                  const trace::Piece& piece, const std::string& onChipName)
{
    Busy busy(index, device, onChipName);
    busy.add(piece);
    return busy.longest();
}

std::vector<PieceTime> pieceTimes(const trace::Index& index, const std::string& onChipName)
{
    const trace::Info& info = index.trace().info();
    const std::vector<trace::Piece>& pieces = index.pieces().all;
    std::map<std::int32_t, std::size_t> rows; // by operation, in the order of their first pieces
    for (const trace::Piece& piece : pieces) {
        rows.try_emplace(piece.operation, rows.size());
    }
    if (rows.size() < 2) {
        return {};
    }
    std::vector<PieceTime> times(rows.size());
    std::vector<Busy> busy(rows.size(), Busy(index, 0, onChipName));
    for (const trace::Piece& piece : pieces) {
        const std::size_t row = rows.at(piece.operation);
        PieceTime& time = times[row];
        if (time.times++ == 0) {
            time.kind = piece.kind;
            time.name = piece.name;
            if (piece.operation != trace::kNone) {
                time.source = info.operations[trace::at(piece.operation)].source;
            }
        }
        busy[row].add(piece);
    }
    for (std::size_t row = 0; row < times.size(); ++row) {
        times[row].time = busy[row].time();
        times[row].bound = busy[row].longest();
    }
    return times;
}

std::string_view pieceKindName(trace::PieceKind kind)
{
    switch (kind) {
    case trace::PieceKind::Kernel:
        return "kernel";
    case trace::PieceKind::Collective:
        return "collective";
    case trace::PieceKind::Fusion:
        return "fusion";
    case trace::PieceKind::Copy:
        break;
    }
    return "copy";
}

} // namespace pallascope::analysis
