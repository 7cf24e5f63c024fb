// Checks ids, scopes, literals and sizes of a program that was read (document.h).
#include "core/ir/infer.h"
#include "core/ir/program.h"
#include "core/kernel_file/document.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::kernel_file {

namespace {

// Limits that keep every product that the model computes inside int64. No chip comes near them.
constexpr std::size_t kMostRank = 8;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;     // of an array in HBM, or a value
constexpr std::int64_t kMostNearElements = std::int64_t{1} << 27; // of a ref to any other memory
constexpr std::int64_t kMostSemaphores = 1 << 16;                 // of one array of semaphores
constexpr std::int64_t kMostStride = std::int64_t{1} << 20;
constexpr std::int64_t kMostLimitBytes = std::int64_t{1} << 40;
constexpr std::int32_t kMostBuffers = 1024;
constexpr std::size_t kMostOperands = 256; // of one operation, or arguments of a program
constexpr std::size_t kMostNesting = 64;   // regions inside each other
constexpr std::int64_t kMostTrips = std::int64_t{1} << 31; // the counter is an int32

class Checker
{
public:
    explicit Checker(const ir::Program& program)
        : m_program(program)
        , m_state(program.values.size(), State::Unknown)
    {}

    [[nodiscard]] Status run()
    {
        checkValues();
        checkLocations();
        checkArguments();
        checkKernels();
        region(m_program.body, "/body", 0);
        return m_error ? Status(*m_error) : Status(Done{});
    }

private:
    enum class State : std::uint8_t
    {
        Unknown, // not defined yet
        Defined,
        Gone // its region has ended
    };

    template<class... Parts>
    void fail(fmt::format_string<Parts...> sentence, Parts&&... parts)
    {
        if (!m_error) {
            m_error = userError(fmt::format(sentence, std::forward<Parts>(parts)...));
        }
    }

    void checkValues();
    void checkLiteral(const ir::Value& value, std::size_t index);
    void checkLocations();
    void checkArguments();
    void checkKernels();
    void extents(const std::vector<Extent>& list, std::int64_t most, const std::string& where);
    bool exists(ir::ValueId id, const std::string& where);
    void define(const std::vector<ir::ValueId>& ids, const std::string& where);
    void use(const std::vector<ir::ValueId>& ids, const std::string& where);
    void location(ir::LocationId id, const std::string& where);
    void region(const ir::Region& region, const std::string& where, std::size_t depth);
    void operation(const ir::Operation& operation, const std::string& where, std::size_t depth);

    // Checks sizes in parameters; those of types are checked with the values.
    void params(const std::monostate&, const std::string&) {}

    template<class P>
    void params(const P& parameters, const std::string& where)
    {
        if constexpr (requires { parameters.shape; }) {
            extents(parameters.shape.extents(), kMostElements, where + "/shape");
        }
    }

    void params(const ir::IndexerParams& indexer, const std::string& where);
    void params(const ir::ScanParams& scan, const std::string& where);
    void params(const ir::PipelineParams& pipeline, const std::string& where);

    const ir::Program& m_program;
    std::vector<State> m_state;
    std::vector<ir::ValueId> m_open; // defined values in scope, those of the innermost region last
    std::optional<Error> m_error;
};

void Checker::extents(const std::vector<Extent>& list, std::int64_t most, const std::string& where)
{
    if (list.size() > kMostRank) {
        fail("{} has {} axes; expected at most {}", where, list.size(), kMostRank);
    }
    std::int64_t elements = 1;
    for (const Extent extent : list) {
        if (extent < 1 || __builtin_mul_overflow(elements, extent, &elements) || elements > most) {
            fail("{} is [{}]; expected extents of at least 1 that make at most {} elements", where,
                 join(list, ","), most);
            return;
        }
    }
}

void Checker::checkLiteral(const ir::Value& value, std::size_t index)
{
    const double number = *value.literal;
    if (!value.type.isScalar()) {
        fail("/values/{}/literal is of {}; only a scalar is a literal", index,
             ir::toString(value.type));
    }
    if (!isFloat(value.type.dtype)
        && (!std::isfinite(number) || number != std::floor(number)
            || std::fabs(number) > 4294967295.0)) {
        fail("/values/{}/literal is {}, which is no {}", index, number,
             dtypeName(value.type.dtype));
    }
}

void Checker::checkValues()
{
    for (std::size_t i = 0; i < m_program.values.size(); ++i) {
        const ir::Value& value = m_program.values[i];
        const bool far = !value.type.space || ir::isFar(*value.type.space);
        const bool semaphore = value.type.space && ir::isSemaphore(*value.type.space);
        if (semaphore && value.type.dtype != DType::Int32) {
            fail("/values/{}/dtype is {}; a semaphore counts in int32", i,
                 dtypeName(value.type.dtype));
        }
        extents(value.type.shape.extents(),
                far         ? kMostElements
                : semaphore ? kMostSemaphores
                            : kMostNearElements,
                fmt::format("/values/{}/shape", i));
        if (value.literal) {
            checkLiteral(value, i);
        }
    }
}

void Checker::checkLocations()
{
    for (std::size_t i = 0; i < m_program.locations.size(); ++i) {
        if (m_program.locations[i].line < 1) {
            fail("/locations/{}/line is {}; lines count from 1", i, m_program.locations[i].line);
        }
        const std::int64_t caller = m_program.locations[i].caller.index;
        if (caller < -1 || caller >= static_cast<std::int64_t>(i)) {
            fail("/locations/{}/caller is {}; expected an earlier location, or -1 for none", i,
                 caller);
        }
    }
}

void Checker::checkKernels()
{
    for (std::size_t i = 0; i < m_program.kernels.size(); ++i) {
        const std::int64_t limit = m_program.kernels[i].vmemLimitBytes;
        if (limit < 0 || limit > kMostLimitBytes) {
            fail("/compiler_params/{}/vmem_limit_bytes is {}; expected 0 to {}", i, limit,
                 kMostLimitBytes);
        }
    }
}

void Checker::checkArguments()
{
    const std::vector<ir::Argument>& arguments = m_program.arguments;
    if (arguments.size() > kMostOperands) {
        fail("/arguments has {} entries; expected at most {}", arguments.size(), kMostOperands);
    }
    if (arguments.size() != m_program.body.arguments.size()) {
        fail("/body/arguments has {} entries but /arguments has {}; expected as many",
             m_program.body.arguments.size(), arguments.size());
        return;
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].ref != m_program.body.arguments[i]) {
            fail("/arguments/{}/ref is {}; expected {}, as in /body/arguments", i,
                 arguments[i].ref.index, m_program.body.arguments[i].index);
        }
    }
}

bool Checker::exists(ir::ValueId id, const std::string& where)
{
    const bool sound = id.index >= 0 && static_cast<std::size_t>(id.index) < m_state.size();
    if (!sound) {
        fail("{} names value {}; /values has {}, numbered from 0", where, id.index, m_state.size());
    }
    return sound;
}

void Checker::define(const std::vector<ir::ValueId>& ids, const std::string& where)
{
    for (const ir::ValueId id : ids) {
        if (!exists(id, where)) {
            return;
        }
        const auto index = static_cast<std::size_t>(id.index);
        if (m_program.values[index].literal) {
            fail("{} defines value {}, which is a literal", where, id.index);
        }
        if (m_state[index] != State::Unknown) {
            fail("{} defines value {}, which is defined before", where, id.index);
        }
        m_state[index] = State::Defined;
        m_open.push_back(id);
    }
}

void Checker::use(const std::vector<ir::ValueId>& ids, const std::string& where)
{
    for (const ir::ValueId id : ids) {
        if (!exists(id, where)) {
            return;
        }
        const auto index = static_cast<std::size_t>(id.index);
        if (!m_program.values[index].literal && m_state[index] != State::Defined) {
            fail("{} uses value {}, which {}", where, id.index,
                 m_state[index] == State::Gone ? "is defined in another region"
                                               : "is not defined before");
        }
    }
}

void Checker::location(ir::LocationId id, const std::string& where)
{
    if (id.index < -1 || id.index >= static_cast<std::int64_t>(m_program.locations.size())) {
        fail("{}/location is {}; /locations has {}, numbered from 0", where, id.index,
             m_program.locations.size());
    }
}

void Checker::region(const ir::Region& region, const std::string& where, std::size_t depth)
{
    if (depth > kMostNesting) {
        fail("{} lies in {} regions; expected at most {}", where, depth, kMostNesting);
        return;
    }
    const std::size_t outside = m_open.size();
    define(region.arguments, where + "/arguments");
    for (std::size_t i = 0; i < region.operations.size() && !m_error; ++i) {
        operation(region.operations[i], fmt::format("{}/operations/{}", where, i), depth);
    }
    use(region.results, where + "/results");
    for (std::size_t i = outside; i < m_open.size(); ++i) {
        m_state[static_cast<std::size_t>(m_open[i].index)] = State::Gone;
    }
    m_open.resize(outside);
}

void Checker::operation(const ir::Operation& operation, const std::string& where, std::size_t depth)
{
    if (operation.operands.size() > kMostOperands) {
        fail("{}/operands has {} entries; expected at most {}", where, operation.operands.size(),
             kMostOperands);
    }
    location(operation.location, where);
    use(operation.operands, where + "/operands");
    std::visit([&](const auto& alternative) { params(alternative, where + "/params"); },
               operation.params);
    for (std::size_t i = 0; i < operation.regions.size(); ++i) {
        region(operation.regions[i], fmt::format("{}/regions/{}", where, i), depth + 1);
    }
    define(operation.results, where + "/results");
}

void Checker::params(const ir::IndexerParams& indexer, const std::string& where)
{
    for (std::size_t i = 0; i < indexer.entries.size(); ++i) {
        const ir::IndexEntry& entry = indexer.entries[i];
        const bool sound = entry.start >= -kMostElements && entry.start <= kMostElements
                           && entry.size >= 0 && entry.size <= kMostElements && entry.stride >= 0
                           && entry.stride <= kMostStride;
        if (!sound) {
            fail("{}/entries/{} reaches beyond what an array can have", where, i);
        }
    }
}

void Checker::params(const ir::ScanParams& scan, const std::string& where)
{
    if (scan.length < 0 || scan.length > kMostTrips) {
        fail("{}/length is {}; expected 0 to {}", where, scan.length, kMostTrips);
    }
    if (scan.unroll < 1 || scan.unroll > kMostTrips) {
        fail("{}/unroll is {}; expected 1 to {}", where, scan.unroll, kMostTrips);
    }
}

void Checker::params(const ir::PipelineParams& pipeline, const std::string& where)
{
    if (pipeline.grid.size() > kMostRank) {
        fail("{}/grid has {} axes; expected at most {}", where, pipeline.grid.size(), kMostRank);
    }
    if (pipeline.axisNames.size() != pipeline.grid.size()) {
        fail("{}/axis_names has {} entries but /grid has {}; expected as many", where,
             pipeline.axisNames.size(), pipeline.grid.size());
    }
    for (std::size_t i = 0; i < pipeline.specs.size(); ++i) {
        const ir::BlockSpec& spec = pipeline.specs[i];
        const std::string here = fmt::format("{}/specs/{}", where, i);
        std::vector<Extent> block;
        for (const ir::BlockDim& dim : spec.block) {
            block.push_back(dim.size);
        }
        extents(block, kMostElements, here + "/block");
        location(spec.location, here);
        if (std::max(spec.inBuffers, spec.outBuffers) > kMostBuffers) {
            fail("{} asks for {} buffers; expected at most {}", here,
                 std::max(spec.inBuffers, spec.outBuffers), kMostBuffers);
        }
    }
}

} // namespace

Status checkProgram(const ir::Program& program)
{
    return Checker(program).run();
}

} // namespace pallascope::kernel_file
