// kernel.json as structs: the program, and what stands for the contents of its inputs and sources.
// The program's own `sources`, operation numbers and count are not in it; they follow from the
// rest.
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

// One of the recipes, or a member of the archive.
struct InputEntry
{
    std::optional<NormalRecipe> normal;
    std::optional<ZerosRecipe> zeros;
    std::optional<FillRecipe> fill;
    std::optional<IotaRecipe> iota;
    std::optional<MaskRecipe> mask;
    std::optional<std::string> npy;
    std::vector<Extent> repeats; // of the member along each axis; empty: it is the whole array
};

// One of text and member.
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

// `file` starts every error sentence. The program is sound by checkProgram and ir::verify, its
// operations are numbered.
[[nodiscard]] Result<Document> fromJson(std::string_view text, const std::string& file);

// One operation by itself, unchecked beyond its own members.
[[nodiscard]] std::string operationToJson(const ir::Operation& operation);
[[nodiscard]] Result<ir::Operation> operationFromJson(std::string_view text);

// What a reader must know before ir::verify may look at a program: every id is in range, defined
// once and in scope where it is used, literals are scalars of their dtype, sizes are within limits.
// Errors start with the place's JSON pointer.
[[nodiscard]] Status checkProgram(const ir::Program& program);

} // namespace pallascope::kernel_file
