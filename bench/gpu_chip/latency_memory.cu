// Part of the group latency: bulk copies, loads and atomics, one in flight.
#include "latency.h"

namespace {

// One bulk copy in flight, from issue until its wait returns; a stride takes each from elsewhere.
__global__ void bulkLoadLatency(const char* source, uint64_t stride, uint32_t bytes, long long* out)
{
    extern __shared__ char raw[];
    __shared__ uint64_t storage;
    const uint32_t data = smemAddress(alignedSmem(raw)), bar = smemAddress(&storage);
    barrierInit(bar, 1);
    fenceBarrierInit();
    for (int i = 0; i < kTries; ++i) {
        const long long a = now();
        barrierExpect(bar, bytes);
        bulkLoad(data, source + i * stride, bytes, bar);
        if (!barrierWait(bar, i & 1))
            break;
        out[i] = now() - a;
    }
}

template<bool Read>
__global__ void bulkStoreLatency(char* target, uint32_t bytes, long long* out)
{
    extern __shared__ char raw[];
    const uint32_t data = smemAddress(alignedSmem(raw));
    for (int i = 0; i < kTries; ++i) {
        const long long a = now();
        bulkStore(target + i * 65536, data, bytes);
        bulkCommit();
        if (Read)
            bulkWaitRead<0>();
        else
            bulkWait<0>();
        out[i] = now() - a;
        bulkWait<0>();
    }
}

// A single load, each from another line: its value goes into the next address, as zero.
template<bool ThroughL1>
__global__ void loadLatency(const char* source, uint64_t stride, int tries, long long* out)
{
    uint64_t zero = 0;
    for (int i = 0; i < tries; ++i) {
        const char* p = source + i * stride + zero;
        uint32_t v;
        const long long a = now();
        if (ThroughL1)
            asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
        else
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
        // The clock is read after v is there: the empty statement uses v, and add makes it wait.
        asm volatile("add.u32 %0, %0, 0;" : "+r"(v)::"memory");
        zero += v;
        asm volatile("" : "+l"(zero)::"memory");
        if (zero != 0)
            break;
        out[i] = now() - a;
    }
}

__global__ void atomicLatency(uint32_t* memory, long long* out)
{
    uint32_t zero = 0;
    for (int i = 0; i < kTries; ++i) {
        const long long a = now();
        zero += atomicAdd(memory + i * 64 + zero, zero);
        asm volatile("" : "+r"(zero)::"memory");
        if (zero != 0)
            break;
        out[i] = now() - a;
    }
}

class Memory : public Probe
{
public:
    Memory()
        : m_memory(kFar)
    {}

    void run();

private:
    // The stores leave other values, and the chains of loads need zeros.
    void zeroes() { OK(cudaMemset(m_memory.get(), 0, 8u << 20)); }

    // Leaves the first part of the memory out of L2.
    void flush() { OK(cudaMemset(m_memory.get() + (kFar - (256u << 20)), 0, 256u << 20)); }

    void copies()
    {
        for (uint32_t bytes : {128u, 1024u, 4096u, 16384u, 65536u}) {
            const uint32_t smem = 65536 + 2048;
            const std::string parameters = text("bytes=%u", bytes);
            allowSmem(bulkLoadLatency, smem);
            allowSmem(bulkStoreLatency<true>, smem);
            allowSmem(bulkStoreLatency<false>, smem);
            one("bulk_load_L2", parameters, [&](long long* out) {
                bulkLoadLatency<<<1, 1, smem>>>(m_memory.get(), 65536, bytes, out);
                bulkLoadLatency<<<1, 1, smem>>>(m_memory.get(), 65536, bytes, out);
            });
            one("bulk_load_HBM", parameters, [&](long long* out) {
                flush();
                bulkLoadLatency<<<1, 1, smem>>>(m_memory.get(), 262144 + 8192, bytes, out);
            });
            one("bulk_store_complete", parameters, [&](long long* out) {
                bulkStoreLatency<false><<<1, 1, smem>>>(m_memory.get(), bytes, out);
            });
            one("bulk_store_read", parameters, [&](long long* out) {
                bulkStoreLatency<true><<<1, 1, smem>>>(m_memory.get(), bytes, out);
            });
        }
    }

    static constexpr size_t kFar = size_t(512) << 20;
    Buffer<char> m_memory;
};

void Memory::run()
{
    copies();
    one("load_L1", "bytes=4", [&](long long* out) {
        zeroes();
        loadLatency<true><<<1, 1>>>(m_memory.get(), 0, kTries, out);
    });
    one(
        "load_L2", "bytes=4",
        [&](long long* out) {
            zeroes();
            loadLatency<false><<<1, 1>>>(m_memory.get(), 4096 + 128, 512, out);
            loadLatency<false><<<1, 1>>>(m_memory.get(), 4096 + 128, 512, out);
        },
        512);
    one(
        "load_HBM", "bytes=4",
        [&](long long* out) {
            zeroes();
            flush();
            loadLatency<false><<<1, 1>>>(m_memory.get(), 65536 * 4 + 128, 512, out);
        },
        512);
    one("atomic_with_result", "", [&](long long* out) {
        zeroes();
        auto* words = reinterpret_cast<uint32_t*>(m_memory.get());
        atomicLatency<<<1, 1>>>(words, out);
        atomicLatency<<<1, 1>>>(words, out);
    });
}

} // namespace

void groupMemoryLatency()
{
    Memory m;
    m.run();
}
