// NumPy's .npy and .npz: one array, and a zip of arrays. The elements of narrow dtypes are stored
// as NumPy with ml_dtypes stores them: bytes of a void type that has no name, so a reader
// has to know the dtype, as the type of an argument says it here.
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"
#include "core/ir/program.h"
#include "core/kernel_file/zip.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::kernel_file {

// The bytes before the elements, for a row-major array.
[[nodiscard]] std::string npyHeader(DType dtype, const Shape& shape);

// Whether a member of an archive is an array of that dtype and shape, as far as its first bytes and
// its size say. Errors name the archive, the member and what was expected.
[[nodiscard]] Status checkNpy(const ZipReader& zip, const std::string& member, DType dtype,
                              const Shape& shape);
// That array; row-major or column-major in the file.
[[nodiscard]] Result<Array> readNpy(const ZipReader& zip, const std::string& member, DType dtype,
                                    const Shape& shape);

// One entry per input argument: the member "arg0", "arg1", ... of an .npz, or nothing where it has
// none. A member of another name is an error.
[[nodiscard]] Result<std::vector<std::optional<Array>>> readInputs(const std::string& path,
                                                                   const ir::Program& program);
// Members "result0", "result1", ...
[[nodiscard]] Status writeResults(const std::string& path, const std::vector<Array>& results);

} // namespace pallascope::kernel_file
