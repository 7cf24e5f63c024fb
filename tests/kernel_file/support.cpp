// Makes the programs that the tests of kernel files share.
#include "tests/kernel_file/support.h"

#include "core/ir/builder.h"
#include "kernels/kernel.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <unistd.h>

namespace pallascope::kernel_file_test {

namespace {

ir::Program must(Result<ir::Program> program)
{
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return std::move(*program);
}

using Given = std::map<std::string, std::string>;

ir::Program built(const std::string& name, const Given& given)
{
    const kernels::Kernel* const kernel = kernels::find(name);
    const Result<kernels::Arguments> arguments = kernels::arguments(*kernel, given);
    if (!arguments) {
        throw std::runtime_error(arguments.error().message);
    }
    ir::Program program = must(kernel->build(*arguments));
    kernels::attachSources(program);
    return program;
}

} // namespace

std::vector<ir::Program> builtInPrograms()
{
    std::vector<ir::Program> programs;
    for (const kernels::Kernel& kernel : kernels::all()) {
        programs.push_back(built(kernel.name, {}));
    }
    programs.push_back(built("matmul", {{"m", "300"}, {"bm", "128"}, {"order", "kji"}}));
    programs.push_back(built("add_vectors", {{"shape", "3,2,128,4"}, {"dtype", "bf16"}}));
    programs.push_back(built("add_vectors", {{"shape", "64"}, {"block", "8"}, {"dtype", "int32"}}));
    return programs;
}

namespace {

// Gathers the rows that a list in SMEM names.
ir::Program gatherProgram()
{
    return must(pl::kernel(
        "gather",
        {pl::scalarPrefetch("list", DType::Int32, {8}), pl::in("x", DType::F32, {16, 128}),
         pl::out("out", DType::F32, {8, 128})},
        [](pl::Ref list, pl::Ref x, pl::Ref out) {
            const auto rows = [&](auto i) { return pl::at(list[pl::ds(i * 4, 4)] % 16, 0); };
            pl::emitPipeline({.grid = {2},
                              .in = {pl::block({pl::indirect(4), 128}, rows)},
                              .out = {pl::block({4, 128}, [](auto i) { return pl::at(i, 0); })}},
                             [](pl::Ref from, pl::Ref to) { to[pl::all] = from[pl::all]; })(x, out);
        }));
}

} // namespace

std::vector<ir::Program> smallPrograms()
{
    const Given small{{"m", "16"},  {"n", "256"},  {"k", "256"},
                      {"bm", "16"}, {"bn", "128"}, {"bk", "128"}};
    return {built("matmul", small), built("matmul_scratch", small),
            built("add_vectors", {{"shape", "16,256"}, {"block", "8"}}), gatherProgram()};
}

ir::Program wideProgram(bool withWhile)
{
    const auto body = [withWhile](pl::Ref x, pl::Ref out, pl::Ref sums) {
        const DType f32 = DType::F32;
        sums[pl::all] = pl::zerosLike(sums);
        pl::when(pl::programId(0) == 0, [&] { out[pl::all] = pl::zerosLike(out); });
        pl::foriLoop(3, {}, [&](pl::Value i, std::vector<pl::Value>) {
            sums[{pl::ds(i, 8), pl::all}] = x[{pl::ds(i, 8), pl::all}] * 0.1;
            return std::vector<pl::Value>();
        });
        std::vector<pl::Value> last{pl::numPrograms(0)};
        if (withWhile) {
            last = pl::whileLoop(
                last, [](std::vector<pl::Value> c) { return c[0] < 5; },
                [](std::vector<pl::Value> c) { return std::vector<pl::Value>{c[0] + 1}; });
        }
        const std::vector<pl::Value> chosen = pl::cond(
            last[0] == 5,
            [&] {
                return std::vector<pl::Value>{pl::full({16, 128}, -0.0, f32)};
            },
            [&] {
                return std::vector<pl::Value>{pl::full({16, 128}, HUGE_VAL, f32)};
            });
        pl::Value value =
            x[pl::all] + pl::reshape(pl::transpose(pl::iota(f32, {128, 16}, 1), {1, 0}), {16, 128});
        value = pl::maximum(value, chosen[0]);
        value = pl::convert(pl::convert(value, DType::BF16), f32);
        const pl::Value row = pl::reduce(ir::OpCode::ReduceMax, value, {0});
        value = value + pl::broadcastTo(row, {16, 128}, {1});
        const pl::Value square =
            pl::dotGeneral(value, value, {.lhsContracting = {1}, .rhsContracting = {1}});
        out[pl::all] = value + pl::dot(square, value, f32) + 1e-45 + 1e38 * sums[pl::all];
    };
    const auto kernel = [&](pl::Ref x, pl::Ref out) {
        const auto whole = [](auto i) { return pl::at(i, 0); };
        pl::emitPipeline({.grid = {2},
                          .in = {pl::block({16, 128}, whole, 3)},
                          .out = {pl::block({16, 128}, whole)},
                          .scratch = {{"sums", DType::F32, {16, 128}}}},
                         body)(x, out);
    };
    return must(pl::kernel(
        "wide", {pl::in("x", DType::F32, {32, 128}), pl::out("out", DType::F32, {32, 128})},
        kernel));
}

kernel_file::KernelFile withDefaults(ir::Program program)
{
    std::vector<kernel_file::Input> inputs = kernel_file::defaultInputs(program);
    return {std::move(program), std::move(inputs)};
}

std::string readBytes(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error("cannot read " + path.string());
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

void writeBytes(const std::filesystem::path& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TemporaryFolder::TemporaryFolder()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "kernel_file.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
        throw std::runtime_error("no temporary folder");
    }
    m_path = pattern;
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

std::size_t TemporaryFolder::fileCount() const
{
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(m_path), {}));
}

} // namespace pallascope::kernel_file_test
