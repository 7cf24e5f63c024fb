#include "tests/machine/support.h"

#include "core/machine/values/value.h"
#include "tests/chip/plain_chip.h"

#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace pallascope::machine_test {

namespace {

chip::Chip loaded(const std::string& name)
{
    std::ifstream file(std::string(PALLASCOPE_CHIPS) + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    Result<chip::Chip> chip = chip::parse(chip::plain(text.str()), name);
    if (!chip) {
        throw std::runtime_error(chip.error().message);
    }
    return std::move(*chip);
}

} // namespace

const chip::Chip& v5e()
{
    static const chip::Chip kChip = loaded("tpu_v5e.json");
    return kChip;
}

const chip::Chip& v5p()
{
    static const chip::Chip kChip = loaded("tpu_v5p.json");
    return kChip;
}

const chip::Chip& a100()
{
    static const chip::Chip kChip = loaded("a100_80.json");
    return kChip;
}

const chip::Chip& h100()
{
    static const chip::Chip kChip = loaded("h100_sxm.json");
    return kChip;
}

const chip::Chip& b200()
{
    static const chip::Chip kChip = loaded("b200.json");
    return kChip;
}

void copyAndWait(const pl::Ref& from, const pl::Ref& to, const pl::Ref& semaphore)
{
    pl::dmaStart(from, to, semaphore);
    pl::dmaWait(to, semaphore);
}

Array arrayOf(DType dtype, const Shape& shape, const std::vector<double>& elements)
{
    Array array = makeArray(dtype, shape);
    if (static_cast<std::int64_t>(elements.size()) != shape.elements()) {
        throw std::runtime_error("arrayOf: the number of elements is not that of the shape");
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
        machine::writeElement(dtype, array.data.get(), static_cast<std::int64_t>(i), elements[i]);
    }
    return array;
}

Array counting(DType dtype, const Shape& shape)
{
    std::vector<double> numbers(static_cast<std::size_t>(shape.elements()));
    std::iota(numbers.begin(), numbers.end(), 0);
    return arrayOf(dtype, shape, numbers);
}

std::vector<double> elementsOf(const Array& array)
{
    std::vector<double> elements;
    for (std::int64_t i = 0; i < array.shape.elements(); ++i) {
        elements.push_back(array.at(i));
    }
    return elements;
}

ir::Program mustTrace(Result<ir::Program> program)
{
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return std::move(*program);
}

machine::RunResult mustRun(const ir::Program& program, const std::vector<Array>& inputs,
                           machine::ValueMode values, const chip::Chip& chip)
{
    Result<machine::RunResult> run = machine::run(program, inputs, chip, {.values = values});
    if (!run) {
        throw std::runtime_error(run.error().message);
    }
    return std::move(*run);
}

std::vector<trace::Finding> findingsOf(const machine::RunResult& run, const std::string& kind)
{
    std::vector<trace::Finding> found;
    for (const trace::Finding& finding : run.trace->info().findings) {
        if (finding.kind == kind) {
            found.push_back(finding);
        }
    }
    return found;
}

namespace {

std::string textOf(const machine::RunResult& run, std::string_view besides)
{
    std::string text;
    for (const trace::Finding& finding : run.trace->info().findings) {
        if (besides.empty() || !finding.kind.ends_with(besides)) {
            text +=
                finding.kind + " x" + std::to_string(finding.count) + ": " + finding.message + "; ";
        }
    }
    return text;
}

} // namespace

std::string findingsText(const machine::RunResult& run)
{
    return textOf(run, "");
}

std::string findingsBesidesBirths(const machine::RunResult& run)
{
    return textOf(run, "_born");
}

std::string findingsBesidesResults(const machine::RunResult& run)
{
    return textOf(run, "undefined_result");
}

ir::Program oneStepProgram(const OneStep& step, const RefsBody& body)
{
    std::vector<pl::detail::ArgumentSpec> arguments;
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
        arguments.push_back(
            pl::in("x" + std::to_string(i), step.inputs[i].dtype, step.inputs[i].shape));
    }
    arguments.push_back(pl::out("out", step.dtype, step.shape));
    const auto kernel = [&](const std::vector<pl::Ref>& refs) {
        pl::Grid grid{.grid = step.grid, .scratch = step.scratch};
        grid.in.assign(step.inputs.size(), pl::wholeArray());
        grid.out.push_back(pl::wholeArray());
        pl::detail::pipeline(
            grid, ir::PipelineOrigin::PallasCall,
            [&](const std::vector<pl::Ref>& blocks) {
                body(blocks);
                return true;
            },
            refs);
        return true;
    };
    return mustTrace(
        pl::detail::traceKernel("one_step", arguments, kernel, std::source_location::current()));
}

machine::RunResult runOneStep(const OneStep& step, const RefsBody& body)
{
    return mustRun(oneStepProgram(step, body), step.inputs);
}

} // namespace pallascope::machine_test
