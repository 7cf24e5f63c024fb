// Group hbm: HBM rates of long kernels by their mix of reads and writes, and the time that short
// kernels take to read a little memory that is not in L2.
#include "host.h"

namespace {

constexpr uint64_t kStream = uint64_t(2) << 30; // bytes of one stream
constexpr uint32_t kSlots = 192 * 1024;
constexpr uint32_t kSmem = kSlots + 2048;

struct Streams
{
    char* p[4]; // the reads, then the writes
};

__device__ void record(Record* records, long long c0, unsigned long long t0)
{
    Record r = {};
    r.c0 = c0;
    r.t0 = t0;
    r.c1 = now();
    r.t1 = nowNs();
    records[blockIdx.x] = r;
}

// Ordinary accesses: blocks go through the streams piece by piece, a grid's width apart.
template<int R, int W>
__global__ void ordinary(Streams s, uint64_t bytes, Record* records, uint32_t* sink)
{
    const long long c0 = now();
    const unsigned long long t0 = nowNs();
    constexpr int kDeep = R > 1 ? 2 : 4;
    const uint64_t piece = uint64_t(blockDim.x) * 16 * kDeep;
    uint32_t sum = 0;
    for (uint64_t at = blockIdx.x * piece; at < bytes; at += gridDim.x * piece) {
        uint4 v[kDeep];
#pragma unroll
        for (int k = 0; k < kDeep; ++k)
            v[k] = make_uint4(threadIdx.x, k, 1, 2);
        uint4 u[R > 0 ? R * kDeep : 1];
#pragma unroll
        for (int k = 0; k < kDeep; ++k)
#pragma unroll
            for (int i = 0; i < R; ++i)
                u[i * kDeep + k] = loadNoL1(reinterpret_cast<const uint4*>(s.p[i] + at)
                                            + k * blockDim.x + threadIdx.x);
#pragma unroll
        for (int k = 0; k < kDeep; ++k)
#pragma unroll
            for (int i = 0; i < R; ++i) {
                v[k].x ^= u[i * kDeep + k].x;
                v[k].y ^= u[i * kDeep + k].y;
                v[k].z ^= u[i * kDeep + k].z;
                v[k].w ^= u[i * kDeep + k].w;
            }
#pragma unroll
        for (int k = 0; k < kDeep; ++k) {
#pragma unroll
            for (int i = 0; i < W; ++i)
                reinterpret_cast<uint4*>(s.p[R + i] + at)[k * blockDim.x + threadIdx.x] = v[k];
            sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
        }
    }
    if (W == 0)
        sink[(blockIdx.x * blockDim.x + threadIdx.x) & 0xfffff] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        record(records, c0, t0);
}

// Bulk copies by one lane per SM: a ring of groups of slots; a group takes one chunk of each stream
// that is read, and is stored to each stream that is written once it is there.
template<int R, int W>
__global__ void __launch_bounds__(32, 1)
    bulk(Streams s, uint64_t bytes, uint32_t chunk, Record* records)
{
    extern __shared__ char raw[];
    if (threadIdx.x != 0)
        return;
    const long long c0 = now();
    const unsigned long long t0 = nowNs();
    constexpr int kPer = R > 0 ? R : 1;
    const uint32_t base = smemAddress(alignedSmem(raw));
    const uint32_t bars = base + kSlots;
    const int groups = min(int(kSlots / chunk / kPer), 64);
    for (int i = 0; i < groups; ++i)
        barrierInit(bars + 8 * i, 1);
    fenceBarrierInit();
    fenceProxyAsync();
    const int chunks = int(bytes / chunk);
    const int mine = (chunks - int(blockIdx.x) + int(gridDim.x) - 1) / int(gridDim.x);
    auto load = [&](int n) {
        const int g = n % groups;
        const uint64_t at = uint64_t(n * gridDim.x + blockIdx.x) * chunk;
        barrierExpect(bars + 8 * g, R * chunk);
#pragma unroll
        for (int i = 0; i < R; ++i)
            bulkLoad(base + (g * kPer + i) * chunk, s.p[i] + at, chunk, bars + 8 * g);
    };
    if (R > 0)
        for (int n = 0; n < groups && n < mine; ++n)
            load(n);
    for (int n = 0; n < mine; ++n) {
        const int g = n % groups;
        if (R > 0 && !barrierWait(bars + 8 * g, uint32_t(n / groups) & 1))
            break;
        const uint64_t at = uint64_t(n * gridDim.x + blockIdx.x) * chunk;
#pragma unroll
        for (int i = 0; i < W; ++i)
            bulkStore(s.p[R + i] + at, base + (g * kPer + i % kPer) * chunk, chunk);
        if (W > 0)
            bulkCommit();
        // The group before this one is free again when its stores have read it.
        if (R == 0) {
            bulkWaitRead<6>();
        } else if (n > 0 && n - 1 + groups < mine) {
            if (W > 0)
                bulkWaitRead<1>();
            load(n - 1 + groups);
        }
    }
    if (W > 0)
        bulkWait<0>();
    record(records, c0, t0);
}

class Hbm
{
public:
    Hbm()
        : m_records(1 << 16)
        , m_sink(1 << 20)
    {
        for (int i = 0; i < 4; ++i)
            OK(cudaMalloc(reinterpret_cast<void**>(&m_p[i]), kStream));
        for (int i = 0; i < 4; ++i)
            OK(cudaMemset(m_p[i], i, kStream));
        OK(cudaDeviceSynchronize());
    }

    ~Hbm()
    {
        for (char* p : m_p)
            cudaFree(p);
    }

    Hbm(const Hbm&) = delete;
    Hbm& operator=(const Hbm&) = delete;

    template<int R, int W>
    void rates()
    {
        const int sms = multiprocessors();
        Streams s;
        for (int i = 0; i < 4; ++i)
            s.p[i] = m_p[i];
        for (int threads : {256, 512, 1024})
            for (int per : {1, 2, 4, 8}) {
                if (threads * per > 2048 || threads * per < 1024)
                    continue;
                rate(text("mode=ordinary reads=%d writes=%d threads=%d blocks_per_SM=%d", R, W,
                          threads, per),
                     R + W, [&] {
                         ordinary<R, W>
                             <<<sms * per, threads>>>(s, kStream, m_records.get(), m_sink.get());
                     });
            }
        // One piece per block, as a grid over the whole tensor has it.
        rate(text("mode=ordinary_one_piece reads=%d writes=%d threads=512", R, W), R + W, [&] {
            const int pieces = int(kStream / (512u * 16u * (R > 1 ? 2u : 4u)));
            if (pieces <= 1 << 16)
                ordinary<R, W><<<pieces, 512>>>(s, kStream, m_records.get(), m_sink.get());
            else
                ordinary<R, W><<<1 << 16, 512>>>(s, kStream, m_records.get(), m_sink.get());
        });
        for (uint32_t chunk : {4096u, 8192u, 16384u, 32768u})
            rate(text("mode=bulk reads=%d writes=%d chunk=%u", R, W, chunk), R + W, [&] {
                allowSmem(bulk<R, W>, kSmem);
                bulk<R, W><<<sms, 32, kSmem>>>(s, kStream, chunk, m_records.get());
            });
    }

    void cold(int mebibytes, bool useBulk, bool dirty)
    {
        const std::string parameters =
            text("mode=%s MiB=%d L2_before=%s", useBulk ? "bulk" : "ordinary", mebibytes,
                 dirty ? "dirty" : "clean");
        guarded("cold " + parameters, [&] {
            const int sms = multiprocessors();
            Streams s;
            for (int i = 0; i < 4; ++i)
                s.p[i] = m_p[i];
            Streams other = s;
            other.p[0] = m_p[1];
            const uint64_t bytes = uint64_t(mebibytes) << 20;
            const int blocks = int(std::min<uint64_t>(sms * 4, bytes >> 14));
            allowSmem(bulk<1, 0>, kSmem);
            Values event, inside;
            Timer t;
            for (int repeat = 0; repeat < 9; ++repeat) {
                // Writing flushes L2 but leaves it full of lines to be written back; reading
                // another buffer afterwards leaves it clean. Nothing waits for these, so that the
                // measured kernel is in the queue long before its turn comes.
                OK(cudaMemsetAsync(m_p[2], repeat, 256u << 20));
                if (!dirty)
                    ordinary<1, 0>
                        <<<sms * 2, 1024>>>(other, 256u << 20, m_records.get(), m_sink.get());
                s.p[0] = m_p[0] + repeat * (64u << 20);
                t.start();
                if (useBulk)
                    bulk<1, 0><<<sms, 32, kSmem>>>(s, bytes, 8192, m_records.get());
                else
                    ordinary<1, 0><<<blocks, 256>>>(s, bytes, m_records.get(), m_sink.get());
                const double us = t.stop();
                finish();
                if (repeat == 0)
                    continue;
                event.push_back(us);
                const std::vector<Record> r = m_records.read(useBulk ? sms : blocks);
                unsigned long long first = r[0].t0, last = r[0].t1;
                for (const Record& x : r) {
                    first = std::min(first, x.t0);
                    last = std::max(last, x.t1);
                }
                inside.push_back(1e-3 * double(last - first));
            }
            emit("hbm", "cold_read_events", parameters, event, "us");
            emit("hbm", "cold_read_first_to_last_block", parameters, inside, "us");
        });
    }

private:
    template<typename F>
    void rate(const std::string& parameters, int streams, F launch)
    {
        guarded("hbm " + parameters, [&] {
            Values v;
            Timer t;
            for (int repeat = 0; repeat < 5; ++repeat) {
                t.start();
                launch();
                const double us = t.stop();
                finish();
                if (repeat > 0)
                    v.push_back(1e-3 * double(kStream) * streams / us);
            }
            emit("hbm", "rate", parameters, v, "GB/s");
        });
    }

    char* m_p[4] = {};
    Buffer<Record> m_records;
    Buffer<uint32_t> m_sink;
};

} // namespace

void groupHbm()
{
    Hbm h;
    h.rates<1, 0>();
    h.rates<0, 1>();
    h.rates<1, 1>();
    h.rates<2, 1>();
    h.rates<1, 2>();
    h.rates<3, 1>();
    h.rates<2, 0>();
    for (int mebibytes : {1, 2, 4, 8, 16, 32, 64})
        for (bool dirty : {false, true})
            for (bool useBulk : {false, true})
                h.cold(mebibytes, useBulk, dirty);
}
