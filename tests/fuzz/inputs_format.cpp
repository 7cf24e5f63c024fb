// Inputs of a kernel in an .npz file: they are read, and the kernel runs with them.
#include "core/kernel_file/kernel_file.h"
#include "core/kernel_file/npy.h"
#include "tests/fuzz/archive_corpus.h"
#include "tests/fuzz/use.h"

namespace pallascope::fuzz {

namespace {

using kernel_file_test::rawZip;
using kernel_file_test::stored;

constexpr const char* kKernel = PALLASCOPE_EXAMPLES "/add.kernel.json";

std::string npyOf(const Array& array)
{
    return kernel_file::npyHeader(array.dtype, array.shape)
           + std::string(reinterpret_cast<const char*>(array.data.get()),
                         static_cast<std::size_t>(array.byteCount()));
}

std::vector<std::string> makeSeeds()
{
    const ir::Program program = kernel_file::load(kKernel).value().program;
    std::vector<RawMember> members;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type& type = program.type(argument.ref);
            members.push_back(stored("arg" + std::to_string(members.size()) + ".npy",
                                     npyOf(normalArray(type.dtype, type.shape, 3))));
        }
    }
    return {rawZip(members), rawZip({members[0]})};
}

const ArchiveCorpus& inputsCorpus()
{
    static const ArchiveCorpus kCorpus(makeSeeds());
    return kCorpus;
}

Outcome useInputs(const std::string& path, const std::string&)
{
    return runFor({.kernel = kKernel, .inputs = path, .keepResults = true}, path).outcome;
}

} // namespace

const Format kInputsFormat{
    "inputs", ".npz", []() -> const std::vector<std::string>& { return inputsCorpus().files(); },
    [](Random& random) { return inputsCorpus().mutated(random); }, useInputs};

} // namespace pallascope::fuzz
