// Kernels as files: `.kernel.json`, or `.pallascope`, a zip of kernel.json, arrays/*.npy and
// sources/. What was written reads back identical, but for control characters in names, which are
// written out; what is read is a legal program or an error
// sentence that starts with the file's name and the place. docs/kernel_format.md has the format.
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"
#include "core/ir/program.h"
#include "core/kernel_file/recipe.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pallascope::kernel_file {

class ZipReader;

// A member of the archive that was loaded: read when its elements are asked for, so that one of
// gigabytes costs nothing where nobody needs them.
struct Stored
{
    std::shared_ptr<const ZipReader> zip;
    std::string member;
    std::vector<Extent> repeats; // of the member along each axis; empty: it is the whole array
};

// What an input holds.
using Input = std::variant<Recipe, Stored, Array>;

struct KernelFile
{
    ir::Program program;
    std::vector<Input> inputs; // one per input argument
    std::string producer;      // what wrote the file first, for people; may be empty
};

// Inputs as built-in kernels get them: normal, seeds 0, 1, ...
[[nodiscard]] std::vector<Input> defaultInputs(const ir::Program& program);
// Its elements. The error: a stored member is damaged.
[[nodiscard]] Result<Array> makeInput(const Input& input, const ir::Type& type);

// By its first bytes.
[[nodiscard]] bool isKernelText(std::string_view start);
// By its name or its first bytes; false for what cannot be read.
[[nodiscard]] bool isKernelFile(const std::string& path);

// Of a kernel out of a pipe, which is read whole.
inline constexpr std::uint64_t kMostPipedBytes = std::uint64_t{1} << 28;

[[nodiscard]] Result<KernelFile> load(const std::string& path);
// The contents of a file; told apart by their first bytes. `name` starts the error sentences.
[[nodiscard]] Result<KernelFile> parse(std::string_view bytes, const std::string& name);

// A zip when the name ends in ".pallascope", JSON when it ends in ".kernel.json", else an error; so
// are arrays in JSON. The file appears whole or not at all.
[[nodiscard]] Status save(const KernelFile& kernel, const std::string& path);

} // namespace pallascope::kernel_file
