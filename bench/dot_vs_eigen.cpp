// Compares the machine's matrix product with Eigen's, on the same threads and with the same number
// of FLOPs: one Eigen product in f32 of 4096 x 4096 x 4096, and as many products of bf16 blocks
// with f32 results as that product consists of. The two sides take turns, so that other load on the
// computer affects both. The minimum over the rounds counts.
#include "core/base/dtype.h"
#include "core/machine/arith/dot.h"
#include "core/machine/arith/threads.h"
#include "eigen_dot.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace pallascope;

constexpr std::int64_t kSize = 4096;
constexpr double kFlops = 2.0 * kSize * kSize * kSize;

struct Entry
{
    std::string name;
    std::function<void()> run;
    std::vector<double> seconds{};

    [[nodiscard]] double minimum() const
    {
        return *std::min_element(seconds.begin(), seconds.end());
    }

    [[nodiscard]] double median() const
    {
        std::vector<double> sorted = seconds;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

struct Matrices
{
    std::vector<float> a, b, out;
    std::vector<std::uint16_t> aHalf, bHalf;
};

Matrices randomMatrices()
{
    constexpr std::size_t kCount = kSize * kSize;
    Matrices matrices;
    matrices.out.resize(kCount);
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    for (std::size_t i = 0; i < kCount; ++i) {
        matrices.a.push_back(uniform(random));
        matrices.b.push_back(uniform(random));
        matrices.aHalf.push_back(floatToBf16(matrices.a.back()));
        matrices.bHalf.push_back(floatToBf16(matrices.b.back()));
    }
    return matrices;
}

void* symbol(const std::string& file, const char* name)
{
    void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = module == nullptr ? nullptr : dlsym(module, name);
    if (found == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(2);
    }
    return found;
}

Entry eigenEntry(const std::string& level, Matrices& matrices)
{
    const std::string file = std::string(EIGEN_MODULE_FOLDER) + "/eigen_dot_" + level + ".so";
    const auto product = reinterpret_cast<EigenProduct>(symbol(file, "eigenProduct"));
    const std::string name = "Eigen f32 4096^3, x86-64-" + level;
    return {name, [product, &matrices] {
                const std::int64_t threads = arith::threadCount();
                const auto part = [&](std::int64_t i) {
                    product(matrices.a.data(), matrices.b.data(), matrices.out.data(), kSize,
                            kSize * i / threads, kSize * (i + 1) / threads);
                };
                std::vector<std::thread> others;
                for (std::int64_t i = 1; i < threads; ++i) {
                    others.emplace_back(part, i);
                }
                part(0);
                for (std::thread& other : others) {
                    other.join();
                }
            }};
}

// The blocks of the two matrices, each stored contiguously as the machine's memories hold them.
Entry blockEntry(std::int64_t block, Matrices& matrices)
{
    const std::int64_t blocks = kSize / block;
    const std::string name = std::to_string(blocks * blocks * blocks) + " x dot bf16 "
                             + std::to_string(block) + "^3 -> f32";
    return {name, [block, blocks, &matrices] {
                const std::int64_t elements = block * block;
                const auto view = [&](const std::vector<std::uint16_t>& from, std::int64_t index) {
                    return arith::DotOperand{from.data() + index * elements, DType::BF16, block, 1};
                };
                for (std::int64_t i = 0; i < blocks; ++i) {
                    for (std::int64_t j = 0; j < blocks; ++j) {
                        float* out = matrices.out.data() + (i * blocks + j) * elements;
                        for (std::int64_t k = 0; k < blocks; ++k) {
                            arith::dot(block, block, block, view(matrices.aHalf, i * blocks + k),
                                       view(matrices.bHalf, k * blocks + j), out, block, nullptr);
                        }
                    }
                }
            }};
}

} // namespace

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
    Matrices matrices = randomMatrices();
    std::vector<Entry> ours{blockEntry(512, matrices), blockEntry(128, matrices)};
    std::vector<Entry> eigen;
    for (const auto& [level, name] : {std::pair{arith::DotLevel::V2, "v2"},
                                      {arith::DotLevel::V3, "v3"},
                                      {arith::DotLevel::V4, "v4"}}) {
        if (arith::dotLevelSupported(level)) {
            eigen.push_back(eigenEntry(name, matrices));
        }
    }
    for (int round = 0; round < rounds; ++round) {
        for (std::vector<Entry>* side : {&eigen, &ours}) {
            for (Entry& entry : *side) {
                const auto begin = std::chrono::steady_clock::now();
                entry.run();
                const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
                entry.seconds.push_back(time.count());
            }
        }
    }

    const Entry& fastest =
        *std::min_element(eigen.begin(), eigen.end(),
                          [](const Entry& a, const Entry& b) { return a.minimum() < b.minimum(); });
    std::printf("%d threads, dot at x86-64-v%d, %d rounds; ratio to the fastest Eigen\n",
                arith::threadCount(), static_cast<int>(arith::dotLevel()) + 2, rounds);
    std::printf("%-36s %8s %8s %9s %7s %7s\n", "", "min s", "median s", "GFLOP/s", "ratio",
                "median");
    for (const std::vector<Entry>* side : {&eigen, &ours}) {
        for (const Entry& entry : *side) {
            std::printf("%-36s %8.3f %8.3f %9.1f %7.3f %7.3f\n", entry.name.c_str(),
                        entry.minimum(), entry.median(), kFlops / entry.minimum() * 1e-9,
                        entry.minimum() / fastest.minimum(), entry.median() / fastest.median());
        }
    }
    return 0;
}
