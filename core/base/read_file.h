// Every file that comes in, read whole and up to a limit: a device or a pipe without an end is
// refused as a file that is too large is. What a pipe holds is read once only.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>

namespace pallascope {

// There is such a file, it is no folder, and it may be read.
[[nodiscard]] Status checkReadable(const std::string& path);

// Neither a pipe nor a device: can be read twice, and has a size.
[[nodiscard]] bool isOrdinaryFile(const std::string& path);

// The bytes of the file, which are `most` at most.
[[nodiscard]] Result<std::string> readFile(const std::string& path, std::uint64_t most);

} // namespace pallascope
