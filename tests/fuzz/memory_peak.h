// The most memory that this process has used since the last reset, in bytes, as Linux counts pages.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace pallascope::fuzz {

inline void resetMemoryPeak()
{
    std::ofstream("/proc/self/clear_refs") << "5"; // VmHWM starts again at the current use
}

inline std::int64_t memoryPeak() // 0 if the system does not tell
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "VmHWM:") {
            std::int64_t kibibytes = 0;
            status >> kibibytes;
            return kibibytes * 1024;
        }
    }
    return 0;
}

} // namespace pallascope::fuzz
