// Makes the kernels to start from.
#include "tests/fuzz/kernel_seeds.h"

#include "core/ir/mesh.h"
#include "core/ir/tracer.h"
#include "core/kernel_file/kernel_file.h"
#include "tests/fuzz/use.h"
#include "tests/kernel_file/support.h"
#include "tests/machine/support.h"
#include "tests/machine/table_pipeline.h"
#include "tests/ops/cases.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace pallascope::fuzz {

namespace {

using kernel_file_test::withDefaults;

std::string fileOf(const kernel_file::KernelFile& kernel, const std::string& ending)
{
    const std::string path = scratchFile("seed" + ending);
    const Status saved = kernel_file::save(kernel, path);
    require(saved.has_value(), "a seed is not saved");
    return bytesOf(path);
}

std::int64_t sizeOf(const ops_test::Case& one)
{
    std::int64_t size = 0;
    for (const Array& array : one.in) {
        size += array.shape.elements();
    }
    return size;
}

// A program of one step that stores the first result; nullopt if the builder does not accept it as
// a kernel.
std::optional<ir::Program> kernelOf(const ops_test::Case& one)
{
    std::vector<Array> arrays;
    for (const Array& array : one.in) {
        if (array.shape.rank() > 0) {
            arrays.push_back(array);
        }
    }
    const auto isEmpty = [](const Array& array) { return array.shape.elements() == 0; };
    if (one.out.empty() || one.out[0].shape.rank() == 0
        || std::any_of(one.out.begin(), one.out.end(), isEmpty)) {
        return std::nullopt; // arrays in files have elements
    }
    const auto body = [&](const std::vector<pl::Ref>& refs) {
        const auto here = std::source_location::current();
        pl::detail::Tracer& tracer = pl::detail::Tracer::current();
        ir::Operation operation{.code = one.code, .params = one.params};
        std::size_t next = 0;
        for (const Array& array : one.in) {
            operation.operands.push_back(array.shape.rank() > 0
                                             ? refs[next++][pl::all].load().id()
                                             : tracer.literal(array.at(0), array.dtype, here));
        }
        refs.back()[pl::all] = tracer.append(operation, here)[0];
    };
    try {
        return machine_test::oneStepProgram(
            {.inputs = arrays, .dtype = one.out[0].dtype, .shape = one.out[0].shape, .grid = {1}},
            body);
    } catch (const std::runtime_error&) {
        return std::nullopt;
    }
}

// The smallest case of each operation.
std::vector<ir::Program> operationKernels()
{
    std::map<ir::OpCode, ir::Program> kernels;
    std::map<ir::OpCode, std::int64_t> sizes;
    for (const ops_test::Case& one : ops_test::cases()) {
        if (sizes.contains(one.code) && sizes[one.code] <= sizeOf(one)) {
            continue;
        }
        if (std::optional<ir::Program> program = kernelOf(one)) {
            kernels.insert_or_assign(one.code, std::move(*program));
            sizes[one.code] = sizeOf(one);
        }
    }
    std::vector<ir::Program> programs;
    for (auto& [code, program] : kernels) {
        programs.push_back(std::move(program));
    }
    return programs;
}

// Three devices in a ring, with a barrier and a copy to the right neighbour.
ir::Program ringProgram()
{
    return machine_test::mustTrace(pl::kernel(
        "ring",
        {pl::sharded(pl::in("x", DType::F32, {2, 4}), {{}, {"d"}}),
         pl::sharded(pl::out("out", DType::F32, {2, 4}), {{}, {"d"}})},
        [](pl::Ref x, pl::Ref out) {
            pl::onMesh({{"d", 3}});
            const auto body = [&](const std::vector<pl::Ref>& semaphores) {
                const pl::Value right = (pl::axisIndex("d") + 1) % 3;
                const pl::Ref barrier = pl::getBarrierSemaphore(1);
                pl::semaphoreSignalDevice(barrier, 1, right);
                pl::semaphoreWait(barrier, 1);
                pl::remoteDmaStart(x, out, semaphores[0], semaphores[1], right);
                pl::dmaWait(x, semaphores[0]);
                pl::dmaWait(out, semaphores[1]);
                return std::vector<pl::Value>{};
            };
            pl::runScoped({pl::dmaSemaphores("sent"), pl::dmaSemaphores("received")}, body);
        }));
}

// Subcores of two SparseCores gather listed rows, add them up in memory that they share, and share
// a pipeline.
ir::Program subcoreProgram()
{
    using Refs = std::vector<pl::Ref>;
    using Nothing = std::vector<pl::Value>;
    constexpr std::int32_t kSubcores = 2;
    ir::CoreMapParams mesh{"subcore", kSubcores, {{"core", 2}}};
    mesh.agents = "vector subcore";
    const Shape table{8, 16}, part{4, 16};
    return machine_test::mustTrace(pl::kernel(
        "subcores",
        {pl::in("x", DType::F32, table), pl::in("list", DType::Int32, {kSubcores, 4}),
         pl::out("out", DType::F32, table)},
        [&](pl::Ref x, pl::Ref list, pl::Ref out) {
            pl::runScoped(
                {{"sums", DType::F32, table, ir::MemorySpace::Spmem}}, [&](const Refs& shared) {
                    pl::coreMap(mesh, [&] {
                        pl::runScoped({{"near", DType::F32, part, ir::MemorySpace::TileSpmem},
                                       {"numbers", DType::Int32, {4}, ir::MemorySpace::TileSpmem},
                                       pl::dmaSemaphores("sem")},
                                      [&](const Refs& refs) {
                                          const pl::Value j = pl::axisIndex("subcore");
                                          ir::DmaParams params;
                                          pl::dmaStart(list.at({j, pl::all}), refs[1], refs[2]);
                                          pl::dmaWait(refs[1], refs[2]);
                                          params.rows = ir::CopyRows::Source;
                                          params.ignored = 3;
                                          pl::dmaStart(x, refs[0], refs[2], refs[1], params);
                                          pl::dmaWait(refs[0], refs[2]);
                                          refs[0][pl::all] = refs[0][pl::all] + 1.0F;
                                          params.rows = ir::CopyRows::Target;
                                          params.add = true;
                                          pl::dmaStart(refs[0], shared[0], refs[2], refs[1],
                                                       params);
                                          pl::dmaWait(refs[0], refs[2]);
                                          return Nothing{};
                                      });
                        const auto rows = pl::block({2, 16}, [](auto i) { return pl::at(i, 0); });
                        pl::emitPipeline(
                            {.grid = {4},
                             .in = {rows},
                             .out = {rows},
                             .coreAxis = "subcore",
                             .parallel = {0}},
                            [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all] + 1.0F; })(x, out);
                    });
                    return Nothing{};
                });
        }));
}

// Gives the k-th input the k-th kind of recipe.
void addRecipes(kernel_file::KernelFile& kernel)
{
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
        const ir::Type type = ir::wholeType(kernel.program, kernel.program.arguments[i]);
        const std::vector<std::int64_t> steps(type.shape.rank(), 1);
        const std::array<kernel_file::Recipe, 3> recipes{kernel_file::FillRecipe{1},
                                                         kernel_file::IotaRecipe{0, steps},
                                                         kernel_file::MaskRecipe{steps, 2, 9}};
        if (kernel_file::checkRecipe(recipes[i % 3], type.dtype, type.shape)) {
            kernel.inputs[i] = recipes[i % 3];
        }
    }
}

std::vector<ir::Program> smallPrograms()
{
    std::vector<ir::Program> programs = kernel_file_test::smallPrograms();
    programs.push_back(kernel_file_test::wideProgram());
    programs.push_back(kernel_file_test::wideProgram(false));
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        std::mt19937_64 random(seed);
        programs.push_back(machine_test::tableProgram(
            machine_test::randomPipeline(random, {.inOuts = true, .mostBuffers = 4})));
    }
    programs.push_back(ringProgram());
    programs.push_back(subcoreProgram());
    return programs;
}

} // namespace

std::vector<std::string> kernelTexts()
{
    std::vector<std::string> texts{bytesOf(PALLASCOPE_EXAMPLES "/add.kernel.json")};
    std::vector<ir::Program> programs = smallPrograms();
    for (ir::Program& program : operationKernels()) {
        programs.push_back(std::move(program));
    }
    for (ir::Program& program : programs) {
        kernel_file::KernelFile kernel = withDefaults(std::move(program));
        if (texts.size() % 4 == 0) {
            addRecipes(kernel);
        }
        texts.push_back(fileOf(kernel, ".kernel.json"));
    }
    return texts;
}

std::vector<std::string> kernelArchives()
{
    std::vector<std::string> archives;
    for (ir::Program& program : smallPrograms()) {
        kernel_file::KernelFile kernel = withDefaults(std::move(program));
        if (archives.size() % 2 == 0 && !kernel.inputs.empty()) {
            const ir::Type type = ir::wholeType(kernel.program, kernel.program.arguments[0]);
            kernel.inputs[0] = normalArray(type.dtype, type.shape, 1);
        }
        archives.push_back(fileOf(kernel, ".pallascope"));
    }
    return archives;
}

} // namespace pallascope::fuzz
