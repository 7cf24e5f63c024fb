// Finds the pieces of a run. Which operations stand in a kernel, a fusion or a collective is read
// off the printed program, in which what stands in an operation is printed deeper than it: so it
// is known for every trace that has its program. When a piece runs is said by the rows of the first
// agent of its device, which launches all of them.
#include "core/trace/pieces.h"

#include "core/trace/columns.h"
#include "core/trace/pipelines.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace pallascope::trace {

namespace {

constexpr std::string_view kKernel = "kernel"; // the operation whose region is one

// For each operation the one that it stands in.
std::vector<std::int32_t> aroundOf(const Info& info)
{
    struct Open
    {
        std::size_t depth;
        std::int32_t operation;
    };

    std::vector<std::int32_t> around(info.operations.size(), kNone);
    std::vector<Open> open;
    for (const ListingLine& line : info.listing) {
        if (line.operation == kNone) {
            continue;
        }
        const std::size_t depth = std::min(line.text.find_first_not_of(' '), line.text.size());
        while (!open.empty() && open.back().depth >= depth) {
            open.pop_back();
        }
        around[at(line.operation)] = open.empty() ? kNone : open.back().operation;
        open.push_back({depth, line.operation});
    }
    return around;
}

// What each operation is a part of.
class Roots
{
public:
    explicit Roots(const Info& info)
        : m_info(info)
        , m_kinds(info.operations.size())
        , m_roots(info.operations.size(), kNone)
    {
        const std::vector<std::int32_t> around = aroundOf(info);
        markCollectives(around);
        for (const ListingLine& line : info.listing) { // what is around comes first
            const std::int32_t operation = line.operation;
            if (operation == kNone) {
                continue;
            }
            const std::int32_t outer = around[at(operation)];
            if (outer != kNone && m_roots[at(outer)] != kNone) {
                m_roots[at(operation)] = m_roots[at(outer)];
            } else if (m_kinds[at(operation)]) {
                m_roots[at(operation)] = operation;
            } else if (m_info.operations[at(operation)].name == "dma_wait") {
                m_roots[at(operation)] = operation;
                m_kinds[at(operation)] = PieceKind::Copy;
            }
        }
    }

    // Whether the program says which operations are kernels and which are not.
    [[nodiscard]] bool any() const
    {
        return std::any_of(m_kinds.begin(), m_kinds.end(), [](const auto& kind) {
            return kind == PieceKind::Kernel || kind == PieceKind::Fusion;
        });
    }

    [[nodiscard]] std::int32_t of(std::int32_t operation) const
    {
        return operation == kNone ? kNone : m_roots[at(operation)];
    }

    [[nodiscard]] PieceKind kind(std::int32_t root) const
    {
        return m_kinds[at(root)].value_or(PieceKind::Kernel);
    }

    // The first kernel or fusion behind one in the program, kNone if there is none.
    [[nodiscard]] std::int32_t behind(std::int32_t root) const
    {
        for (std::size_t next = at(root + 1); next < m_roots.size(); ++next) {
            const bool launches = m_roots[next] == static_cast<std::int32_t>(next)
                                  && m_kinds[next] != PieceKind::Collective
                                  && m_kinds[next] != PieceKind::Copy;
            if (launches) {
                return static_cast<std::int32_t>(next);
            }
        }
        return kNone;
    }

private:
    // Around a collective is a scope, in which its devices meet first.
    void markCollectives(const std::vector<std::int32_t>& around)
    {
        for (std::size_t i = 0; i < around.size(); ++i) {
            const std::string& name = m_info.operations[i].name;
            if (name == kKernel) {
                m_kinds[i] = PieceKind::Kernel;
            } else if (name == "fusion") {
                m_kinds[i] = PieceKind::Fusion;
            } else if (name == "get_barrier_semaphore" && around[i] != kNone
                       && m_info.operations[at(around[i])].name == "run_scoped") {
                m_kinds[at(around[i])] = PieceKind::Collective;
            }
        }
    }

    const Info& m_info;
    std::vector<std::optional<PieceKind>> m_kinds; // of operations that can be pieces
    std::vector<std::int32_t> m_roots;
};

// Takes the rows of one agent in the order of time.
class Collector
{
public:
    Collector(const Info& info, const Roots& roots)
        : m_info(info)
        , m_roots(roots)
    {}

    void launch(std::int64_t begin, Picoseconds takes)
    {
        flush();
        m_launch = {begin, takes};
    }

    // Something of a piece begins; kNone: of the one that is under way.
    void take(std::int32_t root, std::int64_t begin, Picoseconds overhead)
    {
        if (root != kNone && (m_launch || m_found.empty() || m_found.back().operation != root)) {
            add(root, m_launch ? m_launch->first : begin);
        }
        if (!m_found.empty()) {
            m_found.back().overhead += overhead;
        }
    }

    // A segment of the one kernel that is the whole program.
    void takeOfAll(SegmentKind kind, Picoseconds duration)
    {
        if (kind == SegmentKind::Launch) {
            m_all.launch += duration;
        } else if (kind == SegmentKind::StepOverhead) {
            m_all.overhead += duration;
        }
    }

    [[nodiscard]] Pieces finish(Picoseconds end)
    {
        flush();
        if (m_found.empty()) {
            m_all.name = m_info.program;
            m_found.push_back(std::move(m_all));
        }
        m_found.front().begin = Picoseconds(0);
        Pieces pieces;
        for (std::size_t i = 0; i < m_found.size(); ++i) {
            m_found[i].end = i + 1 < m_found.size() ? m_found[i + 1].begin : end;
            m_found[i].number = m_found[i].isKernel() ? ++pieces.kernels : 0;
        }
        pieces.all = std::move(m_found);
        return pieces;
    }

private:
    // What was launched and left no row, such as a kernel that only starts copies.
    void flush()
    {
        if (m_launch) {
            const std::int32_t before = m_found.empty() ? kNone : m_found.back().operation;
            if (const std::int32_t root = m_roots.behind(before); root != kNone) {
                add(root, m_launch->first);
            }
            m_launch.reset();
        }
    }

    void add(std::int32_t root, std::int64_t begin)
    {
        Piece piece;
        piece.kind = m_roots.kind(root);
        piece.name = m_info.operations[at(root)].label;
        piece.operation = root;
        piece.begin = Picoseconds(begin);
        piece.launch = m_launch ? m_launch->second : Picoseconds(0);
        m_launch.reset();
        m_found.push_back(std::move(piece));
    }

    const Info& m_info;
    const Roots& m_roots;
    std::vector<Piece> m_found;
    Piece m_all; // the one piece where none is found
    std::optional<std::pair<std::int64_t, Picoseconds>> m_launch; // begin and length
};

// The name of the array that a collective fills: that in which its last copy between devices ends.
std::string_view filledBy(const Trace& trace, std::size_t device, const Piece& piece)
{
    const Info& info = trace.info();
    const Copies& copies = trace.copies();
    const std::size_t each = info.linksPerDevice();
    std::string_view found = "collective";
    for (std::size_t row = begunBy(copies.issue, piece.begin.value() - 1);
         row < copies.size() && copies.issue[row] < piece.end.value(); ++row) {
        const std::size_t link = at(copies.link[row]);
        const std::string_view name = info.operands[at(copies.operand[row])].name;
        const std::size_t arrow = name.rfind(kCopyArrow);
        if (link / each == device && info.joinsDevices(link) && arrow != std::string_view::npos) {
            found = name.substr(arrow + kCopyArrow.size());
        }
    }
    return found;
}

// Hands the rows of the first agent of each device to the collector of that device.
class Reader
{
public:
    explicit Reader(const Trace& trace)
        : m_trace(trace)
        , m_info(trace.info())
        , m_roots(m_info)
        , m_agents(m_info.agentsPerDevice())
        , m_found(at(m_info.deviceCount()), Collector(m_info, m_roots))
        , m_ofPipeline(m_info.pipelines.size(), kNone)
    {}

    void read()
    {
        if (!m_roots.any()) {
            readOneKernel();
            return;
        }
        findPipelines();
        const Segments& segments = m_trace.segments();
        const Waits& waits = m_trace.waits();
        std::size_t segment = 0, wait = 0;
        while (segment < segments.size() || wait < waits.size()) {
            const bool isSegment =
                wait == waits.size()
                || (segment < segments.size() && segments.begin[segment] <= waits.begin[wait]);
            isSegment ? takeSegment(segment++) : takeWait(wait++);
        }
    }

    [[nodiscard]] std::vector<Pieces> finish()
    {
        std::vector<Pieces> all;
        for (std::size_t device = 0; device < m_found.size(); ++device) {
            Pieces& pieces = all.emplace_back(m_found[device].finish(m_trace.end()));
            for (Piece& piece : pieces.all) {
                if (piece.kind == PieceKind::Collective) {
                    piece.name = filledBy(m_trace, device, piece);
                }
            }
        }
        return all;
    }

private:
    // Of a program that does not say what is a kernel.
    void readOneKernel()
    {
        const Segments& segments = m_trace.segments();
        for (std::size_t row = 0; row < segments.size(); ++row) {
            const SegmentTemplate& segment = m_info.templates[at(segments.templateId[row])];
            if (Collector* const to = collector(segments.agent[row]); to != nullptr) {
                to->takeOfAll(segment.kind, segment.duration);
            }
        }
    }

    // What the bodies of each pipeline are a part of.
    void findPipelines()
    {
        const Segments& segments = m_trace.segments();
        for (std::size_t row = 0; row < segments.size(); ++row) {
            const auto& operations = m_info.templates[at(segments.templateId[row])].operations;
            if (segments.step[row] != kNone && !operations.empty()) {
                m_ofPipeline[at(m_trace.steps().pipeline[at(segments.step[row])])] =
                    m_roots.of(operations.front());
            }
        }
    }

    // Of an agent that launches what its device runs; null for the others.
    [[nodiscard]] Collector* collector(std::int32_t agent)
    {
        const std::size_t device = at(agent) / m_agents;
        return at(agent) % m_agents == 0 && device < m_found.size() ? &m_found[device] : nullptr;
    }

    [[nodiscard]] std::int32_t ofStep(std::int32_t step) const
    {
        return step == kNone ? kNone : m_ofPipeline[at(m_trace.steps().pipeline[at(step)])];
    }

    void takeSegment(std::size_t row)
    {
        const Segments& segments = m_trace.segments();
        const SegmentTemplate& segment = m_info.templates[at(segments.templateId[row])];
        Collector* const to = collector(segments.agent[row]);
        if (to == nullptr) {
            return;
        }
        if (segment.kind == SegmentKind::Launch) {
            to->launch(segments.begin[row], segment.duration);
            return;
        }
        const bool isOverhead = segment.kind == SegmentKind::StepOverhead;
        to->take(segment.operations.empty() ? ofStep(segments.step[row])
                                            : m_roots.of(segment.operations.front()),
                 segments.begin[row], isOverhead ? segment.duration : Picoseconds(0));
    }

    void takeWait(std::size_t row)
    {
        const Waits& waits = m_trace.waits();
        Collector* const to = collector(waits.agent[row]);
        if (to != nullptr && waits.begin[row] < waits.end[row]) {
            const std::int32_t operation = waits.operation.empty() ? kNone : waits.operation[row];
            to->take(operation == kNone ? ofStep(waits.step[row]) : m_roots.of(operation),
                     waits.begin[row], Picoseconds(0));
        }
    }

    const Trace& m_trace;
    const Info& m_info;
    const Roots m_roots;
    const std::size_t m_agents; // of each device
    std::vector<Collector> m_found;
    std::vector<std::int32_t> m_ofPipeline;
};

} // namespace

std::size_t Pieces::at(Picoseconds t) const
{
    const auto after =
        std::upper_bound(all.begin(), all.end(), t,
                         [](Picoseconds time, const Piece& piece) { return time < piece.begin; });
    return after == all.begin() ? 0 : static_cast<std::size_t>(after - all.begin()) - 1;
}

std::vector<Pieces> piecesOf(const Trace& trace)
{
    Reader reader(trace);
    reader.read();
    return reader.finish();
}

std::vector<std::string_view> kernelNames(const Info& info)
{
    std::vector<std::string_view> names;
    for (const Operation& operation : info.operations) {
        if (operation.name == kKernel) {
            names.emplace_back(operation.label);
        }
    }
    return names;
}

} // namespace pallascope::trace
