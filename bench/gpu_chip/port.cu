// Group port: bytes per cycle between L2 and one SM, for bulk copies and ordinary accesses, by the
// number of SMs that are busy and the footprint that they read.
#include "host.h"

namespace {

enum Mode
{
    BulkLoad16,
    BulkLoad4,
    GlobalLoad,
    BulkStore16,
    BulkStore4,
    GlobalStore
};

const char* const kModes[] = {"bulk_load_16KiB",  "bulk_load_4KiB",  "ld.global.v4",
                              "bulk_store_16KiB", "bulk_store_4KiB", "st.global.v4"};

constexpr uint32_t kSlots = 192 * 1024;
constexpr uint32_t kSmem = kSlots + 2048;
constexpr int kThreads = 1024;

__device__ void finishRecord(Record& r, Record* records)
{
    r.c1 = now();
    r.t1 = nowNs();
    r.smid = smId();
    records[blockIdx.x] = r;
}

// Each block goes round the footprint from a place of its own, by one lane or by all threads.
__global__ void __launch_bounds__(32, 1)
    bulkLoads(const char* source, uint64_t footprint, uint64_t begin, uint32_t chunk, int chunks,
              Record* records)
{
    extern __shared__ char raw[];
    const uint32_t base = smemAddress(alignedSmem(raw));
    const uint32_t bars = base + kSlots;
    const int count = min(int(kSlots / chunk), 48);
    if (threadIdx.x != 0)
        return;
    for (int i = 0; i < count; ++i)
        barrierInit(bars + 8 * i, 1);
    fenceBarrierInit();
    fenceProxyAsync();
    uint64_t offset = begin * blockIdx.x % footprint / chunk * chunk;
    Record r = {};
    r.t0 = nowNs();
    r.c0 = now();
    int slot = 0, phase = 0;
    for (int i = 0; i < chunks + count; ++i) {
        if (i >= count && !barrierWait(bars + 8 * slot, phase ^ 1))
            break;
        if (i < chunks) {
            barrierExpect(bars + 8 * slot, chunk);
            bulkLoad(base + slot * chunk, source + offset, chunk, bars + 8 * slot);
            offset += chunk;
            if (offset >= footprint)
                offset = 0;
        }
        if (++slot == count) {
            slot = 0;
            phase ^= 1;
        }
    }
    r.bytes = int64_t(chunks) * chunk;
    finishRecord(r, records);
}

__global__ void __launch_bounds__(32, 1)
    bulkStores(char* target, uint64_t footprint, uint64_t begin, uint32_t chunk, int chunks,
               Record* records)
{
    extern __shared__ char raw[];
    const uint32_t base = smemAddress(alignedSmem(raw));
    if (threadIdx.x != 0)
        return;
    fenceProxyAsync();
    uint64_t offset = begin * blockIdx.x % footprint / chunk * chunk;
    Record r = {};
    r.t0 = nowNs();
    r.c0 = now();
    for (int i = 0; i < chunks; ++i) {
        bulkStore(target + offset, base + (i & 7) * chunk, chunk);
        bulkCommit();
        bulkWaitRead<6>();
        offset += chunk;
        if (offset >= footprint)
            offset = 0;
    }
    bulkWait<0>();
    r.bytes = int64_t(chunks) * chunk;
    finishRecord(r, records);
}

template<bool Store>
__global__ void __launch_bounds__(kThreads, 1)
    accesses(char* memory, uint64_t footprint, uint64_t begin, int steps, Record* records,
             uint32_t* sink)
{
    constexpr int kDeep = 4;
    constexpr uint64_t kStep = uint64_t(kDeep) * kThreads * 16;
    uint64_t offset = begin * blockIdx.x % footprint / kStep * kStep;
    uint32_t sum = 0;
    __syncthreads();
    Record r = {};
    r.t0 = nowNs();
    r.c0 = now();
    for (int i = 0; i < steps; ++i) {
        uint4* p = reinterpret_cast<uint4*>(memory + offset) + threadIdx.x;
        if (Store) {
#pragma unroll
            for (int k = 0; k < kDeep; ++k)
                p[k * kThreads] = make_uint4(i, k, threadIdx.x, 0);
        } else {
            uint4 v[kDeep];
#pragma unroll
            for (int k = 0; k < kDeep; ++k)
                v[k] = loadNoL1(p + k * kThreads);
#pragma unroll
            for (int k = 0; k < kDeep; ++k)
                sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
        }
        offset += kStep;
        if (offset >= footprint)
            offset = 0;
    }
    if (Store)
        __threadfence();
    __syncthreads();
    r.bytes = int64_t(steps) * kStep;
    if (threadIdx.x == 0)
        finishRecord(r, records);
    sink[blockIdx.x * kThreads + threadIdx.x] = sum;
}

class Port
{
public:
    Port()
        : m_memory(64u << 20)
        , m_records(256)
        , m_sink(256 * kThreads)
    {
        allowSmem(bulkLoads, kSmem);
        allowSmem(bulkStores, kSmem);
    }

    void run(Mode mode, int sms, int mebibytes)
    {
        const std::string parameters =
            text("mode=%s SMs=%d footprint_MiB=%d", kModes[mode], sms, mebibytes);
        guarded("port " + parameters, [&] {
            // Enough for all SMs together to go round the footprint, and not too little for one.
            const uint64_t footprint = uint64_t(mebibytes) << 20;
            const uint64_t each = std::min<uint64_t>(
                footprint, std::max<uint64_t>(2u << 20, 4 * footprint / sms) >> 16 << 16);
            // A first pass by all SMs brings everything into L2, dirty for stores as it will be.
            launch(mode, multiprocessors(), footprint, footprint);
            launch(mode, sms, footprint, each);
            finish();
            Values rate, slowest, all, mhz;
            for (int repeat = 0; repeat < 5; ++repeat) {
                launch(mode, sms, footprint, each);
                finish();
                const std::vector<Record> r = m_records.read(sms);
                Values rates;
                unsigned long long first = r[0].t0, last = r[0].t1;
                double bytes = 0;
                for (const Record& x : r) {
                    rates.push_back(double(x.bytes) / cyclesOf(x));
                    first = std::min(first, x.t0);
                    last = std::max(last, x.t1);
                    bytes += double(x.bytes);
                }
                rate.push_back(median(rates));
                slowest.push_back(quantile(rates, 0));
                all.push_back(bytes / double(last - first + 1));
                mhz.push_back(clockOf(r));
            }
            emit("port", "per_sm", parameters, rate, "B/cycle/SM");
            emit("port", "slowest_sm", parameters, slowest, "B/cycle/SM");
            emit("port", "all_sms", parameters, all, "GB/s");
            emit("port", "clock", parameters, mhz, "MHz");
        });
    }

private:
    void launch(Mode mode, int sms, uint64_t footprint, uint64_t each)
    {
        // Blocks start spread evenly over the footprint.
        const uint64_t begin = footprint / sms;
        const uint32_t chunk = mode == BulkLoad4 || mode == BulkStore4 ? 4096 : 16384;
        switch (mode) {
        case BulkLoad16:
        case BulkLoad4:
            bulkLoads<<<sms, 32, kSmem>>>(m_memory.get(), footprint, begin, chunk,
                                          int(each / chunk), m_records.get());
            break;
        case BulkStore16:
        case BulkStore4:
            bulkStores<<<sms, 32, kSmem>>>(m_memory.get(), footprint, begin, chunk,
                                           int(each / chunk), m_records.get());
            break;
        case GlobalLoad:
            accesses<false><<<sms, kThreads>>>(m_memory.get(), footprint, begin,
                                               int(each / (64 * kThreads)), m_records.get(),
                                               m_sink.get());
            break;
        case GlobalStore:
            accesses<true><<<sms, kThreads>>>(m_memory.get(), footprint, begin,
                                              int(each / (64 * kThreads)), m_records.get(),
                                              m_sink.get());
            break;
        }
    }

    Buffer<char> m_memory;
    Buffer<Record> m_records;
    Buffer<uint32_t> m_sink;
};

} // namespace

void groupPort()
{
    Port p;
    for (int mebibytes : {8, 24, 40})
        for (Mode m : {BulkLoad16, GlobalLoad, BulkStore16, GlobalStore, BulkLoad4, BulkStore4})
            for (int sms : {1, 8, 33, 66, 132})
                p.run(m, std::min(sms, multiprocessors()), mebibytes);
}
