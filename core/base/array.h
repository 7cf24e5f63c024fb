// A dense row-major array with its data. Copies of an array share the data; whoever writes while it
// is shared copies it first.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"
#include "core/base/units.h"

#include <cstddef>
#include <memory>
#include <new>

namespace pallascope {

// Uninitialised bytes. Several owners may read them; only a sole owner may write.
using SharedBytes = std::shared_ptr<std::byte[]>;

[[nodiscard]] SharedBytes allocateBytes(std::int64_t count); // throws MemoryLimitReached

// Thrown when the arrays would take more than a MemoryLimit allows.
struct MemoryLimitReached : std::bad_alloc
{};

// While it lives, the arrays that this thread allocates may hold at most this many bytes at any one
// time. Limits nest, and an inner one counts only what is allocated while it lives.
class MemoryLimit
{
public:
    explicit MemoryLimit(Bytes most);
    ~MemoryLimit();
    MemoryLimit(const MemoryLimit&) = delete;
    MemoryLimit& operator=(const MemoryLimit&) = delete;

    struct Account; // lives on while an array that it counts does

private:
    Account* m_outer;
};

struct Array
{
    DType dtype = DType::F32;
    Shape shape;
    SharedBytes data; // null: the array is only a shape

    // The size of `data`. Elements narrower than a byte occupy one byte each.
    [[nodiscard]] std::int64_t byteCount() const { return shape.elements() * dtypeBytes(dtype); }

    // One element as a double, which holds every dtype's values exactly.
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

// Numbers that look normally distributed, rounded to the dtype. They are the same on every machine
// and for every number of threads, because element i depends only on (seed, i). Each float is the
// sum of eight uniform 16-bit numbers, centred and scaled to variance 1; the sum is in integers, so
// no libm decides a bit. Integers are uniform from -8 to 8, or 0 to 16 for unsigned types, as far
// as the dtype reaches. Bools are true with probability 1/2.
[[nodiscard]] Array normalArray(DType dtype, const Shape& shape, std::uint64_t seed);
void fillNormal(Array& array, std::uint64_t seed, std::int64_t begin, std::int64_t end);

} // namespace pallascope
