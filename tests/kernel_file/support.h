// What the tests of kernel files share: programs, and a folder that is removed with the test.
#pragma once

#include "core/kernel_file/kernel_file.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pallascope::kernel_file_test {

// Every built-in kernel with its defaults and with other parameters.
[[nodiscard]] std::vector<ir::Program> builtInPrograms();

// Built-in kernels with a few blocks.
[[nodiscard]] std::vector<ir::Program> smallPrograms();

// One kernel with loops, branches, scratch, dynamic slices, literals that are hard to print, and
// every kind of parameters of operations.
[[nodiscard]] ir::Program wideProgram(bool withWhile = true);

[[nodiscard]] kernel_file::KernelFile withDefaults(ir::Program program);

// Reads and writes whole files.
[[nodiscard]] std::string readBytes(const std::filesystem::path& path);
void writeBytes(const std::filesystem::path& path, const std::string& bytes);

class TemporaryFolder
{
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const
    {
        return (m_path / name).string();
    }

    [[nodiscard]] std::size_t fileCount() const;

private:
    std::filesystem::path m_path;
};

} // namespace pallascope::kernel_file_test
