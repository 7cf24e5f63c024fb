// A dense row-major array with its data, shared and copied only when written while shared.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"
#include "core/base/units.h"

#include <cstddef>
#include <memory>
#include <new>

namespace pallascope {

// Uninitialised bytes that many may read and one may write.
using SharedBytes = std::shared_ptr<std::byte[]>;

[[nodiscard]] SharedBytes allocateBytes(std::int64_t count); // throws MemoryLimitReached

// Thrown where arrays would take more than a MemoryLimit allows.
struct MemoryLimitReached : std::bad_alloc
{};

// While it lives, the arrays that this thread allocates take at most so many bytes at a time; an
// inner limit counts by itself.
class MemoryLimit
{
public:
    explicit MemoryLimit(Bytes most);
    ~MemoryLimit();
    MemoryLimit(const MemoryLimit&) = delete;
    MemoryLimit& operator=(const MemoryLimit&) = delete;

    struct Account; // outlives the limit while an array of it does

private:
    Account* m_outer;
};

struct Array
{
    DType dtype = DType::F32;
    Shape shape;
    SharedBytes data; // null: a shape only

    // Of `data`, where elements narrower than a byte have one each.
    [[nodiscard]] std::int64_t byteCount() const { return shape.elements() * dtypeBytes(dtype); }

    // One element as a double; exact for every dtype.
    [[nodiscard]] double at(std::int64_t element) const;

    template<class T>
    [[nodiscard]] const T* as() const
    {
        return reinterpret_cast<const T*>(data.get());
    }

    template<class T>
    [[nodiscard]] T* as()
    {
        return reinterpret_cast<T*>(data.get());
    }
};

[[nodiscard]] Array makeArray(DType dtype, Shape shape);

// Numbers that look normally distributed, rounded to dtype; the same on every machine, whatever the
// thread count: element i depends on (seed, i) only. Each is the sum of eight uniform 16-bit
// numbers, centred and scaled to variance 1 (integers until the last step, so no libm decides a
// bit); integers are drawn evenly from -8 to 8 or 0 to 16, as far as the dtype reaches, bools are
// fair coins.
[[nodiscard]] Array normalArray(DType dtype, const Shape& shape, std::uint64_t seed);
void fillNormal(Array& array, std::uint64_t seed, std::int64_t begin, std::int64_t end);

} // namespace pallascope
