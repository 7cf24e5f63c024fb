// Reads and writes NumPy's .npy (one array) and .npz (a zip of arrays). Narrow dtypes are stored
// as NumPy with ml_dtypes stores them: as bytes of a void type without a name. So a reader must
// know the dtype from elsewhere; here the type of an argument gives it.
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"
#include "core/ir/program.h"
#include "core/kernel_file/zip.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::kernel_file {

// The bytes that precede the elements of a row-major array.
[[nodiscard]] std::string npyHeader(DType dtype, const Shape& shape);

// Checks by first bytes and size whether a member of an archive is an array of that dtype and
// shape. Errors name the archive, the member and what was expected.
[[nodiscard]] Status checkNpy(const ZipReader& zip, const std::string& member, DType dtype,
                              const Shape& shape);
// Reads that array, which may be row-major or column-major in the file.
[[nodiscard]] Result<Array> readNpy(const ZipReader& zip, const std::string& member, DType dtype,
                                    const Shape& shape);

// Returns one entry for each input argument: the member "arg0", "arg1", ... of an .npz, or nothing
// if it is missing. A member with another name is an error.
[[nodiscard]] Result<std::vector<std::optional<Array>>> readInputs(const std::string& path,
                                                                   const ir::Program& program);
// Writes members "result0", "result1", ...
[[nodiscard]] Status writeResults(const std::string& path, const std::vector<Array>& results);

} // namespace pallascope::kernel_file
