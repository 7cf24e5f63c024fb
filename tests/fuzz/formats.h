// What is fuzzed: each kind of file that the program reads, with valid files to start from, and
// what a user does with such a file.
#pragma once

#include "tests/fuzz/mutate.h"

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::fuzz {

// The program did something with a file that it must never do.
struct Fault : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

struct Outcome
{
    bool legal = false;
    // Why the file was refused, or what came of a legal file: "ran", "cut off"
    std::string sentence;
};

struct Format
{
    std::string_view name, ending;              // such as "kernel" and ".kernel.json"
    const std::vector<std::string>& (*seeds)(); // valid files
    std::string (*mutated)(Random& random);     // one of them, changed
    // Throws Fault, or whatever escapes from the program. The bytes are also in the file `path`.
    Outcome (*use)(const std::string& path, const std::string& bytes);
};

extern const Format kKernelFormat, kArchiveFormat; // .kernel.json, .pallascope
extern const Format kChipFormat;
extern const Format kTraceFormat, kPackedTraceFormat; // .trace.json, .trace.json.gz
extern const Format kSweepFormat;
extern const Format kInputsFormat; // .npz

[[nodiscard]] std::span<const Format* const> formats();
[[nodiscard]] const Format& formatNamed(std::string_view name); // throws std::runtime_error

// Writes the bytes to a file that only this process uses, and uses that file.
[[nodiscard]] Outcome useBytes(const Format& format, const std::string& bytes);

} // namespace pallascope::fuzz
