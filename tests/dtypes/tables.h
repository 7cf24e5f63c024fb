// dtype_tables.json, made by make_dtype_tables.py with ml_dtypes and JAX.
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

// Codes of `bytes` bytes each, as hexadecimal digits.
[[nodiscard]] Codes codesOf(std::string_view digits, int bytes);

// As `checksum` in the script.
[[nodiscard]] std::string checksum(const Codes& codes);

// A float's code with every NaN replaced by the quiet one of its sign.
[[nodiscard]] std::uint32_t quieted(const FloatFormat& format, std::uint32_t code);

[[nodiscard]] Array arrayOf(DType type, const Codes& codes);
// NaN are quieted, and without a sign unless `signedNan`.
[[nodiscard]] Codes codesIn(DType type, const std::byte* data, std::int64_t count,
                            bool signedNan = true);

// As `inputs` in the script for dtypes of at most 16 bits: every code, in order.
[[nodiscard]] Codes allCodes(DType type);

} // namespace pallascope::dtype_test
