// A whole file in memory, unpacked when it is gzip.
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>

namespace pallascope::trace {

// The JSON parser numbers bytes with 32 bits.
inline constexpr std::size_t kMaxJsonBytes = 0xffff'0000;

[[nodiscard]] bool isGzip(std::string_view bytes);

// `padding` more bytes are allocated behind the text. Gzip is told by its first bytes, not by the
// name.
[[nodiscard]] Result<std::string> readWholeFile(const std::filesystem::path& path,
                                                std::size_t padding);

} // namespace pallascope::trace
