// The kernel that a request names: a built-in one with its parameters, or one from a file.
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
    ir::Program program; // with its source files
    std::vector<kernel_file::Input> inputs;
    // What a trace says about how the run was made: the parameters, or the path of the file.
    std::map<std::string, std::string> parameters;
    std::vector<std::string> parameterOrder;
    std::string producer; // of the kernel file
    // A sentence about inputs that an .npz file does not replace; empty if there are none.
    std::string inputsNote;
    // Only for built-in kernels.
    const kernels::Kernel* builtIn = nullptr;
    std::optional<kernels::Arguments> arguments;
};

// A run whose kernel came from a file has this one parameter, the file's path.
inline constexpr const char* kFileParameter = "file";

// `name` is a built-in kernel or the path of a file; a file takes no parameters. `inputs` is an
// .npz file with contents for inputs, or empty.
[[nodiscard]] Result<KernelChoice> chooseKernel(const std::string& name,
                                                const std::map<std::string, std::string>& given,
                                                const std::string& inputs = {});

// The same for the contents of a file that was read already.
[[nodiscard]] Result<KernelChoice> kernelOf(std::string_view contents, const std::string& path,
                                            const std::map<std::string, std::string>& given);

// The chip to go on with when this kernel is chosen, where `chip` was: that one if it can run the
// kernel, otherwise the kernel's own. Only of built-in kernels; for others it is `chip`.
[[nodiscard]] std::string chipFor(const std::string& kernel, const std::string& chip);

// Each assignment is "NAME=VALUE" and each name may occur once. They are for a Parameter or a
// Setting; `example` is a correct one for the error.
[[nodiscard]] Result<std::map<std::string, std::string>>
parseAssignments(const std::vector<std::string>& assignments, Subject subject,
                 const std::string& example);
[[nodiscard]] Result<std::map<std::string, std::string>>
parseParameters(const std::vector<std::string>& assignments);

// If `values` is true, all inputs get their contents; otherwise only the inputs that decide what
// the program does, and the others only have shapes. Fails if an array in the kernel's file is
// damaged.
[[nodiscard]] Result<std::vector<Array>> makeInputs(const KernelChoice& kernel, bool values);

} // namespace pallascope::app
