// What a kernel is written with in the builder: values, refs, indexers, and the operators between
// them.
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <initializer_list>
#include <source_location>
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

// The whole extent of an axis, or, alone in the brackets, the whole ref.
inline constexpr All all{};

// How an indexer treats one axis. Conversions are implicit, so that x[{0, pl::all, pl::ds(i, 8)}]
// reads as in Python.
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
// Only for Ref::at: a slice of `size` elements, a value that is at most `most`.
[[nodiscard]] IndexArg ds(Value start, Value size, Extent most);

// What stands in the brackets of ref[...], with its source line.
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

// ref[...]: a load where a value is wanted, a store when it is assigned to.
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

// A window on memory that a kernel reads and writes.
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
    // ref.at[...]: a part of the ref, as a ref. Of an array of semaphores: one of them.
    [[nodiscard]] Ref at(const Indexer& indexer) const;
    // The same memory with another shape, another dtype (which packs or unpacks rows) or another
    // order of axes.
    [[nodiscard]] Ref reshape(Shape shape, Here here = Here::current()) const;
    [[nodiscard]] Ref bitcast(DType dtype, Here here = Here::current()) const;
    [[nodiscard]] Ref transpose(std::vector<std::int32_t> permutation,
                                Here here = Here::current()) const;

private:
    ir::ValueId m_id;
};

// An argument of an operation: a value, a load, or a number, which takes the type of the other
// operand.
class Operand
{
public:
    Operand(Value value, Here here = Here::current())
        : m_value(value)
        , m_here(here)
    {} // NOLINT(google-explicit-constructor)

    // The load is recorded when the operation takes its operands, one after the other, and not when
    // C++ happens to convert its arguments, whose order is unspecified. The view lives as long as
    // the expression in which it stands.
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

// Only scalars are broadcast, as in a jaxpr: shapes of arrays must match.

// For an elementwise operation, broadcasts scalars and numbers to the shape of the arrays among the
// operands.
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

} // namespace pallascope::pl
