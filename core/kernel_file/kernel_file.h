// Kernels as files: `.kernel.json`, or `.pallascope`, which is a zip of kernel.json, arrays/*.npy
// and sources/. What was written reads back identical, except that control characters in names are
// written as escapes. Reading gives a legal program, or an error sentence that starts with the
// file's name and the place. docs/kernel_format.md describes the format.
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"
#include "core/ir/program.h"
#include "core/kernel_file/recipe.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pallascope::kernel_file {

class ZipReader;

// A member of a loaded archive. It is read only when its elements are asked for, so that an array
// of gigabytes costs nothing if nobody needs it.
struct Stored
{
    std::shared_ptr<const ZipReader> zip;
    std::string member;
    // How often the member is repeated along each axis. Empty: it is the whole array.
    std::vector<Extent> repeats;
};

// The contents of an input.
using Input = std::variant<Recipe, Stored, Array>;

struct KernelFile
{
    ir::Program program;
    std::vector<Input> inputs; // one per input argument
    std::string producer;      // the tool that first wrote the file, for people; may be empty
};

// Inputs as built-in kernels get them: normal numbers with seeds 0, 1, ...
[[nodiscard]] std::vector<Input> defaultInputs(const ir::Program& program);
// The elements of an input. It fails if a stored member is damaged.
[[nodiscard]] Result<Array> makeInput(const Input& input, const ir::Type& type);

// Decides by the first bytes of a text.
[[nodiscard]] bool isKernelText(std::string_view start);
// Decides by the file's name or its first bytes. False if it cannot be read.
[[nodiscard]] bool isKernelFile(const std::string& path);
// What to say where a kernel or a trace is expected and the file is a Python program, from which a
// kernel has to be captured first. Nothing if it is none.
[[nodiscard]] std::optional<Error> givenPython(const std::string& path);

// The limit for a kernel that comes through a pipe, which is read as a whole.
inline constexpr std::uint64_t kMostPipedBytes = std::uint64_t{1} << 28;

[[nodiscard]] Result<KernelFile> load(const std::string& path);
// Reads the contents of a file; the first bytes tell JSON from zip. Error sentences start with
// `name`.
[[nodiscard]] Result<KernelFile> parse(std::string_view bytes, const std::string& name);

// Writes a zip if the name ends in ".pallascope", and JSON if it ends in ".kernel.json". Any other
// name is an error, and so are arrays in JSON. The file appears whole or not at all.
[[nodiscard]] Status save(const KernelFile& kernel, const std::string& path);

} // namespace pallascope::kernel_file
