// A sweep that is asked for: of one built-in kernel with many parameters, or of kernel files, on
// several chips. The command line and the window ask the same way and are refused in the same
// words.
#pragma once

#include "core/machine/settings.h"
#include "core/study/sweep_file.h"
#include "kernels/kernel.h"

#include <map>
#include <string>
#include <vector>

namespace pallascope::app {

struct SweepRequest
{
    std::vector<std::string> kernels; // one that is built in, or files
    std::vector<std::string> over;    // ranges of parameters, such as "bm=128:1024:*2"
    study::Parameters fixed;          // the same in every run
    machine::Settings settings;
    std::string chips;   // names or files, separated by commas; empty: the kernels' own chip
    std::string version; // of this program
};

struct SweepJob
{
    const kernels::Kernel* kernel = nullptr; // null if the sweep goes over files
    study::SweepPlan plan;
    study::SweepSubject subject;
};

// The error is about a parameter, a chip or a file. A wrong value of a parameter spoils only its
// own rows, so it is not refused here.
[[nodiscard]] Result<SweepJob> sweepOf(const SweepRequest& request);

// The same for a field of a form: the range "NAME=VALUES" of a built-in kernel, whose values are
// checked too.
[[nodiscard]] Status checkRange(const std::string& kernel, const std::string& range);
// For the block sizes of a built-in kernel values around those that the parameters give, as a field
// of a form takes them: half of it, the same, and twice that, as far as the kernel accepts them.
[[nodiscard]] std::map<std::string, std::string>
proposedValues(const std::string& kernel, const study::Parameters& parameters);
// The chips that names or files, separated by commas, stand for.
[[nodiscard]] Result<std::vector<chip::Chip>> chipsNamed(const std::string& names);

// Fails if not a single combination makes a kernel. One that only does not fit is a valid row.
[[nodiscard]] Status checkAnyRuns(const std::vector<study::SweepRow>& rows);

[[nodiscard]] std::vector<std::string> splitAtCommas(const std::string& text);

} // namespace pallascope::app
