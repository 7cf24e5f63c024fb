#include "tests/machine/random/random_writer.h"

namespace pallascope::machine_test {

using ir::OpCode;

namespace {

pl::Value literal(std::int64_t number)
{
    return pl::full({}, static_cast<double>(number), kInt);
}

} // namespace

pl::Value RandomWriter::leaf()
{
    switch (m_chance.below(8)) {
    case 0:
        return literal(m_chance.from(-2, 9));
    case 1:
        if (m_scope.axes > 0) {
            return pl::programId(static_cast<std::int32_t>(m_chance.below(m_scope.axes)));
        }
        break;
    case 2:
        if (!m_scope.semaphores.empty()) {
            return pl::semaphoreRead(m_chance.pick(m_scope.semaphores));
        }
        break;
    case 3:
    case 4:
        if (!m_scope.tables.empty()) {
            const pl::Ref table = m_chance.pick(m_scope.tables);
            const pl::Value from = m_scope.numbers.empty() ? literal(m_chance.below(kEntries))
                                                           : m_chance.pick(m_scope.numbers);
            return table[below(from, kEntries)].load();
        }
        break;
    case 5:
        if (!m_scope.blocks.empty()) {
            const pl::Ref block = m_chance.pick(m_scope.blocks);
            const pl::Value most = pl::reduce(OpCode::ReduceMax, block[pl::all].load(), {0, 1});
            return block.dtype() == kInt ? most : pl::convert(most, kInt);
        }
        break;
    default:
        break;
    }
    return m_scope.numbers.empty() ? literal(m_chance.below(5)) : m_chance.pick(m_scope.numbers);
}

pl::Value RandomWriter::number(int depth)
{
    if (depth == 0 || m_chance.oneIn(3)) {
        return leaf();
    }
    const pl::Value a = number(depth - 1), b = number(depth - 1);
    switch (m_chance.below(6)) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return pl::maximum(a, b);
    case 4:
        return a % static_cast<int>(m_chance.from(2, 5));
    default: {
        const pl::Value less = a < b, other = literal(m_chance.below(4));
        return pl::select(less, b, other);
    }
    }
}

pl::Value RandomWriter::condition()
{
    const pl::Value a = number(), b = literal(m_chance.from(-1, 5));
    switch (m_chance.below(3)) {
    case 0:
        return a < b;
    case 1:
        return a == b;
    default:
        return a % 2 == 0;
    }
}

pl::Value RandomWriter::below(pl::Value number, std::int64_t limit)
{
    constexpr std::int64_t kSeldom = 150;
    if (m_chance.oneIn(kSeldom)) {
        return number;
    }
    const auto size = static_cast<int>(limit);
    return (number % size + size) % size;
}

// The start of `size` elements on an axis; usually the start of a tile.
pl::Value RandomWriter::start(Extent extent, Extent size)
{
    if (m_chance.oneIn(4)) {
        return below(number(1), extent - size + 1);
    }
    const pl::Value tile = below(number(1), (extent + size - 1) / size);
    return tile * static_cast<int>(size);
}

std::optional<pl::Value> RandomWriter::loadedBlock(DType dtype, Extent rows)
{
    std::vector<pl::Ref> fitting;
    for (const pl::Ref& block : m_scope.blocks) {
        if (block.dtype() == dtype && block.shape()[0] >= rows) {
            fitting.push_back(block);
        }
    }
    if (fitting.empty()) {
        return {};
    }
    const pl::Ref block = m_chance.pick(fitting);
    const Extent all = block.shape()[0];
    if (all == rows) {
        return block[pl::all].load();
    }
    const pl::Value first = below(number(1), all - rows + 1);
    return block[{pl::ds(first, rows), pl::all}].load();
}

pl::Value RandomWriter::array(DType dtype, Extent rows, int depth)
{
    const Shape shape{rows, kColumns};
    const std::int64_t kind = m_chance.below(depth > 0 ? 9 : 5);
    if (kind == 0 && !m_scope.values.empty() && rows == kRows) {
        const pl::Value value = m_chance.pick(m_scope.values);
        return value.dtype() == dtype ? value : pl::convert(value, dtype);
    }
    if (kind <= 2) {
        if (const std::optional<pl::Value> loaded = loadedBlock(dtype, rows)) {
            return *loaded;
        }
    }
    if (kind <= 3) {
        const pl::Value everywhere = number(1);
        return pl::broadcastTo(dtype == kInt ? everywhere : pl::convert(everywhere, dtype), shape);
    }
    if (kind == 4) {
        return dtype == kInt ? pl::iota(kInt, shape, 0) : pl::full(shape, 1.5, dtype);
    }
    if (kind == 5) {
        const DType other = dtype == kInt ? kF32 : kInt;
        return pl::convert(array(other, rows, depth - 1), dtype);
    }
    const pl::Value a = array(dtype, rows, depth - 1), b = array(dtype, rows, depth - 1);
    switch (kind) {
    case 6:
        return a + b;
    case 7:
        return dtype == kInt ? a * b : pl::exp(a);
    default:
        return pl::select(a < b, a, b);
    }
}

std::vector<pl::Value> RandomWriter::someNumbers(std::int64_t count)
{
    std::vector<pl::Value> numbers;
    for (std::int64_t i = 0; i < count; ++i) {
        numbers.push_back(number());
    }
    return numbers;
}

} // namespace pallascope::machine_test
