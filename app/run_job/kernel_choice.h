// The kernel of a request: one that is built in with its parameters, or a file.
#pragma once

#include "app/run_job/run_job.h"
#include "core/kernel_file/kernel_file.h"
#include "kernels/kernel.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::app {

struct KernelChoice
{
    ir::Program program; // with its sources
    std::vector<kernel_file::Input> inputs;
    // What a trace says about how the run was made: the parameters, or the file.
    std::map<std::string, std::string> parameters;
    std::vector<std::string> parameterOrder;
    std::string producer; // of the file
    // Of built-in kernels only.
    const kernels::Kernel* builtIn = nullptr;
    std::optional<kernels::Arguments> arguments;
};

// The one parameter of a run whose kernel came from a file: the file's path.
inline constexpr const char* kFileParameter = "file";

// `name`: a built-in kernel or a file's path; a file takes no parameters. `inputs`: an .npz with
// the inputs that it has, or empty.
[[nodiscard]] Result<KernelChoice> chooseKernel(const std::string& name,
                                                const std::map<std::string, std::string>& given,
                                                const std::string& inputs = {});

// The same of what a file was found to hold, which need not be read again.
[[nodiscard]] Result<KernelChoice> kernelOf(std::string_view contents, const std::string& path,
                                            const std::map<std::string, std::string>& given);

// "NAME=VALUE", each name once, of a Parameter or a Setting; `example` is a right one.
[[nodiscard]] Result<std::map<std::string, std::string>>
parseAssignments(const std::vector<std::string>& assignments, Subject subject,
                 const std::string& example);
[[nodiscard]] Result<std::map<std::string, std::string>>
parseParameters(const std::vector<std::string>& assignments);

// With `values` all contents, else only those that decide what the program does; shapes otherwise.
// The error: an array in the kernel's file is damaged.
[[nodiscard]] Result<std::vector<Array>> makeInputs(const KernelChoice& kernel, bool values);

} // namespace pallascope::app
