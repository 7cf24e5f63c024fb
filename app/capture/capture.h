// A capture: the command that runs Python's package, and what Python's answers mean. How it is run
// is the caller's: the command line waits for it, the window does not.
#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace pallascope::app {

struct CaptureRequest
{
    std::string function;               // FILE.py:FUNCTION
    std::vector<std::string> arguments; // "bf16[4096,4096]"
    std::string output;
    std::string python;            // empty: PALLASCOPE_PYTHON, else python3
    std::vector<std::string> more; // options and their values, passed on: "--chip", "tpu_v6e"
    bool operator==(const CaptureRequest&) const = default;
};

// The words of commands: the capture, and before it the question whether the packages are there.
[[nodiscard]] std::vector<std::string> captureWords(const CaptureRequest& request);
[[nodiscard]] std::vector<std::string> questionWords(const CaptureRequest& request);

// Tells the Pythons that are started of this program, which checks what they capture
// (PALLASCOPE_PROGRAM), and of the package that was installed with it, behind what PYTHONPATH names
// already.
void prepareEnvironment();

// Of the question's exit code. `setBy` names what chooses another Python: "--python".
[[nodiscard]] Status answerTo(const CaptureRequest& request, int exitCode,
                              const std::string& setBy);
[[nodiscard]] Error cannotRun(const CaptureRequest& request, const std::string& why,
                              const std::string& setBy);

// As a person would type it in a shell.
[[nodiscard]] std::string typed(const std::vector<std::string>& words);

// What a person typed, at spaces; those between brackets or quotes separate nothing.
[[nodiscard]] std::vector<std::string> wordsOf(const std::string& text);

// What Python said last, to be shown: the package's sentence with the list that it ends in, else
// the last line of a traceback.
[[nodiscard]] std::string lastWords(const std::string& standardError);

} // namespace pallascope::app
