// The host's side of a measurement: checked calls, medians, CSV lines, and going on after a fault.
#pragma once

#include "ptx.h"

#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using Values = std::vector<double>;

inline void check(cudaError_t e, const char* call, const char* file, int line)
{
    if (e == cudaSuccess)
        return;
    throw std::runtime_error(std::string(cudaGetErrorString(e)) + " from " + call + " at " + file
                             + ":" + std::to_string(line));
}

#define OK(call) check((call), #call, __FILE__, __LINE__)

inline double quantile(Values v, double q)
{
    if (v.empty())
        throw std::runtime_error("no values");
    std::sort(v.begin(), v.end());
    const double at = q * static_cast<double>(v.size() - 1);
    const size_t i = static_cast<size_t>(at);
    const double next = v[std::min(i + 1, v.size() - 1)];
    return v[i] + (at - static_cast<double>(i)) * (next - v[i]);
}

inline double median(const Values& v)
{
    return quantile(v, 0.5);
}

// A line of the result: the median, and the interquartile range as its spread.
inline void emit(const char* group, const std::string& name, const std::string& parameters,
                 const Values& v, const char* unit)
{
    printf("%s,%s,%s,%.6g,%s,%.3g,%zu\n", group, name.c_str(), parameters.c_str(), median(v), unit,
           quantile(v, 0.75) - quantile(v, 0.25), v.size());
    fflush(stdout);
}

template<typename... A>
std::string text(const char* format, A... a)
{
    char b[256];
    snprintf(b, sizeof b, format, a...);
    return b;
}

inline std::string text(const char* s)
{
    return s;
}

// Runs one measurement. A fault is printed and the rest goes on; when the context is lost, the
// program starts itself again from the measurement after it (see gpu_chip.cu).
void guarded(const std::string& what, const std::function<void()>& f);

// Whether this process has used up its seconds: guarded() then leaves the rest out.
bool late();

template<typename T>
class Buffer
{
public:
    explicit Buffer(size_t n)
        : m_n(n)
    {
        OK(cudaMalloc(&m_p, n * sizeof(T)));
        OK(cudaMemset(m_p, 0, n * sizeof(T)));
    }

    ~Buffer() { cudaFree(m_p); }

    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    T* get() const { return m_p; }

    std::vector<T> read(size_t n) const
    {
        std::vector<T> v(std::min(n, m_n));
        OK(cudaMemcpy(v.data(), m_p, v.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }

private:
    T* m_p = nullptr;
    size_t m_n;
};

// Waits for the kernels launched so far; throws for a launch that failed or a wait that gave up.
static inline void finish()
{
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    int stuck = 0;
    OK(cudaMemcpyFromSymbol(&stuck, g_stuck, sizeof stuck));
    if (stuck != 0) {
        const int zero = 0;
        OK(cudaMemcpyToSymbol(g_stuck, &zero, sizeof zero));
        throw std::runtime_error("a wait inside the kernel gave up");
    }
}

class Timer
{
public:
    Timer()
    {
        OK(cudaEventCreate(&m_a));
        OK(cudaEventCreate(&m_b));
    }

    ~Timer()
    {
        cudaEventDestroy(m_a);
        cudaEventDestroy(m_b);
    }

    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    void start(cudaStream_t s = nullptr) { OK(cudaEventRecord(m_a, s)); }

    // Microseconds since start, on the device's clock.
    double stop(cudaStream_t s = nullptr)
    {
        OK(cudaEventRecord(m_b, s));
        OK(cudaEventSynchronize(m_b));
        float ms = 0;
        OK(cudaEventElapsedTime(&ms, m_a, m_b));
        return 1e3 * static_cast<double>(ms);
    }

private:
    cudaEvent_t m_a = nullptr, m_b = nullptr;
};

template<typename K>
void allowSmem(K* kernel, size_t bytes)
{
    OK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                            cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}

template<typename F>
double medianOf(const std::vector<Record>& records, F f)
{
    Values v;
    for (const Record& r : records)
        v.push_back(f(r));
    return median(v);
}

inline double cyclesOf(const Record& r)
{
    return static_cast<double>(r.c1 - r.c0);
}

// The SM's clock during the records, in MHz, of those long enough for the timer's resolution.
inline double clockOf(const std::vector<Record>& records)
{
    return medianOf(records, [](const Record& r) {
        return r.t1 > r.t0 ? 1e3 * cyclesOf(r) / static_cast<double>(r.t1 - r.t0) : 0.0;
    });
}

int multiprocessors();

void groupCheck();
void groupSmem();
void groupPort();
void groupHbm();
void groupLaunch();
void groupOps();
void groupOpsMemory();
void groupMix();
void groupLatency();
void groupMemoryLatency();
void groupWgmmaLatency();
void groupRegisters();
void groupClock();
void groupSpill();
