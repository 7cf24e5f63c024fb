// kernel.json as structs: the program, and entries that describe the contents of its inputs and
// sources. The program's own `sources`, operation numbers and operation count are left out,
// because they follow from the rest.
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"
#include "core/kernel_file/recipe.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::kernel_file {

inline constexpr std::string_view kFormat = "pallascope.kernel";
inline constexpr std::int32_t kVersion = 1;

// An input is one of the recipes, or a member of the archive.
struct InputEntry
{
    std::optional<NormalRecipe> normal;
    std::optional<ZerosRecipe> zeros;
    std::optional<FillRecipe> fill;
    std::optional<IotaRecipe> iota;
    std::optional<MaskRecipe> mask;
    std::optional<std::string> npy;
    // How often the member is repeated along each axis. Empty: it is the whole array.
    std::vector<Extent> repeats;
};

// A source has either a text or a member.
struct SourceEntry
{
    std::string file;
    std::optional<std::string> text;
    std::optional<std::string> member;
};

struct Document
{
    std::string format{kFormat};
    std::int32_t version = kVersion;
    std::string producer;
    ir::Program program;
    std::vector<InputEntry> inputs; // one per input argument
    std::vector<SourceEntry> sources;
};

[[nodiscard]] std::string toJson(const Document& document);

// Every error sentence starts with `file`. The returned program has passed checkProgram and
// ir::verify, and its operations are numbered.
[[nodiscard]] Result<Document> fromJson(std::string_view text, const std::string& file);

// One operation alone. Only its own members are checked.
[[nodiscard]] std::string operationToJson(const ir::Operation& operation);
[[nodiscard]] Result<ir::Operation> operationFromJson(std::string_view text);

// The checks that must pass before ir::verify may look at a program: every id is in range, defined
// once and in scope where it is used; literals are scalars of their dtype; sizes are within
// limits. Errors start with the JSON pointer of the place.
[[nodiscard]] Status checkProgram(const ir::Program& program);

} // namespace pallascope::kernel_file
