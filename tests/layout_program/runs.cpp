#include "tests/layout_program/runs.h"

#include "app/run_job/view_of_run.h"
#include "tests/agreement/programs.h"
#include "tests/chip/edited_chip.h"
#include "tests/machine/support.h"

#include <nlohmann/json.hpp>

#include <map>
#include <stdexcept>

namespace pallascope::test {

namespace {

// That of the array which the devices have parts of.
Shape wholeShape(const ir::Program& program, const ir::Argument& argument)
{
    std::vector<Extent> extents = program.type(argument.ref).shape.extents();
    for (std::size_t axis = 0; axis < argument.partition.size(); ++axis) {
        for (const std::string& name : argument.partition[axis]) {
            for (const ir::MeshAxis& of : program.mesh) {
                extents[axis] *= of.name == name ? of.size : 1;
            }
        }
    }
    return Shape(extents);
}

RunOfProgram made(const std::string& name)
{
    for (NamedProgram& one : programsOfSeveral()) {
        if (one.name != name) {
            continue;
        }
        std::vector<Array> inputs;
        for (const ir::Argument& argument : one.program.arguments) {
            if (argument.kind == ir::ArgumentKind::Input) {
                inputs.push_back({machine_test::kF32, wholeShape(one.program, argument), nullptr});
            }
        }
        const machine::RunResult run =
            machine_test::mustRun(one.program, inputs, machine::ValueMode::Needed,
                                  chip::edited({{"/constants/kernel_launch_s", 2e-6},
                                                {"/constants/fusion_launch_s", 5e-7}}));
        return {std::move(one.program), *app::viewOf(run.trace)};
    }
    throw std::logic_error("no program is called " + name);
}

} // namespace

const RunOfProgram& runOf(const std::string& name)
{
    static std::map<std::string, RunOfProgram> runs;
    auto found = runs.find(name);
    if (found == runs.end()) {
        found = runs.emplace(name, made(name)).first;
    }
    return found->second;
}

std::shared_ptr<const layout::RunView> runOnFewSms(const ir::Program& program, std::int32_t sms)
{
    auto file = nlohmann::ordered_json::parse(machine_test::b200().json);
    file["agents"][0]["slots"]["value"] = sms;
    file["multiprocessor"]["l2_usable_bytes"]["value"] = 1 << 20; // somewhat more than all arrays
    const chip::Chip chip = chip::parse(file.dump(), "few_sms.json").value();
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type& type = program.type(argument.ref);
            inputs.push_back({type.dtype, type.shape, nullptr});
        }
    }
    machine::Options options;
    options.settings.registers = 255; // so an SM runs two blocks at a time
    options.values = machine::ValueMode::Needed;
    Result<machine::RunResult> run = machine::run(program, inputs, chip, options);
    if (!run) {
        throw std::runtime_error(run.error().message);
    }
    return *app::viewOf(run->trace);
}

} // namespace pallascope::test
