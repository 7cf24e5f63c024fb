// Compares products of narrow dtypes with those of bf16, and measures what the machine adds to
// small products. It measures CPU time on one thread, which other load on the computer disturbs
// least. All dtypes take turns.
#include "app/run_job/chips.h"
#include "core/ir/builder.h"
#include "core/machine/arith/dot.h"
#include "core/machine/arith/threads.h"
#include "core/machine/run.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pallascope;

constexpr Extent kSize = 1024;

// The smallest CPU time of all rounds, in seconds, with what is timed.
struct Product
{
    std::string name;
    ir::Program program;
    chip::Chip chip; // one that multiplies the dtype
    std::vector<Array> inputs;
    double seconds = std::numeric_limits<double>::infinity();

    Product(std::string named, ir::Program made, const char* chipName)
        : name(std::move(named))
        , program(std::move(made))
        , chip(*app::loadChip(chipName))
    {
        for (const ir::Argument& argument : program.arguments) {
            if (argument.kind == ir::ArgumentKind::Input) {
                const ir::Type& type = program.type(argument.ref);
                inputs.push_back(normalArray(type.dtype, type.shape, inputs.size()));
            }
        }
    }
};

double cpuSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void takeTurns(std::vector<Product>& subjects, int rounds)
{
    for (int round = 0; round <= rounds; ++round) {
        for (Product& subject : subjects) {
            const double begin = cpuSeconds();
            const auto run = machine::run(subject.program, subject.inputs, subject.chip, {});
            const double took = cpuSeconds() - begin;
            if (!run) {
                std::fprintf(stderr, "%s: %s\n", subject.name.c_str(), run.error().message.c_str());
                std::exit(2);
            }
            subject.seconds = round == 0 ? subject.seconds : std::min(subject.seconds, took);
        }
    }
}

DType sumOf(DType dtype)
{
    return isFloat(dtype) ? DType::F32 : DType::Int32;
}

// x[1024, 1024] times y of the same shape, in blocks.
ir::Program matmul(DType dtype, Extent block)
{
    const Shape shape{kSize, kSize};
    const pl::Dims tile{block, block};
    const auto steps = kSize / block;
    return *pl::kernel(
        "matmul",
        {pl::in("x", dtype, shape), pl::in("y", dtype, shape), pl::out("out", sumOf(dtype), shape)},
        [&](pl::Ref x, pl::Ref y, pl::Ref out) {
            const auto ik = [](auto i, auto /*j*/, auto k) { return pl::at(i, k); };
            const auto kj = [](auto /*i*/, auto j, auto k) { return pl::at(k, j); };
            const auto ij = [](auto i, auto j, auto /*k*/) { return pl::at(i, j); };
            const auto body = [&](pl::Ref a, pl::Ref b, pl::Ref sum) {
                pl::when(pl::programId(2) == 0, [&] { sum[pl::all] = pl::zerosLike(sum); });
                sum[pl::all] += pl::dot(a[pl::all], b[pl::all], sumOf(dtype));
            };
            pl::emitPipeline({.grid = {steps, steps, steps},
                              .in = {pl::block(tile, ik), pl::block(tile, kj)},
                              .out = {pl::block(tile, ij)}},
                             body)(x, y, out);
        });
}

// Many steps of kChain small products each. Every product is added to the sum of those before it.
constexpr Extent kSteps = 64, kRows = 8, kSide = 128, kChain = 32;

ir::Program smallProducts(DType dtype)
{
    const Shape rows{kSteps * kRows, kSide};
    return *pl::kernel(
        "small",
        {pl::in("x", dtype, rows), pl::in("y", dtype, {kSide, kSide}),
         pl::out("out", sumOf(dtype), rows)},
        [&](pl::Ref x, pl::Ref y, pl::Ref out) {
            const auto row = pl::block({kRows, kSide}, [](auto i) { return pl::at(i, 0); });
            const auto whole = pl::block({kSide, kSide}, [](auto /*i*/) { return pl::at(0, 0); });
            const auto body = [&](pl::Ref a, pl::Ref b, pl::Ref sum) {
                const pl::Value left = a[pl::all].load(), right = b[pl::all].load();
                pl::Value all = pl::dot(left, right, sumOf(dtype));
                for (Extent i = 1; i < kChain; ++i) {
                    all = all + pl::dot(left, right, sumOf(dtype));
                }
                sum[pl::all] = all;
            };
            pl::emitPipeline({.grid = {kSteps}, .in = {row, whole}, .out = {row}}, body)(x, y, out);
        });
}

// The time of the same products in f32, without the machine.
double bareSeconds(int rounds)
{
    const Array x = normalArray(DType::F32, {kRows, kSide}, 0);
    const Array y = normalArray(DType::F32, {kSide, kSide}, 1);
    Array out = makeArray(DType::F32, {kRows, kSide});
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round <= rounds; ++round) {
        const double begin = cpuSeconds();
        for (Extent i = 0; i < kSteps * kChain; ++i) {
            arith::dot(kRows, kSide, kSide, {x.data.get(), DType::F32, kSide, 1},
                       {y.data.get(), DType::F32, kSide, 1}, out.as<float>(), kSide, nullptr);
        }
        least = std::min(least, cpuSeconds() - begin);
    }
    return least;
}

void print(const char* what, const std::vector<Product>& subjects)
{
    std::printf("%s: least CPU seconds, and times bf16's\n", what);
    for (const Product& subject : subjects) {
        std::printf("  %-16s %.4f %6.2f\n", subject.name.c_str(), subject.seconds,
                    subject.seconds / subjects.front().seconds);
    }
}

// Makes one for each dtype, bf16 first.
template<class Build>
std::vector<Product> ofEachDType(Build build)
{
    std::vector<Product> subjects;
    for (const DType dtype : {DType::BF16, DType::F32, DType::Int8, DType::UInt8, DType::Int4,
                              DType::UInt4, DType::F8E5M2, DType::F8E4M3B11FNUZ, DType::F8E4M3FN}) {
        subjects.emplace_back(std::string(dtypeName(dtype)), build(dtype),
                              dtype == DType::F8E4M3FN ? "v7x" : "v5e");
    }
    return subjects;
}

} // namespace

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
    arith::setThreadCount(1);
    for (const Extent block : {kSize, Extent{128}}) {
        std::vector<Product> subjects =
            ofEachDType([&](DType dtype) { return matmul(dtype, block); });
        takeTurns(subjects, rounds);
        print(("1024^3 in blocks of " + std::to_string(block)).c_str(), subjects);
    }
    std::vector<Product> subjects = ofEachDType(smallProducts);
    takeTurns(subjects, rounds);
    print("2048 of (8,128) x (128,128)", subjects);
    std::printf("  %-16s %.4f %6.2f\n", "f32, bare", bareSeconds(rounds),
                bareSeconds(rounds) / subjects.front().seconds);
    return 0;
}
