// Group smem: what wgmma's operand reads, bulk copies and ordinary shared-memory accesses take from
// each other. Warpgroup 0 makes the other traffic, warpgroups 1 to 3 issue wgmma on resident tiles.
#include "host.h"
#include "wgmma.h"

namespace {

enum Role
{
    None = 0,
    Copies = 1,
    Loads = 2,
    Stores = 3,
    CopiesOut = 4
};

const char* const kRoles[] = {"none", "copies", "ld.shared", "st.shared", "copies_out"};

constexpr int kTileA = 8 * 1024;
constexpr int kTileB = 32 * 1024;
constexpr int kSlots = 128 * 1024; // where the copies and the loads and stores go
constexpr int kBarriers = 3 * kTileA + kTileB + kSlots;
constexpr int kSmem = kBarriers + 1024 + 1024;

struct Args
{
    char* source;
    uint32_t footprint;
    int role, producers, chunk, iterations, ownB;
    float cyclesPerChunk; // of one producer; 0: as fast as it goes
};

// One lane keeps its slots full of copies until the warpgroups with wgmma are through.
__device__ void produce(const Args& g, int producer, uint32_t slots, uint32_t bars,
                        volatile int* finished, int consumers, Record& r)
{
    const int count = kSlots / g.chunk / g.producers;
    slots += producer * count * g.chunk;
    bars += producer * count * 8;
    uint32_t offset = (blockIdx.x * 126976u + producer * 40960u) % g.footprint;
    int issued = 0, waited = 0;
    float next = 0;
    r.c0 = now();
    bool going = true;
    while (going || waited < issued) {
        if (going && issued - waited < count) {
            while (g.cyclesPerChunk > 0 && static_cast<float>(now() - r.c0) < next
                   && *finished < consumers) {
            }
            next += g.cyclesPerChunk;
            const int slot = issued % count;
            barrierExpect(bars + 8 * slot, g.chunk);
            bulkLoad(slots + slot * g.chunk, g.source + offset, g.chunk, bars + 8 * slot);
            offset += g.chunk;
            if (offset + g.chunk > g.footprint)
                offset = 0;
            ++issued;
            // With a bounded rate a copy is waited for only when its slot is needed again.
            if (issued - waited < count)
                continue;
        }
        if (!barrierWait(bars + 8 * (waited % count), (waited / count) & 1))
            break;
        ++waited;
        if (going && *finished >= consumers) {
            going = false;
            r.c1 = now();
            r.bytes = static_cast<long long>(waited) * g.chunk;
        }
        if (issued > 10'000'000)
            break;
    }
}

// The same with copies from shared memory to L2, as of a result while the next one is computed.
__device__ void writeOut(const Args& g, uint32_t slots, volatile int* finished, int consumers,
                         Record& r)
{
    const int count = kSlots / g.chunk;
    uint32_t offset = blockIdx.x * 126976u % g.footprint;
    r.c0 = now();
    for (int i = 0; i < 1'000'000 && *finished < consumers; ++i) {
        bulkStore(g.source + offset, slots + i % count * g.chunk, g.chunk);
        bulkCommit();
        bulkWaitRead<6>();
        offset += g.chunk;
        if (offset + g.chunk > g.footprint)
            offset = 0;
        r.bytes += g.chunk;
    }
    r.c1 = now();
    bulkWait<0>();
}

__device__ void access(int role, uint32_t slots, volatile int* finished, int consumers, Record& r,
                       float* sink)
{
    uint32_t sum = threadIdx.x;
    const uint32_t at = slots + threadIdx.x * 16;
    long long n = 0;
    r.c0 = now();
    for (int i = 0; i < 4'000'000 && *finished < consumers; ++i) {
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            uint32_t x = sum, y = sum + 1, z = sum + 2, w = sum + 3;
            if (role == Loads)
                asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                             : "r"(at + k * 2048)
                             : "memory");
            else
                asm volatile("st.volatile.shared.v4.u32 [%4], {%0, %1, %2, %3};" ::"r"(x), "r"(y),
                             "r"(z), "r"(w), "r"(at + k * 2048)
                             : "memory");
            if (role == Loads)
                sum ^= x ^ y ^ z ^ w;
        }
        n += 16;
    }
    r.c1 = now();
    r.bytes = n * 128 * 16;
    sink[threadIdx.x] = static_cast<float>(sum);
}

// What warpgroup 0 does. The loops are written apart per role so that no role's choice is made
// inside its loop.
__device__ __forceinline__ void makeTraffic(const Args& g, uint32_t slots, uint32_t bars,
                                            volatile int* finished, int consumers, Record* records,
                                            float* sink)
{
    Record r = {};
    const int warp = threadIdx.x / 32;
    if (g.role == Copies && warp < g.producers && threadIdx.x % 32 == 0) {
        produce(g, warp, slots, bars, finished, consumers, r);
        records[warp] = r; // each producer reports; the host adds their bytes
    } else if (g.role == CopiesOut && threadIdx.x == 0) {
        writeOut(g, slots, finished, consumers, r);
        records[0] = r;
    } else if (g.role == Loads) {
        access(Loads, slots, finished, consumers, r, sink);
        if (threadIdx.x == 0)
            records[0] = r;
    } else if (g.role == Stores) {
        access(Stores, slots, finished, consumers, r, sink);
        if (threadIdx.x == 0)
            records[0] = r;
    }
}

// What the other warpgroups do, on the tiles of these descriptors.
template<Kind K, int N, bool FromRegisters>
__device__ __forceinline__ void multiply(uint64_t da, uint64_t db, int iterations, int* finished,
                                         Record& record, float* sink)
{
    using W = Wgmma<K, N, FromRegisters>;
    typename W::Acc d[N / 2];
#pragma unroll
    for (int i = 0; i < N / 2; ++i)
        d[i] = 0;
    uint32_t regs[4];
    for (int i = 0; i < 4; ++i)
        regs[i] = randomWord<K>(threadIdx.x * 4 + i);
    Record r = {};
    r.t0 = nowNs();
    r.c0 = now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
        wgmmaFence();
#pragma unroll
        for (int k = 0; k < 8; ++k)
            W::run(d, regs, da + 2 * (k & 3), db + 2 * (k & 3));
        wgmmaCommit();
        wgmmaWait<1>();
    }
    wgmmaWait<0>();
    holdAccumulator(d);
    r.c1 = now();
    r.t1 = nowNs();
    sink[threadIdx.x] = static_cast<float>(sumOf(d));
    if (threadIdx.x % 128 == 0) {
        atomicAdd(finished, 1);
        r.smid = smId();
        record = r;
    }
}

// N = 256 needs more than the 128 registers that four warpgroups leave each thread.
template<int N>
constexpr int kMostConsumers = N > 192 ? 2 : 3;

template<Kind K, int N, bool FromRegisters>
__global__ void __launch_bounds__(128 * (kMostConsumers<N> + 1), 1)
    smemKernel(Args g, Record* records, float* sink)
{
    extern __shared__ char raw[];
    __shared__ int finished;
    char* base = alignedSmem(raw);
    const uint32_t a = smemAddress(base);
    const uint32_t b = a + 3 * kTileA;
    const uint32_t slots = b + kTileB;
    const uint32_t bars = a + kBarriers;
    // Taken from one lane, so that the compiler knows it (and the descriptors) to be uniform.
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
    if (threadIdx.x == 0) {
        finished = 0;
        for (int i = 0; i < 64; ++i)
            barrierInit(bars + 8 * i, 1);
        fenceBarrierInit();
    }
    for (int i = threadIdx.x; i < kBarriers / 4; i += blockDim.x)
        reinterpret_cast<uint32_t*>(base)[i] = randomWord<K>(i + blockIdx.x * 77777u);
    fenceProxyAsync();
    __syncthreads();

    Record* its = records + blockIdx.x * 8;
    if (group == 0) {
        makeTraffic(g, slots, bars, &finished, blockDim.x / 128 - 1, its + 4, sink);
    } else {
        const uint64_t da = tileDescriptor(a + (group - 1) * kTileA);
        const uint64_t db = tileDescriptor(g.ownB ? slots + (group - 1) * kTileB : b);
        multiply<K, N, FromRegisters>(da, db, g.iterations, &finished, its[group], sink);
    }
}

class Smem
{
public:
    Smem()
        : m_records(132 * 8 + 64 * 8)
        , m_sink(1024)
        , m_source(16 << 20)
    {}

    template<Kind K, int N, bool FromRegisters>
    void run(const char* kind, int consumers, int role, double rate, int chunk, bool ownB)
    {
        const std::string parameters =
            text("kind=%s N=%d A=%s warpgroups=%d B=%s other=%s rate=%g chunk=%d", kind, N,
                 FromRegisters ? "registers" : "smem", consumers, ownB ? "own" : "same",
                 kRoles[role], rate, chunk);
        guarded("smem " + parameters, [&] {
            auto* kernel = smemKernel<K, N, FromRegisters>;
            allowSmem(kernel, kSmem);
            const int blocks = multiprocessors();
            const int iterations = std::max(20, 40000 / (N / 2) / 8 / consumers);
            const int producers = chunk <= 4096 ? 4 : 1;
            Args g = {m_source.get(), 16u << 20, role, producers, chunk, iterations, ownB, 0};
            if (rate > 0)
                g.cyclesPerChunk = static_cast<float>(chunk / rate * producers);
            Values perWgmma, bytes, mhz;
            for (int repeat = 0; repeat < 6; ++repeat) {
                OK(cudaMemset(m_records.get(), 0, blocks * 8 * sizeof(Record)));
                kernel<<<blocks, 128 * (consumers + 1), kSmem>>>(g, m_records.get(), m_sink.get());
                finish();
                const std::vector<Record> all = m_records.read(blocks * 8);
                if (repeat == 0) // brings the source into L2
                    continue;
                Values cycles, moved, clock;
                for (int i = 0; i < blocks; ++i) {
                    const Record* r = &all[i * 8];
                    long long first = r[1].c0, last = r[1].c1;
                    for (int w = 2; w <= consumers; ++w) {
                        first = std::min(first, r[w].c0);
                        last = std::max(last, r[w].c1);
                    }
                    cycles.push_back(double(last - first) / (8.0 * iterations * consumers));
                    double rateHere = 0;
                    for (int p = 4; p < 8; ++p)
                        if (r[p].c1 > r[p].c0)
                            rateHere += double(r[p].bytes) / cyclesOf(r[p]);
                    moved.push_back(rateHere);
                    clock.push_back(1e3 * cyclesOf(r[1]) / double(r[1].t1 - r[1].t0 + 1));
                }
                perWgmma.push_back(median(cycles));
                bytes.push_back(median(moved));
                mhz.push_back(median(clock));
            }
            emit("smem", "wgmma", parameters, perWgmma, "cycles/wgmma/SM");
            if (role != None)
                emit("smem", "other_traffic", parameters, bytes, "B/cycle/SM");
            emit("smem", "clock", parameters, mhz, "MHz");
        });
    }

    template<Kind K, int N, bool FromRegisters>
    void alone(const char* kind)
    {
        for (int consumers = 1; consumers <= kMostConsumers<N>; ++consumers)
            run<K, N, FromRegisters>(kind, consumers, None, 0, 16384, false);
        for (int consumers = 2; consumers <= kMostConsumers<N>; ++consumers)
            run<K, N, FromRegisters>(kind, consumers, None, 0, 16384, true);
    }

    template<Kind K, int N, bool FromRegisters>
    void contended(const char* kind)
    {
        for (int consumers = 1; consumers <= kMostConsumers<N>; ++consumers) {
            for (double rate : {16.0, 32.0, 48.0, 64.0, 0.0})
                run<K, N, FromRegisters>(kind, consumers, Copies, rate, 16384, false);
            run<K, N, FromRegisters>(kind, consumers, Copies, 0, 4096, false);
            run<K, N, FromRegisters>(kind, consumers, CopiesOut, 0, 16384, false);
            run<K, N, FromRegisters>(kind, consumers, Loads, 0, 16384, false);
            run<K, N, FromRegisters>(kind, consumers, Stores, 0, 16384, false);
        }
    }

    template<int N>
    void bf16()
    {
        alone<Kind::Bf16, N, false>("bf16");
        alone<Kind::Bf16, N, true>("bf16");
    }

    template<int N>
    void bf16Contended()
    {
        contended<Kind::Bf16, N, false>("bf16");
        contended<Kind::Bf16, N, true>("bf16");
    }

    template<Kind K>
    void other(const char* kind)
    {
        alone<K, 128, false>(kind);
        alone<K, 256, false>(kind);
        alone<K, 128, true>(kind);
        alone<K, 256, true>(kind);
        run<K, 128, false>(kind, 2, Copies, 0, 16384, false);
        run<K, 256, false>(kind, 2, Copies, 0, 16384, false);
    }

private:
    Buffer<Record> m_records;
    Buffer<float> m_sink;
    Buffer<char> m_source;
};

} // namespace

void groupSmem()
{
    Smem s;
    s.bf16<64>();
    s.bf16<128>();
    s.bf16<256>();
    s.bf16<32>();
    s.bf16<16>();
    s.bf16<96>();
    s.bf16<192>();
    s.bf16Contended<64>();
    s.bf16Contended<128>();
    s.bf16Contended<256>();
    s.bf16Contended<96>();
    s.bf16Contended<192>();
    s.bf16Contended<32>();
    s.bf16Contended<16>();
    s.other<Kind::Fp8>("fp8");
    s.other<Kind::Int8>("int8");
    s.other<Kind::Tf32>("tf32");
}
