#include "tests/agreement/disagreements.h"

#include "core/base/format.h"
#include "core/trace/pipelines.h"
#include "tests/agreement/colors.h"
#include "views/layout/overview/overview.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/views.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace pallascope::test {

namespace {

using layout::Fact;
using layout::FactKind;
using layout::RunView;
using layout::Scene;
using layout::ViewState;

std::string nameOf(FactKind kind)
{
    switch (kind) {
    case FactKind::Step:
        return "the step";
    case FactKind::Steps:
        return "the steps of the pipeline";
    case FactKind::Round:
        return "the round";
    case FactKind::Rounds:
        return "the rounds of the loop";
    case FactKind::RunSteps:
        return "the steps of the run";
    case FactKind::BlocksWritten:
        return "blocks written";
    case FactKind::BlocksOfArray:
        return "blocks of the array";
    case FactKind::BytesMoved:
        return "bytes moved";
    case FactKind::BytesRead:
        return "bytes read";
    case FactKind::BytesWritten:
        return "bytes written";
    case FactKind::BytesOnChip:
        return "bytes moved outside HBM";
    case FactKind::BytesTaken:
        return "bytes taken";
    case FactKind::BytesAllowed:
        return "bytes allowed";
    case FactKind::FlopRate:
        return "FLOP/s";
    case FactKind::Intensity:
        return "FLOP/B";
    case FactKind::CeilingRate:
        return "the rate of a ceiling";
    case FactKind::CeilingIntensity:
        return "FLOP/B of a ceiling";
    case FactKind::Kernel:
        return "the kernel";
    case FactKind::Kernels:
        return "the kernels";
    case FactKind::Device:
        return "the device";
    case FactKind::LinksMoving:
        return "links that move something";
    case FactKind::GridBlocks:
        return "the blocks of the grid";
    case FactKind::GridBlocksDone:
        return "blocks of the grid that are done";
    case FactKind::GridBlocksRunning:
        return "blocks of the grid that run";
    case FactKind::SmsIdle:
        return "SMs without a block";
    case FactKind::Phases:
        return "complete phases of a barrier";
    case FactKind::Arrivals:
        return "arrivals of a phase";
    case FactKind::BytesFromL2:
        return "bytes from L2";
    case FactKind::BytesInL2:
        return "bytes in L2";
    case FactKind::PendingBytes:
        return "bytes that a barrier waits for";
    case FactKind::Waited:
        return "the time waited";
    case FactKind::Compared:
        return "what is compared";
    case FactKind::Swatch:
        break;
    }
    return "the colour";
}

// Whether what is called by this number is written somewhere in the view.
bool isWritten(const Scene& scene, const std::string& text)
{
    if (layout::parts::plain(scene.caption).find(text) != std::string::npos) {
        return true;
    }
    return std::any_of(scene.items.begin(), scene.items.end(), [&](const layout::Item& item) {
        const auto* of = std::get_if<layout::TextItem>(&item);
        return of != nullptr
               && (of->text.find(text) != std::string::npos
                   || of->text.find("…") != std::string::npos); // there was no room for it
    });
}

class Moment
{
public:
    Moment(const RunView& run, const std::shared_ptr<const layout::KeptRun>& kept, Picoseconds now,
           bool whole, std::vector<std::string>& found)
        : m_run(run)
        , m_found(found)
    {
        m_state.now = now;
        m_state.kept = kept;
        m_state.isKeptBySteps = whole;
        m_state.visible =
            whole ? layout::TimeRange{Picoseconds(0), std::max(Picoseconds(1), run.trace->end())}
                  : layout::frameAround(*run.trace, now);
    }

    void check()
    {
        constexpr layout::Size kLarge{700, 3000}; // all arrays have room
        for (const layout::View& view : layout::allViews()) {
            add(std::string(view.name),
                view.layout(m_run, m_state,
                            view.dock.small.height > 0 ? layout::Size{360, 400} : kLarge));
            add(std::string(view.name), view.layout(m_run, m_state, kLarge));
        }
        add("transport", layout::layoutOverview(m_run, m_state, {900, 40}));
        add("verdict strip", layout::layoutVerdictStrip(m_run, m_state, {1600, 26}));
        blocksAndBytes();
        if (m_state.now >= m_run.trace->end()) {
            wholeRun();
        }
    }

private:
    void disagree(const std::string& sentence)
    {
        m_found.push_back(fmt::format("at {}: {}", timeText(m_state.now), sentence));
    }

    void add(const std::string& view, const Scene& scene)
    {
        for (const Fact& fact : scene.facts) {
            if (!fact.text.empty() && !isWritten(scene, fact.text)) {
                disagree(
                    fmt::format("{} does not write {}, {}", view, nameOf(fact.kind), fact.text));
            }
            const std::int32_t of =
                fact.kind == FactKind::Swatch || fact.kind == FactKind::BlocksWritten
                    ? m_run.index->arrays().ofOperand[static_cast<std::size_t>(fact.of)]
                    : fact.of;
            const auto [known, isNew] = m_facts.try_emplace({fact.kind, of}, view, fact);
            if (!isNew && known->second.second.value != fact.value) {
                disagree(fmt::format("{} is {} in {} and {} in {}", nameOf(fact.kind),
                                     known->second.second.value, known->second.first, fact.value,
                                     view));
            }
        }
        for (const std::string& sentence : wrongColors(m_run, scene)) {
            disagree(view + ": " + sentence);
        }
    }

    // What the operands of a strip have in common.
    [[nodiscard]] bool isSameStrip(std::int32_t a, std::int32_t b) const
    {
        const auto key = [&](std::int32_t operand) {
            const trace::Operand& of =
                m_run.trace->info().operands[static_cast<std::size_t>(operand)];
            return std::tuple(std::string(trace::arrayName(of)), toString(of.array), of.dtype,
                              of.arrayNumber);
        };
        return key(a) == key(b);
    }

    // The operand that has the array which a copy from HBM to HBM writes; the operand itself where
    // there is none, and of other copies.
    [[nodiscard]] std::int32_t writtenBy(std::int32_t operand) const
    {
        const auto& operands = m_run.trace->info().operands;
        const trace::Operand& of = operands[static_cast<std::size_t>(operand)];
        const std::string name = of.name, arrow = " \u2192 ";
        if (of.direction != trace::Direction::InOut || name.find(arrow) == std::string::npos) {
            return operand;
        }
        const auto written = std::ranges::find_if(operands, [&](const trace::Operand& other) {
            return trace::arrayName(other) == name.substr(name.find(arrow) + arrow.size());
        });
        return written == operands.end() ? operand
                                         : static_cast<std::int32_t>(written - operands.begin());
    }

    // Of an output whose blocks have all been written once, blocks times their bytes are the bytes.
    void blocksAndBytes()
    {
        for (const auto& [key, blocks] : m_facts) {
            if (key.first != FactKind::BlocksWritten) {
                continue;
            }
            const std::int32_t operand = blocks.second.of;
            const auto bytes = std::find_if(m_facts.begin(), m_facts.end(), [&](const auto& one) {
                return one.first.first == FactKind::BytesMoved
                       && isSameStrip(one.second.second.of, operand);
            });
            const auto once = writtenOnce(operand);
            if (bytes == m_facts.end() || !once) {
                continue;
            }
            const auto [blockBytes, underWay] = *once;
            const double said = blocks.second.value * blockBytes;
            const double moved = bytes->second.second.value;
            if (moved < said - 1 || moved > said + underWay + 1) {
                disagree(fmt::format("{} blocks of {} bytes are written in {}, {} bytes in {}",
                                     blocks.second.value, blockBytes, blocks.first, moved,
                                     bytes->second.first));
            }
        }
    }

    // Bytes of a block, and the bytes that are under way; none where an array is read too, or a
    // block was written twice or not as a whole, or by several devices, each in its own array.
    [[nodiscard]] std::optional<std::pair<double, double>> writtenOnce(std::int32_t operand) const
    {
        const trace::Info& info = m_run.trace->info();
        const trace::Operand& of = info.operands[static_cast<std::size_t>(operand)];
        const auto bytes = static_cast<double>(of.blockBytes.value());
        if (of.direction != trace::Direction::Out || info.deviceCount() > 1) {
            return {};
        }
        const trace::Copies& copies = m_run.trace->copies();
        std::set<std::int64_t> seen;
        double underWay = 0;
        for (std::size_t row = 0; row < copies.size(); ++row) {
            if (copies.start[row] > m_state.now.value()
                || !(isSameStrip(copies.operand[row], operand)
                     || isSameStrip(writtenBy(copies.operand[row]), operand))) {
                continue;
            }
            const auto sharing = m_run.index->sharing(trace::OperandRow{operand});
            if (std::ranges::find(sharing, copies.operand[row]) == sharing.end()) {
                return {}; // another kernel writes such an array too
            }
            const bool isWhole = static_cast<double>(copies.bytes[row]) == bytes;
            if (!isWhole || !seen.insert(copies.block[row]).second) {
                return {};
            }
            underWay += copies.end[row] > m_state.now.value() ? bytes : 0;
        }
        return std::pair(bytes, underWay);
    }

    void wholeRun()
    {
        const analysis::Report& report = m_run.report;
        const auto near = [&](FactKind kind, double wanted) {
            const auto fact = m_facts.find({kind, -1});
            if (fact != m_facts.end()
                && std::abs(fact->second.second.value - wanted) > 1e-6 * std::abs(wanted)) {
                disagree(fmt::format("{} is {} in {} and {} in the report", nameOf(kind),
                                     fact->second.second.value, fact->second.first, wanted));
            }
        };
        near(FactKind::RunSteps, static_cast<double>(report.steps));
        near(FactKind::FlopRate, report.flopsPerSecond);
        near(FactKind::Intensity, report.arithmeticIntensity);
        std::map<std::int32_t, double> moved, reported; // by array
        double all = 0;
        for (const auto& [key, fact] : m_facts) {
            const bool isMoved = key.first == FactKind::BytesMoved;
            if (isMoved || key.first == FactKind::BytesRead || key.first == FactKind::BytesWritten
                || key.first == FactKind::BytesOnChip) {
                const auto operand = static_cast<std::size_t>(key.second);
                if (m_run.trace->info().operands[operand].isOnChip) {
                    continue; // the memory view shows arrays in HBM
                }
                const bool isWritten = key.first == FactKind::BytesWritten;
                const auto of =
                    isWritten ? static_cast<std::size_t>(writtenBy(key.second)) : operand;
                const std::int32_t array = m_run.index->arrays().ofOperand[of];
                (isMoved ? moved : reported)[array] += fact.second.value;
                all += isMoved ? fact.second.value : 0;
            }
        }
        for (const auto& [array, bytes] : reported) {
            if (moved.contains(array) && std::abs(moved[array] - bytes) > 1) {
                disagree(fmt::format("array {} has moved {} bytes in memory and {} in verdict",
                                     array, moved[array], bytes));
            }
        }
        double traffic = 0;
        for (const analysis::Traffic& row : report.traffic) {
            traffic += static_cast<double>(row.bytes.value());
        }
        if (!moved.empty() && all > traffic + 1) {
            disagree(
                fmt::format("memory says that {} bytes have moved, the report {}", all, traffic));
        }
    }

    const RunView& m_run;
    std::vector<std::string>& m_found;
    ViewState m_state;
    std::map<std::pair<FactKind, std::int32_t>, std::pair<std::string, Fact>> m_facts;
};

} // namespace

std::vector<std::string> disagreements(const RunView& run)
{
    return disagreements(run, nullptr);
}

std::vector<std::string> disagreements(const RunView& run,
                                       const std::shared_ptr<const RunView>& kept)
{
    const auto pair = kept == nullptr ? nullptr : layout::keptBeside(kept, run);
    std::vector<std::string> found;
    const std::int64_t end = run.trace->end().value();
    std::set<std::int64_t> moments{0, end};
    for (const std::int64_t share : {3, 11, 26, 38, 50, 63, 77, 92, 99}) {
        moments.insert(end / 100 * share);
    }
    const trace::Steps& steps = run.trace->steps();
    for (std::size_t part = 0; part < 8 && steps.size() > 0; ++part) {
        const std::size_t row = part * steps.size() / 8;
        moments.insert(std::midpoint(steps.bodyBegin[row], steps.bodyEnd[row]));
    }
    bool whole = false;
    for (const std::int64_t now : moments) {
        whole = !whole;
        Moment(run, pair, Picoseconds(now), whole, found).check();
    }
    return found;
}

} // namespace pallascope::test
