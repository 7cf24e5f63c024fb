// Traces and runs kernels for their tests.
#include "tests/kernels/support.h"

#include "core/base/check.h"
#include "core/base/element.h"
#include "core/chip/chip.h"
#include "resources/chip_files.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

namespace pallascope::kernel_test {

namespace {

const chip::Chip& chipOf(const kernels::Kernel& kernel)
{
    static std::map<std::string, chip::Chip> chips;
    const std::string name = kernel.chip.empty() ? "tpu_v5e" : kernel.chip;
    for (const resources::EmbeddedFile& file : resources::chipFiles()) {
        if (!chips.contains(name) && file.name == name + ".json") {
            chips.emplace(name, chip::parse(file.text, file.name).value());
        }
    }
    return chips.at(name);
}

template<class T>
T must(Result<T> result)
{
    if (!result) {
        throw std::runtime_error(result.error().message);
    }
    return std::move(*result);
}

Array integers(DType dtype, const Shape& shape, std::uint64_t seed)
{
    const Array source = normalArray(DType::Int32, shape, seed);
    Array array = makeArray(dtype, shape);
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        writeElement(dtype, array.data.get(), i, source.at(i));
    }
    return array;
}

} // namespace

Parameters with(Parameters parameters, const Parameters& changed)
{
    for (const auto& [name, value] : changed) {
        parameters[name] = value;
    }
    return parameters;
}

KernelRun mustRun(const std::string& kernel, const Parameters& parameters, Inputs inputs,
                  machine::ValueMode values)
{
    const kernels::Kernel* found = kernels::find(kernel);
    if (found == nullptr) {
        throw std::runtime_error("there is no kernel " + kernel);
    }
    KernelRun run{.arguments = must(kernels::arguments(*found, parameters))};
    ir::Program program = must(found->build(run.arguments));
    kernels::attachSources(program);
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type& type = program.type(argument.ref);
            const std::uint64_t seed = run.inputs.size();
            run.inputs.push_back(inputs == Inputs::Integers
                                     ? integers(type.dtype, type.shape, seed)
                                     : normalArray(type.dtype, type.shape, seed));
        }
    }
    run.result = must(machine::run(program, run.inputs, chipOf(*found), {.values = values}));
    if (values == machine::ValueMode::Full) {
        run.check = found->check(run.arguments, run.inputs, run.result.outputs);
    }
    return run;
}

std::string refusal(const std::string& kernel, const Parameters& parameters)
{
    try {
        const KernelRun run = mustRun(kernel, parameters);
        ADD_FAILURE() << kernel << " was accepted";
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

Eigen::MatrixXd matrixOf(const Array& array)
{
    Eigen::MatrixXd matrix(array.shape[0], array.shape[1]);
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
            matrix(i, j) = array.at(i * matrix.cols() + j);
        }
    }
    return matrix;
}

std::vector<double> elementsOf(const Array& array)
{
    std::vector<double> elements;
    for (std::int64_t i = 0; i < array.shape.elements(); ++i) {
        elements.push_back(array.at(i));
    }
    return elements;
}

double rounded(double value, DType dtype)
{
    const Array one = makeArray(dtype, {1});
    writeElement(dtype, one.data.get(), 0, value);
    return one.at(0);
}

std::vector<std::byte> bytesOf(const Array& array)
{
    return {array.data.get(), array.data.get() + array.byteCount()};
}

std::string findingsText(const KernelRun& run)
{
    std::string text;
    for (const trace::Finding& finding : run.result.trace->info().findings) {
        text += finding.kind + " x" + std::to_string(finding.count) + "; ";
    }
    return text;
}

std::vector<trace::Finding> findingsOf(const KernelRun& run, const std::string& kind)
{
    std::vector<trace::Finding> found;
    for (const trace::Finding& finding : run.result.trace->info().findings) {
        if (finding.kind == kind) {
            found.push_back(finding);
        }
    }
    return found;
}

std::string sourceLine(const KernelRun& run, const trace::Finding& finding)
{
    const auto& sources = run.result.trace->info().sources;
    const auto file = static_cast<std::size_t>(finding.source.file);
    PALLASCOPE_CHECK(file < sources.size());
    std::istringstream text(sources[file].text);
    std::string line;
    for (std::int64_t i = 0; i < finding.source.line; ++i) {
        std::getline(text, line);
    }
    return line;
}

} // namespace pallascope::kernel_test
