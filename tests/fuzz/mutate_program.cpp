// Changes programs at random and repairs their types.
#include "tests/fuzz/mutate_program.h"

#include "core/ir/infer.h"
#include "core/ir/pipeline_facts.h"
#include "core/kernel_file/params.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace pallascope::fuzz {

namespace {

using ir::OpCode;

template<class T>
T otherInteger(T value, Random& random)
{
    static constexpr std::array<std::int64_t, 16> kNumbers{
        0, 1, 2, 3, 4, 7, 8, 16, 128, 1000, 65536, 1 << 24, -1, -2, INT32_MAX, 1LL << 40U};
    switch (random.below(4)) {
    case 0:
        return static_cast<T>(random.pick(kNumbers));
    case 1:
        return static_cast<T>(value / 2);
    case 2: // as an unsigned number, so that it may wrap
        return static_cast<T>(static_cast<std::uint64_t>(value) * 2);
    default:
        return static_cast<T>(static_cast<std::uint64_t>(value) + random.below(3) - 1U);
    }
}

// An archive that changes the `target`-th member that it is called with.
class Nudge
{
public:
    Nudge(Random& random, std::size_t target)
        : m_random(random)
        , m_target(target)
    {}

    [[nodiscard]] std::size_t members() const { return m_next; }

    template<class T>
    void operator()(std::string_view, T& value)
    {
        visit(value);
    }

    template<class T>
    void required(std::string_view, T& value)
    {
        visit(value);
    }

private:
    [[nodiscard]] bool hit() { return m_next++ == m_target; }

    void visit(bool& value) { value = value != hit(); }

    void visit(std::string&) {}

    void visit(ir::LocationId&) {}

    void visit(DType& value)
    {
        if (hit()) {
            value = m_random.pick(kDTypes).type;
        }
    }

    void visit(Shape& value)
    {
        std::vector<Extent> extents = value.extents();
        visit(extents);
        value = Shape(std::move(extents));
    }

    template<class T>
    void visit(std::vector<T>& list)
    {
        if (hit()) {
            list.resize(m_random.oneIn(2) ? list.size() + 1 : list.size() / 2);
        }
        for (T& entry : list) {
            visit(entry);
        }
    }

    template<class T>
    void visit(T& value)
    {
        if constexpr (std::is_enum_v<T>) {
            if (hit()) {
                const auto next = static_cast<T>(static_cast<int>(value) + 1);
                value = kernel_file::enumName(next).empty() ? T{} : next;
            }
        } else if constexpr (std::is_integral_v<T>) {
            value = hit() ? otherInteger(value, m_random) : value;
        } else {
            kernel_file::fields(*this, value);
        }
    }

    Random& m_random;
    std::size_t m_target, m_next = 0;
};

void nudge(ir::Params& params, Random& random)
{
    std::visit(
        [&]<class P>(P& parameters) {
            if constexpr (!std::same_as<P, std::monostate>) {
                Nudge count(random, SIZE_MAX);
                kernel_file::fields(count, parameters);
                Nudge change(random, random.below(count.members()));
                kernel_file::fields(change, parameters);
            }
        },
        params);
}

class ProgramMutator
{
public:
    ProgramMutator(ir::Program program, Random& random)
        : m_program(std::move(program))
        , m_random(random)
    {}

    [[nodiscard]] ir::Program run()
    {
        for (std::size_t i = 1 + m_random.below(m_random.oneIn(2) ? 5 : 1); i > 0; --i) {
            m_places.clear();
            std::vector<ir::ValueId> visible;
            collect(m_program.body, visible);
            if (!m_places.empty()) {
                change(m_random.pick(m_places));
            }
            retype(m_program.body);
        }
        return std::move(m_program);
    }

private:
    // An operation and the values that it may use.
    struct Place
    {
        ir::Region* region;
        std::size_t index;
        std::vector<ir::ValueId> visible;
    };

    void collect(ir::Region& region, std::vector<ir::ValueId> visible)
    {
        visible.insert(visible.end(), region.arguments.begin(), region.arguments.end());
        for (std::size_t i = 0; i < region.operations.size(); ++i) {
            ir::Operation& operation = region.operations[i];
            m_places.push_back({&region, i, visible});
            for (ir::Region& inner : operation.regions) {
                collect(inner, visible);
            }
            visible.insert(visible.end(), operation.results.begin(), operation.results.end());
        }
    }

    ir::ValueId newValue(ir::Type type = {})
    {
        m_program.values.push_back({std::move(type), {}, {}});
        return {static_cast<std::int32_t>(m_program.values.size() - 1)};
    }

    ir::ValueId anyOperand(const Place& place)
    {
        // A literal, or a value that is not in scope.
        if (place.visible.empty() || m_random.oneIn(5)) {
            return {static_cast<std::int32_t>(m_random.below(m_program.values.size()))};
        }
        // Values that were defined last fit most often.
        const std::size_t among = m_random.oneIn(2)
                                      ? place.visible.size()
                                      : std::min<std::size_t>(4, place.visible.size());
        return place.visible[place.visible.size() - 1 - m_random.below(among)];
    }

    void change(const Place& place)
    {
        std::vector<ir::Operation>& list = place.region->operations;
        ir::Operation& operation = list[place.index];
        switch (m_random.below(12)) {
        case 0:
        case 1:
        case 2:
            nudge(operation.params, m_random);
            return;
        case 3:
            if (!operation.operands.empty()) {
                m_random.pick(operation.operands) = anyOperand(place);
            }
            return;
        case 4:
            setCode(operation, place);
            return;
        case 5:
        case 6:
            insert(place);
            return;
        case 7:
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(place.index));
            return;
        case 8: {
            ir::Operation copy = operation;
            if (copy.regions.empty()) {
                for (ir::ValueId& result : copy.results) {
                    result = newValue(m_program.type(result));
                }
                list.insert(list.begin() + static_cast<std::ptrdiff_t>(place.index), copy);
            }
            return;
        }
        case 9:
        case 10:
            wrap(operation);
            return;
        default:
            changeValue(m_random.pick(m_program.values));
        }
    }

    void setCode(ir::Operation& operation, const Place& place)
    {
        const ir::OpEntry& entry = ir::opTable()[m_random.below(ir::opTable().size())];
        const ir::Params params = kernel_file::paramsFor(entry.code);
        operation.code = entry.code;
        if (params.index() != operation.params.index()) {
            operation.params = params;
            if (m_random.oneIn(2)) {
                nudge(operation.params, m_random);
            }
        }
        const auto least = static_cast<std::size_t>(entry.minOperands);
        while (operation.operands.size() < least) {
            operation.operands.push_back(anyOperand(place));
        }
        if (entry.maxOperands >= 0) {
            operation.operands.resize(
                std::min(operation.operands.size(), static_cast<std::size_t>(entry.maxOperands)));
        }
    }

    // Inserts an operation whose result a later one uses.
    void insert(const Place& place)
    {
        ir::Operation operation;
        setCode(operation, place);
        operation.results = {newValue(
            operation.operands.empty() ? ir::Type{} : m_program.type(operation.operands[0]))};
        std::vector<ir::Operation>& list = place.region->operations;
        ir::Operation& next = list[place.index];
        if (!next.operands.empty()) {
            m_random.pick(next.operands) = operation.results[0];
        }
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(place.index), std::move(operation));
    }

    // Puts the operation into a loop or a branch. Its results then no longer exist outside.
    void wrap(ir::Operation& operation)
    {
        ir::Operation outer;
        ir::Region region;
        region.operations.push_back(operation);
        switch (m_random.below(3)) {
        case 0: {
            constexpr std::array<std::int64_t, 7> kLengths{0, 1, 2, 7, 1000, 1'000'000, 1LL << 31U};
            outer.code = OpCode::Scan;
            outer.params = ir::ScanParams{m_random.pick(kLengths)};
            region.arguments = {newValue({DType::Int32, Shape{}, {}})};
            outer.regions = {region};
            break;
        }
        case 1: { // a loop that ends at once, or never
            const ir::ValueId condition = newValue({DType::Bool, Shape{}, {}});
            m_program.values.back().literal = static_cast<double>(m_random.below(2));
            outer.code = OpCode::While;
            outer.regions = {ir::Region{{}, {}, {condition}}, region};
            break;
        }
        default: {
            const ir::ValueId which = newValue({DType::Int32, Shape{}, {}});
            m_program.values.back().literal = static_cast<double>(m_random.below(4));
            outer.code = OpCode::Cond;
            outer.operands = {which};
            outer.regions = {region, ir::Region{}};
        }
        }
        operation = std::move(outer);
    }

    void changeValue(ir::Value& value)
    {
        if (value.literal) {
            constexpr std::array<double, 9> kLiterals{0, 1, -1, 7, 128, 1e9, 1e38, -0.0, 0.5};
            value.literal = m_random.oneIn(10) ? std::numeric_limits<double>::quiet_NaN()
                                               : m_random.pick(kLiterals);
        } else if (m_random.oneIn(3) || value.type.shape.rank() == 0) {
            value.type.dtype = m_random.pick(kDTypes).type;
        } else {
            resizeEverywhere(m_random.pick(value.type.shape.extents()));
        }
    }

    // Replaces an extent that shapes and blocks share, in all of them or in some.
    void resizeEverywhere(Extent old)
    {
        const Extent now = otherInteger(old, m_random);
        const bool all = m_random.oneIn(2);
        const auto resize = [&](Extent& extent) {
            extent = extent == old && (all || m_random.oneIn(2)) ? now : extent;
        };
        for (ir::Value& value : m_program.values) {
            std::vector<Extent> extents = value.type.shape.extents();
            std::for_each(extents.begin(), extents.end(), resize);
            value.type.shape = Shape(std::move(extents));
        }
        for (const Place& place : m_places) {
            ir::Params& params = place.region->operations[place.index].params;
            if (auto* indexer = std::get_if<ir::IndexerParams>(&params)) {
                for (ir::IndexEntry& entry : indexer->entries) {
                    resize(entry.size);
                }
            } else if (auto* pipeline = std::get_if<ir::PipelineParams>(&params)) {
                for (ir::BlockSpec& spec : pipeline->specs) {
                    for (ir::BlockDim& dim : spec.block) {
                        resize(dim.size);
                    }
                }
            }
        }
    }

    void setType(ir::ValueId id, ir::Type type)
    {
        m_program.values[static_cast<std::size_t>(id.index)].type = std::move(type);
    }

    // Derives the types of the arguments of an operation's regions from its operands and
    // parameters.
    void retypeArguments(ir::Operation& operation)
    {
        const auto* const pipeline = std::get_if<ir::PipelineParams>(&operation.params);
        if (pipeline != nullptr && !operation.regions.empty()) {
            std::vector<ir::ValueId>& refs = operation.regions[0].arguments;
            for (std::size_t i = 0; i < std::min(refs.size(), pipeline->specs.size()); ++i) {
                ir::Type type = m_program.type(refs[i]);
                type.shape = ir::refShape(pipeline->specs[i].block);
                setType(refs[i], type);
            }
            return;
        }
        const std::size_t first = operation.code == OpCode::Scan ? 1 : 0;
        if (operation.code != OpCode::Scan && operation.code != OpCode::While) {
            return;
        }
        for (ir::Region& region : operation.regions) {
            for (std::size_t i = 0;
                 i < operation.operands.size() && i + first < region.arguments.size(); ++i) {
                setType(region.arguments[i + first], m_program.type(operation.operands[i]));
            }
        }
    }

    void retype(ir::Region& region)
    {
        for (ir::Operation& operation : region.operations) {
            retypeArguments(operation);
            for (ir::Region& inner : operation.regions) {
                retype(inner);
            }
            if (operation.regions.empty()
                && ir::opEntry(operation.code).kind == ir::OpKind::Control) {
                continue; // inferTypes would look into the regions
            }
            const auto types = ir::inferTypes(m_program, operation);
            if (!types) {
                continue;
            }
            while (operation.results.size() < types->size()) {
                operation.results.push_back(newValue());
            }
            for (std::size_t i = 0; i < types->size(); ++i) {
                setType(operation.results[i], (*types)[i]);
            }
        }
    }

    ir::Program m_program;
    Random& m_random;
    std::vector<Place> m_places;
};

} // namespace

ir::Program mutatedProgram(ir::Program program, Random& random)
{
    return ProgramMutator(std::move(program), random).run();
}

} // namespace pallascope::fuzz
