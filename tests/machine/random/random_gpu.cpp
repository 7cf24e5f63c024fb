#include "tests/machine/random/random_gpu.h"

#include "core/ir/tracer.h"
#include "tests/machine/random/random_gpu_writer.h"

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;

gpu::Launch launchOf(Chance& chance)
{
    gpu::Launch launch;
    launch.threads = static_cast<std::int32_t>(chance.from(1, 3));
    launch.threadAxis = "wg";
    if (chance.oneIn(60)) { // more than there are SMs
        launch.grid = {{"i", 150}};
    } else if (chance.oneIn(3)) {
        launch.grid = {{"i", static_cast<std::int32_t>(chance.from(1, 3))}, {"j", 2}};
    } else if (chance.oneIn(2)) {
        launch.grid = {{"i", static_cast<std::int32_t>(chance.from(1, 6))}};
    }
    if (launch.grid.size() < 2 && chance.oneIn(5)) {
        launch.cluster = {{"c", GpuWriter::kBlocks}};
    }
    return launch;
}

// Some copies are made for both blocks of a cluster, which are neighbours on the last axis.
void shareCopies(Chance& chance, ir::Region& region)
{
    for (ir::Operation& operation : region.operations) {
        if (auto* copy = std::get_if<ir::LoadCopyParams>(&operation.params);
            copy != nullptr && chance.oneIn(2)) {
            copy->blocks = 2;
        }
        for (ir::Region& inner : operation.regions) {
            shareCopies(chance, inner);
        }
    }
}

Array gpuInputOf(Chance& chance, const ir::Type& type)
{
    std::vector<double> elements;
    for (std::int64_t i = 0; i < type.shape.elements(); ++i) {
        elements.push_back(static_cast<double>(chance.from(0, GpuWriter::kNumbers - 1)));
    }
    return arrayOf(type.dtype, type.shape, elements);
}

machine::Settings gpuSettingsOf(Chance& chance)
{
    machine::Settings settings;
    settings.uninitializedMemory = chance.oneIn(4) ? Fill::Zero : settings.uninitializedMemory;
    if (chance.oneIn(3)) {
        settings.outOfBoundsReads = machine::OutOfBoundsReads::Uninitialized;
    }
    if (chance.oneIn(3)) {
        settings.dmaExecutionMode =
            chance.oneIn(2) ? machine::DmaMode::Eager : machine::DmaMode::OnWait;
    }
    settings.detectRaces = chance.oneIn(6) ? machine::DetectRaces::No : machine::DetectRaces::Yes;
    if (chance.oneIn(4)) {
        settings.registers = chance.pick<std::int64_t>({32, 64, 128});
    }
    return settings;
}

std::vector<pl::detail::ArgumentSpec> argumentsOf(std::int32_t devices)
{
    constexpr Extent kLines = GpuWriter::kLines, kWidth = GpuWriter::kWidth,
                     kSquare = GpuWriter::kSquare, kNumbers = GpuWriter::kNumbers;
    std::vector<pl::detail::ArgumentSpec> arguments{
        pl::in("x", kF32, {kLines, kWidth}),         pl::in("a", DType::F16, {kSquare, kSquare}),
        pl::in("b", DType::F16, {kSquare, kSquare}), pl::in("table", kInt, {kNumbers}),
        pl::out("y", kF32, {kLines, kWidth}),        pl::out("c", kF32, {kSquare, kSquare}),
        pl::out("counts", kInt, {kNumbers})};
    if (devices > 1) {
        for (pl::detail::ArgumentSpec& argument : arguments) {
            std::vector<std::vector<std::string>> axes(argument.shape.rank());
            axes[0] = {"d"};
            argument = pl::sharded(argument, axes);
        }
    }
    return arguments;
}

void fillIn(RandomProgram& random, Chance& chance)
{
    for (const ir::Argument& argument : random.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            random.inputs.push_back(gpuInputOf(chance, ir::wholeType(random.program, argument)));
        }
    }
    random.chip = &h100();
    random.settings = gpuSettingsOf(chance);
}

// A kernel that uses two axes of its grid as a cluster may share copies.
bool isInPairs(const gpu::Launch& launch)
{
    return launch.cluster.empty() && !launch.grid.empty() && launch.grid.back().size % 2 == 0;
}

} // namespace

RandomProgram randomGpuProgram(std::uint64_t seed)
{
    Chance chance(seed);
    const std::int64_t kernels = chance.oneIn(5) ? 2 : 1;
    bool inPairs = true;
    RandomProgram random;
    random.program = mustTrace(pl::detail::traceKernel(
        "random", argumentsOf(1),
        [&](const std::vector<pl::Ref>& refs) {
            for (std::int64_t i = 0; i < kernels; ++i) {
                const gpu::Launch launch = launchOf(chance);
                inPairs = inPairs && isInPairs(launch);
                gpu::launch(launch, [&] { GpuWriter(chance, refs, launch).body(); });
            }
            return true;
        },
        std::source_location::current()));
    if (inPairs && chance.oneIn(2)) {
        shareCopies(chance, random.program.body);
    }
    fillIn(random, chance);
    return random;
}

RandomProgram randomGpusProgram(std::uint64_t seed)
{
    Chance chance(seed);
    const auto devices = static_cast<std::int32_t>(chance.from(2, 4));
    RandomProgram random;
    random.program = mustTrace(pl::detail::traceKernel(
        "random", argumentsOf(devices),
        [&](const std::vector<pl::Ref>& refs) {
            pl::onMesh({{"d", devices}});
            pl::runScoped({pl::semaphores("arrived")}, [&](const std::vector<pl::Ref>& outer) {
                gpu::Launch launch = launchOf(chance);
                if (!launch.grid.empty() && launch.grid[0].size > 6) {
                    launch.grid[0].size = 2; // each device has as many blocks
                }
                gpu::launch(launch,
                            [&] { GpuWriter(chance, refs, launch, devices, outer[0]).body(); });
                return std::vector<pl::Value>{};
            });
            return true;
        },
        std::source_location::current()));
    fillIn(random, chance);
    return random;
}

} // namespace pallascope::machine_test
