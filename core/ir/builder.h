// Traces Pallas-style C++ into a program, as JAX traces Python into a jaxpr. Write a kernel with
// refs, values and operators; nothing is computed, every operation is recorded with its source
// line.
//
//   pl::when(pl::programId(2) == 0, [&] { out[pl::all] = pl::zerosLike(out); });
//   out[pl::all] += pl::dot(x[pl::all], y[pl::all], DType::F32);
//
// The first mistake (a shape that does not fit, say) is kept and returned by pl::kernel as a user
// error with its source line; what follows it is traced into values of a guessed type. One trace
// per thread.
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"

#include <array>
#include <functional>
#include <initializer_list>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pallascope::pl {

using Here = std::source_location;

class Ref;

// An array or scalar inside a kernel.
class Value
{
public:
    Value() = default;

    explicit Value(ir::ValueId id)
        : m_id(id)
    {}

    [[nodiscard]] ir::ValueId id() const { return m_id; }

    [[nodiscard]] const Shape& shape() const;
    [[nodiscard]] DType dtype() const;

private:
    ir::ValueId m_id;
};

struct All
{};

// The whole extent of an axis, or (alone in brackets) of the ref.
inline constexpr All all{};

// One axis of an indexer. Implicit, so that x[{0, pl::all, pl::ds(i, 8)}] reads as in Python.
class IndexArg
{
public:
    IndexArg(All)
        : m_kind(Kind::All)
    {} // NOLINT(google-explicit-constructor)

    IndexArg(int start)
        : m_kind(Kind::Integer)
        , m_start(start)
    {} // NOLINT(google-explicit-constructor)

    IndexArg(std::int64_t start)
        : m_kind(Kind::Integer)
        , m_start(start)
    {} // NOLINT(google-explicit-constructor)

    IndexArg(Value start)
        : m_kind(Kind::Integer)
        , m_dynamic(start.id())
    {} // NOLINT(google-explicit-constructor)

private:
    friend IndexArg ds(std::int64_t start, Extent size, std::int64_t stride);
    friend IndexArg ds(Value start, Extent size, std::int64_t stride);
    friend IndexArg ds(Value start, Value size, Extent most);
    friend class Ref;
    enum class Kind : std::uint8_t
    {
        All,
        Integer,
        Slice
    };
    Kind m_kind = Kind::All;
    std::int64_t m_start = 0;
    ir::ValueId m_dynamic, m_dynamicSize;
    Extent m_size = 1;
    std::int64_t m_stride = 1;
};

[[nodiscard]] IndexArg ds(std::int64_t start, Extent size, std::int64_t stride = 1);
[[nodiscard]] IndexArg ds(Value start, Extent size, std::int64_t stride = 1);
// For Ref::at alone: `size` elements, which is at most `most`.
[[nodiscard]] IndexArg ds(Value start, Value size, Extent most);

// The brackets of ref[...], with the line they stand on.
class Indexer
{
public:
    Indexer(All, Here here = Here::current())
        : m_here(here)
    {} // NOLINT(google-explicit-constructor)

    Indexer(IndexArg one, Here here = Here::current())
        : m_args{one}
        , m_here(here)
    {} // NOLINT(google-explicit-constructor)

    Indexer(int one, Here here = Here::current())
        : Indexer(IndexArg(one), here)
    {} // NOLINT(google-explicit-constructor)

    Indexer(Value one, Here here = Here::current())
        : Indexer(IndexArg(one), here)
    {} // NOLINT(google-explicit-constructor)

    Indexer(std::initializer_list<IndexArg> args,
            Here here = Here::current()) // NOLINT(google-explicit-constructor)
        : m_args(args)
        , m_here(here)
    {}

private:
    friend class Ref;
    std::vector<IndexArg> m_args; // empty: the whole ref
    Here m_here;
};

class Operand;

// ref[...]: a load where a value is wanted, a store when assigned to.
class RefView
{
public:
    RefView(const RefView&) = delete;
    void operator=(const RefView& value) const;
    void operator=(const Operand& value) const;
    void operator+=(const Operand& value) const;
    [[nodiscard]] Value load() const;

    [[nodiscard]] const Here& here() const { return m_here; }

private:
    friend class Ref;
    RefView(ir::ValueId ref, std::vector<ir::ValueId> dynamic, ir::IndexerParams indexer,
            Here here);
    void store(const Operand& value) const;
    ir::ValueId m_ref;
    std::vector<ir::ValueId> m_dynamic;
    ir::IndexerParams m_indexer;
    Here m_here;
};

// A window of memory that a kernel reads and writes.
class Ref
{
public:
    explicit Ref(ir::ValueId id)
        : m_id(id)
    {}

    [[nodiscard]] ir::ValueId id() const { return m_id; }

    [[nodiscard]] const Shape& shape() const;
    [[nodiscard]] DType dtype() const;
    RefView operator[](const Indexer& indexer) const;
    // ref.at[...]: a part of the ref as a ref. Of semaphores: one of an array.
    [[nodiscard]] Ref at(const Indexer& indexer) const;
    // The same memory in another shape, dtype (rows packed or unpacked) or order of axes.
    [[nodiscard]] Ref reshape(Shape shape, Here here = Here::current()) const;
    [[nodiscard]] Ref bitcast(DType dtype, Here here = Here::current()) const;
    [[nodiscard]] Ref transpose(std::vector<std::int32_t> permutation,
                                Here here = Here::current()) const;

private:
    ir::ValueId m_id;
};

// An argument of an operation: a value, a load, or a number that takes the other operand's type.
class Operand
{
public:
    Operand(Value value, Here here = Here::current())
        : m_value(value)
        , m_here(here)
    {} // NOLINT(google-explicit-constructor)

    // The load is recorded when the operation takes its operands in their order, not when C++
    // happens to convert its arguments; the view lives as long as the expression that it stands in.
    Operand(const RefView& view)
        : m_view(&view)
        , m_here(view.here())
    {} // NOLINT(google-explicit-constructor)

    Operand(double number, Here here = Here::current())
        : m_number(number)
        , m_isNumber(true)
        , m_here(here)
    {} // NOLINT

    Operand(int number, Here here = Here::current())
        : m_number(number)
        , m_isNumber(true)
        , m_here(here)
    {} // NOLINT

    [[nodiscard]] bool isNumber() const { return m_isNumber; }

    [[nodiscard]] double number() const { return m_number; }

    [[nodiscard]] Value value() const { return m_view != nullptr ? m_view->load() : m_value; }

    [[nodiscard]] const Here& here() const { return m_here; }

private:
    Value m_value;
    const RefView* m_view = nullptr;
    double m_number = 0;
    bool m_isNumber = false;
    Here m_here;
};

// ---- operations; shapes broadcast only from scalars, as in a jaxpr after broadcasting
// --------------

// Scalars and numbers among the operands are broadcast to the arrays where the operation goes
// element by element.
[[nodiscard]] Value apply(ir::OpCode code, std::vector<Operand> operands, ir::Params params,
                          Here here);

inline Value operator+(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Add, {a, b}, {}, b.here());
}

inline Value operator-(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Sub, {a, b}, {}, b.here());
}

inline Value operator*(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Mul, {a, b}, {}, b.here());
}

inline Value operator/(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Div, {a, b}, {}, b.here());
}

inline Value operator%(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Rem, {a, b}, {}, b.here());
}

inline Value operator==(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Eq, {a, b}, {}, b.here());
}

inline Value operator!=(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Ne, {a, b}, {}, b.here());
}

inline Value operator<(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Lt, {a, b}, {}, b.here());
}

inline Value operator<=(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Le, {a, b}, {}, b.here());
}

inline Value operator>(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Gt, {a, b}, {}, b.here());
}

inline Value operator>=(const Operand& a, const Operand& b)
{
    return apply(ir::OpCode::Ge, {a, b}, {}, b.here());
}

// Any elementwise operation by its opcode: elementwise(OpCode::Exp, {x}).
[[nodiscard]] Value elementwise(ir::OpCode code, std::vector<Operand> operands,
                                Here here = Here::current());
[[nodiscard]] Value maximum(const Operand& a, const Operand& b, Here here = Here::current());
[[nodiscard]] Value exp(const Operand& a, Here here = Here::current());
// mask ? ifTrue : ifFalse
[[nodiscard]] Value select(const Operand& mask, const Operand& ifTrue, const Operand& ifFalse,
                           Here here = Here::current());
[[nodiscard]] Value convert(const Operand& value, DType dtype, Here here = Here::current());
// a[m,k] x b[k,n], accumulated and returned in `dtype` (preferred_element_type).
[[nodiscard]] Value dot(const Operand& a, const Operand& b, DType dtype,
                        Here here = Here::current());
[[nodiscard]] Value dotGeneral(const Operand& a, const Operand& b, ir::DotParams dimensions,
                               Here here = Here::current());
[[nodiscard]] Value reduce(ir::OpCode code, const Operand& value, std::vector<std::int32_t> axes,
                           Here here = Here::current());
[[nodiscard]] Value broadcastTo(const Operand& value, Shape shape,
                                std::vector<std::int32_t> dimensions = {},
                                Here here = Here::current());
[[nodiscard]] Value full(Shape shape, double number, DType dtype, Here here = Here::current());
[[nodiscard]] Value zerosLike(const Ref& ref, Here here = Here::current());
[[nodiscard]] Value reshape(const Operand& value, Shape shape, Here here = Here::current());
[[nodiscard]] Value transpose(const Operand& value, std::vector<std::int32_t> permutation,
                              Here here = Here::current());
[[nodiscard]] Value iota(DType dtype, Shape shape, std::int32_t dimension,
                         Here here = Here::current());
[[nodiscard]] Value power(const Operand& base, const Operand& exponent,
                          Here here = Here::current());
[[nodiscard]] Value integerPow(const Operand& value, std::int32_t exponent,
                               Here here = Here::current());
[[nodiscard]] Value round(const Operand& value,
                          ir::RoundingMethod method = ir::RoundingMethod::ToNearestEven,
                          Here here = Here::current());
[[nodiscard]] Value reciprocal(const Operand& value, bool approx = false,
                               Here here = Here::current());
[[nodiscard]] Value clamp(const Operand& low, const Operand& value, const Operand& high,
                          Here here = Here::current());
[[nodiscard]] Value argmax(const Operand& value, std::int32_t axis, DType dtype = DType::Int32,
                           Here here = Here::current());
[[nodiscard]] Value argmin(const Operand& value, std::int32_t axis, DType dtype = DType::Int32,
                           Here here = Here::current());
[[nodiscard]] Value squeeze(const Operand& value, std::vector<std::int32_t> axes,
                            Here here = Here::current());
[[nodiscard]] Value expandDims(const Operand& value, std::int32_t axis,
                               Here here = Here::current());
[[nodiscard]] Value concatenate(const std::vector<Operand>& values, std::int32_t axis,
                                Here here = Here::current());
[[nodiscard]] Value stack(const std::vector<Operand>& values, std::int32_t axis,
                          Here here = Here::current());
[[nodiscard]] std::vector<Value> unstack(const Operand& value, std::int32_t axis,
                                         Here here = Here::current());
[[nodiscard]] std::vector<Value> split(const Operand& value, std::vector<Extent> sizes,
                                       std::int32_t axis, Here here = Here::current());
// value[start:limit:strides], one entry per axis; no strides: all 1.
[[nodiscard]] Value slice(const Operand& value, std::vector<Extent> start,
                          std::vector<Extent> limit, std::vector<Extent> strides = {},
                          Here here = Here::current());
[[nodiscard]] Value pad(const Operand& value, const Operand& filler, ir::PadParams padding,
                        Here here = Here::current());
[[nodiscard]] Value tile(const Operand& value, std::vector<Extent> repetitions,
                         Here here = Here::current());
// pltpu.repeat: the whole value, `repeats` times along `axis`.
[[nodiscard]] Value repeat(const Operand& value, Extent repeats, std::int32_t axis,
                           Here here = Here::current());
// pltpu.roll: result[(i + shift) mod n] = value[i]; row r of a strided roll goes on by r * stride.
[[nodiscard]] Value roll(const Operand& value, const Operand& shift, std::int32_t axis,
                         Here here = Here::current());
[[nodiscard]] Value roll(const Operand& value, const Operand& shift, ir::RollParams params,
                         Here here = Here::current());
// jnp.take_along_axis without its wrap of negative indices: `indices` is like the result.
[[nodiscard]] Value takeAlongAxis(const Operand& value, const Operand& indices, std::int32_t axis,
                                  ir::GatherMode mode = ir::GatherMode::FillOrDrop,
                                  Here here = Here::current());
[[nodiscard]] Value bitcastConvertType(const Operand& value, DType dtype,
                                       Here here = Here::current());
// pltpu.bitcast: rows (second axis from the last) are packed or unpacked.
[[nodiscard]] Value bitcast(const Operand& value, DType dtype, Here here = Here::current());
[[nodiscard]] Value stochasticRound(const Operand& value, const Operand& randomBits, DType dtype,
                                    Here here = Here::current());
[[nodiscard]] Value packElementwise(const std::vector<Operand>& values, DType packed,
                                    Here here = Here::current());
[[nodiscard]] Value unpackElementwise(const Operand& value, ir::UnpackParams params,
                                      Here here = Here::current());
// Two uint32 arrays of random bits from a key (two) and a counter (two).
[[nodiscard]] std::vector<Value> threefry2x32(const std::vector<Operand>& keyAndCounter,
                                              Here here = Here::current());
[[nodiscard]] std::vector<Value> iota2x32Shape(Shape shape, Here here = Here::current());
[[nodiscard]] Value multipleOf(const Operand& value, std::int64_t multiple,
                               Here here = Here::current());
[[nodiscard]] Value stopGradient(const Operand& value, Here here = Here::current());
void debugCheck(const Operand& holds, std::string text, Here here = Here::current());
void debugPrint(std::string format, const std::vector<Operand>& values,
                Here here = Here::current());
// The index of this step on a grid axis, in the order in which the grid was declared (the loop
// order of the pipeline may permute them).
[[nodiscard]] Value programId(std::int32_t axis, Here here = Here::current());
[[nodiscard]] Value numPrograms(std::int32_t axis, Here here = Here::current());

// ---- copies, semaphores and cores by hand
// ---------------------------------------------------------

// pltpu.make_async_copy(source, target, semaphore).start() and .wait(), which waits on a DMA
// semaphore for as many bytes as `target` has.
void dmaStart(const Ref& source, const Ref& target, const Ref& semaphore,
              Here here = Here::current());
// Of rows that a list of int32 in memory names, at the end that the parameters say.
void dmaStart(const Ref& source, const Ref& target, const Ref& semaphore, const Ref& rows,
              ir::DmaParams params, Here here = Here::current());
void dmaWait(const Ref& target, const Ref& semaphore, Here here = Here::current());
// pltpu.make_async_remote_copy(...).start(): to the ref that `target` is on another device, whose
// `received` gets the bytes; `sent` is this device's. Devices are numbered row-major in the mesh.
void remoteDmaStart(const Ref& source, const Ref& target, const Ref& sent, const Ref& received,
                    const Operand& device, Here here = Here::current());
// On regular and barrier semaphores; the second signals the semaphore of another core.
void semaphoreSignal(const Ref& semaphore, const Operand& amount, Here here = Here::current());
void semaphoreSignal(const Ref& semaphore, const Operand& amount, const Operand& core,
                     Here here = Here::current());
void semaphoreSignalDevice(const Ref& semaphore, const Operand& amount, const Operand& device,
                           Here here = Here::current());
void semaphoreWait(const Ref& semaphore, const Operand& amount, bool decrement = true,
                   Here here = Here::current());
[[nodiscard]] Value semaphoreRead(const Ref& semaphore, Here here = Here::current());
[[nodiscard]] Ref getBarrierSemaphore(std::int32_t collectiveId = 0, Here here = Here::current());
void delay(const Operand& nanoseconds, Here here = Here::current());

// The matrix unit by hand. It adds lhs times weights to an accumulator, beside what follows, on its
// instance `mxu`; with `staged`, that becomes its weights before. All but lhs are refs in
// MemorySpace::Accumulator, which begin with zeros.
void matmulPushRhs(const Ref& staged, const Operand& rhs, Here here = Here::current());
void matmulAccLhs(const Ref& sum, const Operand& lhs, const Ref& weights,
                  std::optional<Ref> staged = {}, std::int32_t mxu = 0,
                  Here here = Here::current());
// Waits for the sums, takes them and leaves zeros.
[[nodiscard]] Value matmulPop(const Ref& sum, Here here = Here::current());
// The same, but products go into a FIFO, from which each is taken as one.
void matmulLhsFifo(const Ref& fifo, const Operand& lhs, const Ref& weights,
                   std::optional<Ref> staged = {}, std::int32_t mxu = 0,
                   Here here = Here::current());
[[nodiscard]] Value matmulPopFifo(const Ref& fifo, Here here = Here::current());

// pltpu.load and pltpu.store with a mask of the ref's shape; where it is false, `other`.
[[nodiscard]] Value maskedLoad(const Ref& ref, const Operand& mask, const Operand& other,
                               Here here = Here::current());
void maskedStore(const Ref& ref, const Operand& value, const Operand& mask,
                 Here here = Here::current());
// plsc.load_gather, store_scatter and addupdate_scatter: the elements that the indices name, an
// int32 list for each axis of the ref; `mask` says which lanes take part (not given: all).
[[nodiscard]] Value loadGather(const Ref& ref, const std::vector<Value>& indices,
                               const std::optional<Value>& mask = {}, Here here = Here::current());
void storeScatter(const Ref& ref, const std::vector<Value>& indices, const Value& value,
                  const std::optional<Value>& mask = {}, Here here = Here::current());
void addupdateScatter(const Ref& ref, const std::vector<Value>& indices, const Value& value,
                      const std::optional<Value>& mask = {}, Here here = Here::current());
// Runs the body on every core of a mesh at once (pl.core_map), once for each block of a grid.
void coreMap(ir::CoreMapParams mesh, const std::function<void()>& body,
             Here here = Here::current());
void coreMap(std::string axis, std::int32_t cores, const std::function<void()>& body,
             Here here = Here::current());
[[nodiscard]] Value axisIndex(std::string axis, Here here = Here::current());
// At the beginning of a kernel: every device of the mesh runs it, as under shard_map.
void onMesh(std::vector<ir::MeshAxis> axes);

// ---- control
// -------------------------------------------------------------------------------------

void when(const Operand& condition, const std::function<void()>& body, Here here = Here::current());
[[nodiscard]] std::vector<Value> cond(const Operand& condition,
                                      const std::function<std::vector<Value>()>& ifTrue,
                                      const std::function<std::vector<Value>()>& ifFalse,
                                      Here here = Here::current());
// for (i = 0; i < length; ++i) carry = body(i, carry); returns the last carry.
std::vector<Value>
foriLoop(std::int64_t length, std::vector<Value> carry,
         const std::function<std::vector<Value>(Value, std::vector<Value>)>& body,
         Here here = Here::current());
std::vector<Value> whileLoop(std::vector<Value> carry,
                             const std::function<Value(std::vector<Value>)>& condition,
                             const std::function<std::vector<Value>(std::vector<Value>)>& body,
                             Here here = Here::current());

// ---- kernels and pipelines
// ------------------------------------------------------------------------

// What an index map returns: one block index per array axis. Loads happen here and now.
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

// An index map: a lambda from the grid's indices to at(...).
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

    // The arity of a generic lambda is found by trying.
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
    std::optional<IndexMap> indexMap; // absent: all zeros
    std::int32_t buffers = 2;
    std::string name; // of the block's ref; empty: that of the operand
    Here here = Here::current();
    std::int32_t outBuffers = 0; // above 0, among the outputs: an in-out with that many for the way
                                 // back
    bool lookahead = false;      // pl.Buffered(n, use_lookahead=True)
    std::int32_t prefetched = 0;
    bool restores = false;                // pl.Buffered(1, revisit=RevisitMode.ANY)
    std::optional<ir::MemorySpace> space; // absent: VMEM
};

// One axis of a block; a number is a blocked axis of that size.
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

// A block shape: {512, 512}, {pl::squeezed(), 128}, or extents alone.
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

// pl.BoundedSlice(size); its index map returns two numbers for the axis, start and extent.
[[nodiscard]] inline Dim boundedSlice(Extent size)
{
    return Dim(ir::BlockDim{ir::BlockKind::BoundedSlice, size});
}

// pl.Indirect(size); its index map returns an int32 array of shape (size) for the axis.
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
    std::vector<Extent> grid; // empty: one step; ir::kDynamicExtent: one of `bounds`, in order
    std::vector<BlockSpec> in, out;
    std::vector<Scratch> scratch;
    std::string axes;  // one letter per grid axis; empty: i, j, k, ...
    std::string order; // a permutation of `axes`, outermost first; empty: as declared
    Here here = Here::current();
    std::vector<Value> bounds;
    std::string schedule = "0.12";
    bool noPipelining = false;
    std::string coreAxis;               // of a coreMap around, whose cores share the grid
    std::vector<std::int32_t> parallel; // declared axes with PARALLEL semantics
};

// Calls body with a ref per scratch, which live while it runs; returns what it returns.
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

// Calls a lambda of N refs; false when the number of refs is another.
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
[[nodiscard]] Result<ir::Program> traceKernel(std::string name,
                                              std::vector<struct ArgumentSpec> arguments,
                                              const Body& body, Here here);

} // namespace detail

// A pipeline ready to be called with its operands, as in emit_pipeline(body, ...)(x, y, out).
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

namespace detail {

struct ArgumentSpec
{
    std::string name;
    ir::ArgumentKind kind = ir::ArgumentKind::Input;
    DType dtype = DType::F32;
    Shape shape;
    ir::MemorySpace space = ir::MemorySpace::Hbm;
    std::string aliasOf;                             // name of the input that an output is
    std::vector<std::vector<std::string>> partition; // ir::Argument::partition
};

} // namespace detail

// A scalar-prefetch operand: in SMEM before the first step, read by bodies and index maps.
[[nodiscard]] inline detail::ArgumentSpec scalarPrefetch(std::string name, DType dtype, Shape shape)
{
    return {std::move(name), ir::ArgumentKind::Input, dtype, std::move(shape),
            ir::MemorySpace::Smem};
}

// An output that is the array of an earlier input, as with input_output_aliases.
[[nodiscard]] inline detail::ArgumentSpec outAliasing(std::string name, std::string input,
                                                      DType dtype, Shape shape)
{
    return {std::move(name),  ir::ArgumentKind::Output, dtype,
            std::move(shape), ir::MemorySpace::Hbm,     std::move(input)};
}

[[nodiscard]] inline detail::ArgumentSpec in(std::string name, DType dtype, Shape shape)
{
    return {std::move(name), ir::ArgumentKind::Input, dtype, std::move(shape)};
}

// Of a program on a mesh: `argument` is the part of one device, cut along mesh axes, per axis of
// the array those that cut it, as in shard_map's specs.
[[nodiscard]] inline detail::ArgumentSpec sharded(detail::ArgumentSpec argument,
                                                  std::vector<std::vector<std::string>> partition)
{
    argument.partition = std::move(partition);
    return argument;
}

[[nodiscard]] inline detail::ArgumentSpec out(std::string name, DType dtype, Shape shape)
{
    return {std::move(name), ir::ArgumentKind::Output, dtype, std::move(shape)};
}

// Traces `body`, which gets one HBM ref per argument, into a verified program.
template<class F>
[[nodiscard]] Result<ir::Program> kernel(std::string name,
                                         std::vector<detail::ArgumentSpec> arguments, const F& body,
                                         Here here = Here::current())
{
    return detail::traceKernel(
        std::move(name), std::move(arguments),
        [&body](const std::vector<Ref>& refs) { return detail::invokeWithRefs(body, refs); }, here);
}

} // namespace pallascope::pl
