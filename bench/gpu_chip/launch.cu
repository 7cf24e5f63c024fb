// Group launch: what a kernel and a block cost that do (nearly) nothing, and how long an SM is idle
// between one block and the next in its place.
#include "host.h"

#include <map>

namespace {

constexpr int kMostBlocks = 13200;
constexpr uint32_t kBig = 200 * 1024; // of dynamic shared memory: one block per SM

// A branch that is never taken but holds 150 values at once, so that the block's threads are given
// that many registers, as those of a block with a large accumulator are.
__device__ void holdManyRegisters(volatile float* p)
{
    float v[150];
#pragma unroll
    for (int i = 0; i < 150; ++i)
        v[i] = p[i * 512 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 150; ++i)
        p[(149 - i) * 512 + threadIdx.x] = v[i] * v[(i * 7) % 150];
}

template<bool ManyRegisters>
__global__ void __launch_bounds__(384, 1) empty(int never, float* p)
{
    if (never != 0) {
        if (ManyRegisters)
            holdManyRegisters(p);
        else
            p[threadIdx.x] = 1;
    }
}

// What a real block does first and last: barriers, one copy in, one copy out. Its record says when.
template<bool ManyRegisters>
__global__ void __launch_bounds__(384, 1)
    starting(int never, float* p, const char* source, char* target, bool copies, Record* records)
{
    const long long c0 = now();
    const unsigned long long t0 = nowNs();
    extern __shared__ char raw[];
    __shared__ uint64_t barriers[8];
    if (never != 0 && ManyRegisters)
        holdManyRegisters(p);
    Record r = {};
    r.c0 = c0;
    r.t0 = t0;
    if (copies) {
        const uint32_t data = smemAddress(alignedSmem(raw));
        const uint32_t bars = smemAddress(barriers);
        if (threadIdx.x == 0) {
            for (int i = 0; i < 8; ++i)
                barrierInit(bars + 8 * i, 1);
            fenceBarrierInit();
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            r.bytes = now() - c0;
            const uint32_t at = (blockIdx.x & 511) * 16384;
            barrierExpect(bars, 16384);
            bulkLoad(data, source + at, 16384, bars);
            barrierWait(bars, 0);
            r.extra = static_cast<unsigned>(now() - c0);
            bulkStore(target + at, data, 16384);
            bulkCommit();
            bulkWait<0>();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        r.smid = smId();
        r.t1 = nowNs();
        r.c1 = now();
        records[blockIdx.x] = r;
    }
}

struct Shape
{
    int blocks, threads;
    uint32_t smem;
    bool many; // registers
    int cluster;

    std::string text() const
    {
        return ::text("blocks=%d threads=%d smem_KiB=%u registers=%s cluster=%d", blocks, threads,
                      smem / 1024, many ? "many" : "few", cluster);
    }
};

template<typename... P, typename... A>
void launch(void (*kernel)(P...), const Shape& s, cudaStream_t stream, A... a)
{
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(s.blocks);
    c.blockDim = dim3(s.threads);
    c.dynamicSmemBytes = s.smem;
    c.stream = stream;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = s.cluster;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    c.attrs = &attribute;
    c.numAttrs = s.cluster > 1 ? 1 : 0;
    OK(cudaLaunchKernelEx(&c, kernel, a...));
}

class Launch
{
public:
    Launch()
        : m_memory(150 * 512)
        , m_source(8 << 20)
        , m_target(8 << 20)
        , m_records(kMostBlocks)
    {
        OK(cudaStreamCreate(&m_stream));
        allowSmem(empty<false>, kBig);
        allowSmem(empty<true>, kBig);
        allowSmem(starting<false>, kBig);
        allowSmem(starting<true>, kBig);
    }

    ~Launch() { cudaStreamDestroy(m_stream); }

    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

    // The time per kernel, back to back in a stream and as the nodes of a graph.
    void perKernel(const Shape& s, bool real)
    {
        const std::string parameters = s.text() + (real ? " body=barriers+copies" : " body=empty");
        auto one = [&](cudaStream_t stream) {
            float* p = m_memory.get();
            if (!real) {
                launch(s.many ? empty<true> : empty<false>, s, stream, 0, p);
            } else {
                const char* source = m_source.get();
                launch(s.many ? starting<true> : starting<false>, s, stream, 0, p, source,
                       m_target.get(), true, m_records.get());
            }
        };
        const int n = s.blocks > 2000 ? 10 : 50;
        guarded("launch " + parameters, [&] {
            Values inStream;
            Timer t;
            for (int repeat = 0; repeat < 4; ++repeat) {
                one(m_stream);
                t.start(m_stream);
                for (int i = 0; i < n; ++i)
                    one(m_stream);
                inStream.push_back(t.stop(m_stream) / n);
                finish();
            }
            inStream.erase(inStream.begin());
            emit("launch", "per_kernel_stream", parameters, inStream, "us");
        });
        guarded("launch graph " + parameters, [&] {
            cudaGraph_t graph;
            cudaGraphExec_t exec;
            OK(cudaStreamBeginCapture(m_stream, cudaStreamCaptureModeThreadLocal));
            for (int i = 0; i < n; ++i)
                one(m_stream);
            OK(cudaStreamEndCapture(m_stream, &graph));
            OK(cudaGraphInstantiate(&exec, graph, 0));
            Values inGraph;
            Timer t;
            for (int repeat = 0; repeat < 4; ++repeat) {
                OK(cudaGraphLaunch(exec,
                                   m_stream)); // so that the next one is queued in time
                t.start(m_stream);
                OK(cudaGraphLaunch(exec, m_stream));
                inGraph.push_back(t.stop(m_stream) / n);
                finish();
            }
            inGraph.erase(inGraph.begin());
            emit("launch", "per_kernel_graph", parameters, inGraph, "us");
            OK(cudaGraphExecDestroy(exec));
            OK(cudaGraphDestroy(graph));
        });
    }

    // The gap between one block's end and the next one's first instruction on the same SM: with one
    // block per SM at a time, their order by start is their order.
    void gaps(const Shape& s, bool copies)
    {
        const std::string parameters =
            s.text() + (copies ? " body=barriers+copies" : " body=record");
        guarded("gaps " + parameters, [&] {
            Values gap, gapNs, length, sync, load, whole;
            for (int repeat = 0; repeat < 4; ++repeat) {
                const char* source = m_source.get();
                launch(s.many ? starting<true> : starting<false>, s, m_stream, 0, m_memory.get(),
                       source, m_target.get(), copies, m_records.get());
                finish();
                if (repeat == 0)
                    continue;
                std::map<unsigned, std::vector<Record>> bySm;
                unsigned long long first = ~0ull, last = 0;
                for (const Record& r : m_records.read(s.blocks)) {
                    bySm[r.smid].push_back(r);
                    first = std::min(first, r.t0);
                    last = std::max(last, r.t1);
                    length.push_back(cyclesOf(r));
                    sync.push_back(double(r.bytes));
                    load.push_back(double(r.extra));
                }
                whole.push_back(1e-3 * double(last - first));
                for (auto& [sm, records] : bySm) {
                    std::sort(records.begin(), records.end(),
                              [](const Record& a, const Record& b) { return a.c0 < b.c0; });
                    for (size_t i = 1; i < records.size(); ++i) {
                        gap.push_back(double(records[i].c0 - records[i - 1].c1));
                        gapNs.push_back(double((long long)(records[i].t0 - records[i - 1].t1)));
                    }
                }
            }
            emit("launch", "block_gap", parameters, gap, "cycles");
            emit("launch", "block_gap_ns", parameters, gapNs, "ns");
            emit("launch", "block_length", parameters, length, "cycles");
            if (copies) {
                emit("launch", "block_until_sync", parameters, sync, "cycles");
                emit("launch", "block_until_loaded", parameters, load, "cycles");
            }
            emit("launch", "first_block_to_last", parameters, whole, "us");
        });
    }

    // From the last block of a kernel to the first of the next in a stream, and how far apart the
    // first blocks of one kernel start.
    void boundary(Shape s, bool inGraph)
    {
        s.blocks = multiprocessors();
        const std::string parameters = s.text() + (inGraph ? " in=graph" : " in=stream");
        guarded("boundary " + parameters, [&] {
            constexpr int kKernels = 40;
            auto all = [&] {
                for (int i = 0; i < kKernels; ++i) {
                    const char* source = m_source.get();
                    launch(s.many ? starting<true> : starting<false>, s, m_stream, 0,
                           m_memory.get(), source, m_target.get(), true,
                           m_records.get() + i * s.blocks);
                }
            };
            if (inGraph) {
                cudaGraph_t graph;
                cudaGraphExec_t exec;
                OK(cudaStreamBeginCapture(m_stream, cudaStreamCaptureModeThreadLocal));
                all();
                OK(cudaStreamEndCapture(m_stream, &graph));
                OK(cudaGraphInstantiate(&exec, graph, 0));
                OK(cudaGraphLaunch(exec, m_stream));
                OK(cudaGraphLaunch(exec, m_stream));
                finish();
                OK(cudaGraphExecDestroy(exec));
                OK(cudaGraphDestroy(graph));
            } else {
                all();
                all();
                finish();
            }
            const std::vector<Record> r = m_records.read(size_t(kKernels) * s.blocks);
            Values between, spread;
            unsigned long long before = 0;
            for (int i = 0; i < kKernels; ++i) {
                unsigned long long first = ~0ull, latest = 0, end = 0;
                for (int b = 0; b < s.blocks; ++b) {
                    const Record& x = r[size_t(i) * s.blocks + b];
                    first = std::min(first, x.t0);
                    latest = std::max(latest, x.t0);
                    end = std::max(end, x.t1);
                }
                if (i > 0)
                    between.push_back(double((long long)(first - before)));
                spread.push_back(double(latest - first));
                before = end;
            }
            emit("launch", "kernel_end_to_next_start", parameters, between, "ns");
            emit("launch", "first_start_to_last_start", parameters, spread, "ns");
        });
    }

private:
    cudaStream_t m_stream = nullptr;
    Buffer<float> m_memory;
    Buffer<char> m_source, m_target;
    Buffer<Record> m_records;
};

} // namespace

void groupLaunch()
{
    Launch l;
    for (bool copies : {true, false})
        for (int threads : {384, 128})
            for (bool many : {true, false})
                for (int cluster : {1, 2})
                    l.gaps({1320, threads, kBig, many, cluster}, copies);
    for (bool inGraph : {false, true})
        for (int cluster : {1, 2})
            l.boundary({132, 384, kBig, true, cluster}, inGraph);
    for (bool real : {false, true})
        for (int cluster : {1, 2})
            for (int threads : {384, 128})
                for (bool many : {true, false})
                    for (uint32_t smem : {kBig, real ? 18432u : 0u})
                        for (int blocks : {1, 132, 264, 1320, 13200})
                            l.perKernel({std::max(blocks, cluster), threads, smem, many, cluster},
                                        real);
}
