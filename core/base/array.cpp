#include "core/base/array.h"

#include "core/base/check.h"
#include "core/base/element.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <malloc.h>
#include <mutex>
#include <sys/mman.h>
#include <utility>

namespace pallascope {

// `held` starts with a share for the limit itself, so that whoever gives back the last share, the
// limit or an array, deletes the account.
struct MemoryLimit::Account
{
    explicit Account(Bytes limit)
        : most(limit.value())
    {}

    void check(std::int64_t bytes) const // called before the bytes are allocated and counted
    {
        if (bytes > most - (held - kOfLimit)) {
            throw MemoryLimitReached();
        }
    }

    void giveBack(std::int64_t bytes) // not 0
    {
        if (held.fetch_sub(bytes) == bytes) {
            delete this;
        }
    }

    static constexpr std::int64_t kOfLimit = std::int64_t{1} << 62;

    std::int64_t most;
    std::atomic<std::int64_t> held = kOfLimit; // arrays may go away on another thread
};

namespace {

thread_local MemoryLimit::Account* t_account = nullptr;

} // namespace

MemoryLimit::MemoryLimit(Bytes most)
    : m_outer(std::exchange(t_account, new Account(most)))
{}

MemoryLimit::~MemoryLimit()
{
    std::exchange(t_account, m_outer)->giveBack(Account::kOfLimit);
}

namespace {

// Large arrays use large pages if the system has them: the first access to many small pages takes
// longer than filling them.
constexpr std::int64_t kLargePage = 1 << 21;

// Blocks come and go. Memory that the allocator returned to the system at once would pay for its
// first accesses again.
void keepFreedMemory()
{
#ifdef __GLIBC__
    constexpr int kKept = 64 << 20;
    (void)mallopt(M_MMAP_THRESHOLD, 2 * static_cast<int>(kLargePage));
    (void)mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

bool isLarge(std::int64_t count)
{
    return count >= 2 * kLargePage;
}

// Large arrays that were freed, the oldest first. The next array of the same size takes one of
// them, so that a repeated run does not wait for the system to clear the memory again.
class FreedArrays
{
public:
    // Null if there is none of this size.
    [[nodiscard]] std::byte* take(std::size_t size)
    {
        const std::lock_guard lock(m_mutex);
        const auto one = std::find_if(m_freed.rbegin(), m_freed.rend(),
                                      [&](const Freed& freed) { return freed.size == size; });
        if (one == m_freed.rend()) {
            return nullptr;
        }
        std::byte* const bytes = one->bytes;
        m_size -= size;
        m_freed.erase(std::next(one).base());
        return bytes;
    }

    void keep(std::byte* bytes, std::size_t size)
    {
        const std::lock_guard lock(m_mutex);
        m_freed.push_back({bytes, size});
        m_size += size;
        while (m_size > kMost) {
            m_size -= m_freed.front().size;
            std::free(m_freed.front().bytes);
            m_freed.pop_front();
        }
    }

private:
    static constexpr std::size_t kMost = 128 << 20;

    struct Freed
    {
        std::byte* bytes;
        std::size_t size;
    };

    std::mutex m_mutex; // arrays may be freed on another thread
    std::deque<Freed> m_freed;
    std::size_t m_size = 0;
};

FreedArrays& freedArrays()
{
    // Never destroyed, because static arrays may be freed after it.
    static auto* const all = new FreedArrays;
    return *all;
}

std::byte* allocate(std::int64_t count)
{
    [[maybe_unused]] static const bool kept = (keepFreedMemory(), true);
    const bool large = isLarge(count);
    const auto size = static_cast<std::size_t>(large ? alignTo(count, kLargePage) : count);
    if (std::byte* const freed = large ? freedArrays().take(size) : nullptr; freed != nullptr) {
        return freed;
    }
    auto* const bytes =
        static_cast<std::byte*>(large ? std::aligned_alloc(kLargePage, size) : std::malloc(size));
    if (bytes == nullptr && size > 0) {
        throw std::bad_alloc();
    }
#ifdef MADV_HUGEPAGE
    if (large) {
        (void)madvise(bytes, size, MADV_HUGEPAGE); // it is only a hint, which the system may refuse
    }
#endif
    return bytes;
}

void release(std::byte* bytes, std::int64_t count)
{
    if (isLarge(count)) {
        freedArrays().keep(bytes, static_cast<std::size_t>(alignTo(count, kLargePage)));
    } else {
        std::free(bytes);
    }
}

// The data of small arrays lies behind their reference count, in the same allocation.
constexpr std::int64_t kSmall = 1 << 10;

struct alignas(16) Chunk // as the allocator aligns memory
{
    std::array<std::byte, 16> bytes;
};

// An allocator whose allocations are counted by an account.
template<class T>
struct Counted
{
    using value_type = T;

    MemoryLimit::Account* account;

    explicit Counted(MemoryLimit::Account* counts)
        : account(counts)
    {}

    template<class U>
    Counted(const Counted<U>& other)
        : account(other.account)
    {}

    [[nodiscard]] T* allocate(std::size_t count)
    {
        account->check(bytesOf(count));
        T* const allocated = std::allocator<T>().allocate(count);
        account->held += bytesOf(count);
        return allocated;
    }

    void deallocate(T* freed, std::size_t count)
    {
        std::allocator<T>().deallocate(freed, count);
        account->giveBack(bytesOf(count));
    }

    [[nodiscard]] static std::int64_t bytesOf(std::size_t count)
    {
        return static_cast<std::int64_t>(count * sizeof(T));
    }

    bool operator==(const Counted&) const = default;
};

SharedBytes allocateSmall(std::int64_t count)
{
    const std::size_t chunks = static_cast<std::size_t>(count) / sizeof(Chunk) + 1;
    const std::shared_ptr<Chunk[]> block =
        t_account == nullptr
            ? std::make_shared_for_overwrite<Chunk[]>(chunks)
            : std::allocate_shared_for_overwrite<Chunk[]>(Counted<Chunk>(t_account), chunks);
    return {block, block[0].bytes.data()};
}

} // namespace

SharedBytes allocateBytes(std::int64_t count)
{
    PALLASCOPE_CHECK(count >= 0);
    if (count <= kSmall) {
        return allocateSmall(count);
    }
    if (t_account == nullptr) {
        return {allocate(count), [count](std::byte* freed) { release(freed, count); }};
    }
    t_account->check(count);
    std::byte* const bytes = allocate(count);
    t_account->held += count;
    return {bytes, [account = t_account, count](std::byte* freed) {
                release(freed, count);
                account->giveBack(count);
            }};
}

Array makeArray(DType dtype, Shape shape)
{
    Array array{dtype, std::move(shape), nullptr};
    array.data = allocateBytes(array.byteCount());
    return array;
}

double Array::at(std::int64_t element) const
{
    return readElement(dtype, data.get(), element);
}

namespace {

// splitmix64 (Steele, Lea, Flood 2014) as a counter-based generator.
std::uint64_t scramble(std::uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}

std::int64_t sumOfUniforms(std::uint64_t bits)
{
    return static_cast<std::int64_t>((bits & 0xffffU) + ((bits >> 16U) & 0xffffU)
                                     + ((bits >> 32U) & 0xffffU) + (bits >> 48U));
}

float normal(std::uint64_t key, std::uint64_t i)
{
    const std::int64_t sum =
        sumOfUniforms(scramble(key + 2 * i)) + sumOfUniforms(scramble(key + 2 * i + 1));
    // Eight uniforms on 0..65535: mean 262140, variance 8 * (65536^2 - 1) / 12.
    constexpr float kScale = 1.8688e-5F; // 1 / sqrt(variance) to the digits that matter
    return static_cast<float>(sum - 262140) * kScale;
}

} // namespace

void fillNormal(Array& array, std::uint64_t seed, std::int64_t begin, std::int64_t end)
{
    const std::uint64_t key = scramble(seed);
    const std::int64_t least = std::max<std::int64_t>(lowestInteger(array.dtype), -8);
    const auto values =
        static_cast<std::uint64_t>(std::min<std::int64_t>(highestInteger(array.dtype) - least, 16))
        + 1;
    for (std::int64_t i = begin; i < end; ++i) {
        const auto counter = static_cast<std::uint64_t>(i);
        if (array.dtype == DType::F32) {
            array.as<float>()[i] = normal(key, counter);
        } else if (isFloat(array.dtype)) {
            writeElement(array.dtype, array.data.get(), i,
                         static_cast<double>(normal(key, counter)));
        } else {
            const auto drawn = static_cast<std::int64_t>(scramble(key + counter) % values);
            writeElement(array.dtype, array.data.get(), i, static_cast<double>(drawn + least));
        }
    }
}

Array normalArray(DType dtype, const Shape& shape, std::uint64_t seed)
{
    Array array = makeArray(dtype, shape);
    fillNormal(array, seed, 0, shape.elements());
    return array;
}

} // namespace pallascope
