// Reads and writes the flush bits of the CPU's floating-point control register.
#include "core/machine/arith/subnormals.h"

namespace pallascope::arith {

namespace {

#if defined(__x86_64__)

constexpr std::uint64_t kFlush = 0x8040; // FTZ (flush to zero) and DAZ (denormals are zero)

std::uint64_t control()
{
    return __builtin_ia32_stmxcsr();
}

void setControl(std::uint64_t value)
{
    __builtin_ia32_ldmxcsr(static_cast<std::uint32_t>(value));
}

#elif defined(__aarch64__)

constexpr std::uint64_t kFlush = 1U << 24U; // FZ

std::uint64_t control()
{
    std::uint64_t value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
}

void setControl(std::uint64_t value)
{
    asm volatile("msr fpcr, %0" : : "r"(value));
}

#else

constexpr std::uint64_t kFlush = 0;

std::uint64_t control()
{
    return 0;
}

void setControl(std::uint64_t /*value*/) {}

#endif

// Changes only the flush bits; the rounding mode and the exception flags stay as they are.
void setFlush(std::uint64_t flush)
{
    setControl((control() & ~kFlush) | flush);
}

} // namespace

Subnormals::Subnormals(bool flushed)
    : m_before(control() & kFlush)
    , m_changes(m_before != (flushed ? kFlush : 0))
{
    if (m_changes) {
        setFlush(flushed ? kFlush : 0);
    }
}

Subnormals::~Subnormals()
{
    if (m_changes) {
        setFlush(m_before);
    }
}

bool subnormalsAreFlushed()
{
    return kFlush != 0 && (control() & kFlush) == kFlush;
}

} // namespace pallascope::arith
