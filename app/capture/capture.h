// A capture of a kernel from Python: the command that runs Python's package, and what Python's
// answers mean. The caller decides how to run the command: the command line waits for it, the
// window does not.
#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace pallascope::app {

struct CaptureRequest
{
    std::string function;               // "FILE.py:FUNCTION"
    std::vector<std::string> arguments; // each is, for example, "bf16[4096,4096]"
    std::string output;
    std::string python;            // empty: PALLASCOPE_PYTHON, or python3 if that is not set
    std::vector<std::string> more; // options and values to pass on: "--chip", "tpu_v6e"
    bool operator==(const CaptureRequest&) const = default;
};

// The words of two commands: the capture, and the question, asked before it, whether the packages
// are there.
[[nodiscard]] std::vector<std::string> captureWords(const CaptureRequest& request);
[[nodiscard]] std::vector<std::string> questionWords(const CaptureRequest& request);

// Sets the environment for the Pythons that are started later. PALLASCOPE_PROGRAM names this
// program, which checks what they capture. The package installed with this program is added to
// PYTHONPATH, after what it names already.
void prepareEnvironment();

// What the exit code of the question means. `setBy` names the way to choose another Python:
// "--python".
[[nodiscard]] Status answerTo(const CaptureRequest& request, int exitCode,
                              const std::string& setBy);
[[nodiscard]] Error cannotRun(const CaptureRequest& request, const std::string& why,
                              const std::string& setBy);

// The words as a person would type them in a shell.
[[nodiscard]] std::string typed(const std::vector<std::string>& words);

// Splits what a person typed at spaces, except at spaces inside brackets or quotes.
[[nodiscard]] std::vector<std::string> wordsOf(const std::string& text);

// The end of what Python wrote, for showing it: the package's sentence with the list that it ends
// in, or the last line of a traceback.
[[nodiscard]] std::string lastWords(const std::string& standardError);

} // namespace pallascope::app
