// The tables of dtype_tables.json, which make_dtype_tables.py has made with ml_dtypes and JAX.
#pragma once

#include "core/base/array.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::dtype_test {

using Codes = std::vector<std::uint32_t>;

[[nodiscard]] const nlohmann::json& tables();

// The codes that a string of hexadecimal digits holds, `bytes` bytes each.
[[nodiscard]] Codes codesOf(std::string_view digits, int bytes);

// The same as `checksum` in the script.
[[nodiscard]] std::string checksum(const Codes& codes);

// The code of a float; every NaN becomes the quiet NaN of its sign.
[[nodiscard]] std::uint32_t quieted(const FloatFormat& format, std::uint32_t code);

[[nodiscard]] Array arrayOf(DType type, const Codes& codes);
// Codes with every NaN made quiet, and without its sign unless `signedNan`.
[[nodiscard]] Codes codesIn(DType type, const std::byte* data, std::int64_t count,
                            bool signedNan = true);

// The same as `inputs` in the script for dtypes of at most 16 bits: every code, in order.
[[nodiscard]] Codes allCodes(DType type);

} // namespace pallascope::dtype_test
