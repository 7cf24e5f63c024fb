// The part of the builder for pipelines as in emit_pipeline and pallas_call: grids, block specs
// with index maps, scratch.
#pragma once

#include "core/ir/builder_values.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pallascope::pl {

// What an index map returns: one block index for each array axis. An index that is a load is loaded
// here, so that the map records loads in the order of its arguments.
template<class... Indices>
[[nodiscard]] std::vector<Operand> at(const Indices&... indices)
{
    const auto now = [](const auto& index) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(index)>, RefView>) {
            return Operand(index.load());
        } else {
            return Operand(index);
        }
    };
    return {now(indices)...};
}

// An index map: a lambda from the grid indices to at(...).
class IndexMap
{
public:
    template<class F>

    requires(!std::is_same_v<std::remove_cvref_t<F>, IndexMap>)
        IndexMap(F map) // NOLINT(google-explicit-constructor)
        : m_map([map](const std::vector<Value>& grid) {
            return call(map, grid, std::index_sequence<0>{});
        })
    {}

    [[nodiscard]] std::vector<Operand> operator()(const std::vector<Value>& grid) const
    {
        return m_map(grid);
    }

private:
    static constexpr std::size_t kMaxRank = 6;

    // The arity of a generic lambda cannot be asked for, so it is found by trying.
    template<class F, std::size_t... I>
    static std::vector<Operand> call(const F& map, const std::vector<Value>& grid,
                                     std::index_sequence<I...>)
    {
        if (grid.size() == sizeof...(I)) {
            if constexpr (requires { map(grid[I]...); }) {
                return map(grid[I]...);
            }
        } else if constexpr (sizeof...(I) < kMaxRank) {
            return call(map, grid, std::make_index_sequence<sizeof...(I) + 1>{});
        }
        return {};
    }

    std::function<std::vector<Operand>(const std::vector<Value>&)> m_map;
};

struct BlockSpec
{
    std::vector<ir::BlockDim> block;  // empty: the whole array
    std::optional<IndexMap> indexMap; // absent: all block indices are zero
    std::int32_t buffers = 2;
    std::string name; // of the block's ref; empty: the operand's name
    Here here = Here::current();
    // If above 0, in Grid::out: the operand is read and written, with this many buffers to write
    // back.
    std::int32_t outBuffers = 0;
    bool lookahead = false; // pl.Buffered(n, use_lookahead=True)
    std::int32_t prefetched = 0;
    bool restores = false;                // pl.Buffered(1, revisit=RevisitMode.ANY)
    std::optional<ir::MemorySpace> space; // absent: VMEM
};

// One axis of a block shape. A plain number is a Blocked axis of that size.
class Dim : public ir::BlockDim
{
public:
    Dim(Extent blocked) // NOLINT(google-explicit-constructor)
        : ir::BlockDim{ir::BlockKind::Blocked, blocked}
    {}

    explicit Dim(ir::BlockDim dim)
        : ir::BlockDim(dim)
    {}
};

// A block shape, as {512, 512}, {pl::squeezed(), 128} or a vector of extents.
class Dims
{
public:
    Dims(std::initializer_list<Dim> dims) // NOLINT(google-explicit-constructor)
        : m_dims(dims.begin(), dims.end())
    {}

    Dims(const std::vector<Extent>& extents) // NOLINT(google-explicit-constructor)
    {
        for (const Extent extent : extents) {
            m_dims.push_back(Dim(extent));
        }
    }

    [[nodiscard]] const std::vector<ir::BlockDim>& get() const { return m_dims; }

private:
    std::vector<ir::BlockDim> m_dims;
};

[[nodiscard]] inline Dim squeezed()
{
    return Dim(ir::BlockDim{ir::BlockKind::Squeezed, 1});
}

// pl.Element(size, padding=(low, high))
[[nodiscard]] inline Dim element(Extent size, Extent low = 0, Extent high = 0)
{
    return Dim(ir::BlockDim{ir::BlockKind::Element, size, low, high});
}

// pl.BoundedSlice(size). The index map returns two numbers for the axis: start and extent.
[[nodiscard]] inline Dim boundedSlice(Extent size)
{
    return Dim(ir::BlockDim{ir::BlockKind::BoundedSlice, size});
}

// pl.Indirect(size). The index map returns an int32 array of shape (size) for the axis.
[[nodiscard]] inline Dim indirect(Extent size)
{
    return Dim(ir::BlockDim{ir::BlockKind::Indirect, size});
}

// pl.BlockSpec(shape, index_map, pipeline_mode=pl.Buffered(buffers))
[[nodiscard]] BlockSpec block(const Dims& shape, IndexMap indexMap, std::int32_t buffers = 2,
                              Here here = Here::current());
[[nodiscard]] BlockSpec wholeArray(Here here = Here::current());

struct Scratch
{
    std::string name;
    DType dtype = DType::F32;
    Shape shape;
    ir::MemorySpace space = ir::MemorySpace::Vmem;
};

// SemaphoreType.DMA(shape) and SemaphoreType.REGULAR(shape)
[[nodiscard]] inline Scratch dmaSemaphores(std::string name, Shape shape = {})
{
    return {std::move(name), DType::Int32, std::move(shape), ir::MemorySpace::DmaSemaphore};
}

[[nodiscard]] inline Scratch semaphores(std::string name, Shape shape = {})
{
    return {std::move(name), DType::Int32, std::move(shape), ir::MemorySpace::Semaphore};
}

struct Grid
{
    std::vector<Extent> grid; // empty: one step; ir::kDynamicExtent: the next one of `bounds`
    std::vector<BlockSpec> in, out;
    std::vector<Scratch> scratch;
    std::string axes;  // one letter per grid axis; empty: i, j, k, ...
    std::string order; // a permutation of `axes`, outermost first; empty: as declared
    Here here = Here::current();
    std::vector<Value> bounds;
    std::string schedule = "0.12";
    bool noPipelining = false;
    std::string coreAxis;               // of an enclosing coreMap whose cores share the grid
    std::vector<std::int32_t> parallel; // axes, as declared, with PARALLEL semantics
};

// Calls the body with one ref for each scratch and returns its values. The refs live while it runs.
std::vector<Value> runScoped(const std::vector<Scratch>& scratch,
                             const std::function<std::vector<Value>(const std::vector<Ref>&)>& body,
                             Here here = Here::current());

namespace detail {

template<class F>
struct Arity : Arity<decltype(&F::operator())>
{};

template<class C, class R, class... A>
struct Arity<R (C::*)(A...) const> : std::integral_constant<std::size_t, sizeof...(A)>
{};

template<class F, std::size_t... I>
void invoke(const F& body, const std::vector<Ref>& refs, std::index_sequence<I...>)
{
    body(refs[I]...);
}

// Calls a lambda of N refs; returns false if the number of refs is not N.
template<class F>
bool invokeWithRefs(const F& body, const std::vector<Ref>& refs)
{
    if (Arity<F>::value != refs.size()) {
        return false;
    }
    invoke(body, refs, std::make_index_sequence<Arity<F>::value>{});
    return true;
}

using Body = std::function<bool(const std::vector<Ref>&)>;
void pipeline(const Grid& grid, ir::PipelineOrigin origin, const Body& body,
              const std::vector<Ref>& operands);

} // namespace detail

// A pipeline that is ready to be called with its operands, as emit_pipeline(body, ...)(x, y, out).
template<class F>
class Pipeline
{
public:
    Pipeline(Grid grid, ir::PipelineOrigin origin, F body)
        : m_grid(std::move(grid))
        , m_origin(origin)
        , m_body(std::move(body))
    {}

    template<class... Refs>
    void operator()(const Refs&... operands) const
    {
        detail::pipeline(
            m_grid, m_origin,
            [this](const std::vector<Ref>& refs) { return detail::invokeWithRefs(m_body, refs); },
            {operands...});
    }

private:
    Grid m_grid;
    ir::PipelineOrigin m_origin;
    F m_body;
};

template<class F>
[[nodiscard]] Pipeline<F> emitPipeline(Grid grid, F body)
{
    return {std::move(grid), ir::PipelineOrigin::EmitPipeline, std::move(body)};
}

template<class F>
[[nodiscard]] Pipeline<F> pallasCall(Grid grid, F body)
{
    return {std::move(grid), ir::PipelineOrigin::PallasCall, std::move(body)};
}

} // namespace pallascope::pl
