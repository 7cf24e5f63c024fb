// Kernel files to start from: built-in kernels of small sizes, one with every kind of control flow,
// one for each operation, and random pipelines.
#pragma once

#include <string>
#include <vector>

namespace pallascope::fuzz {

[[nodiscard]] std::vector<std::string> kernelTexts();
[[nodiscard]] std::vector<std::string> kernelArchives();

} // namespace pallascope::fuzz
