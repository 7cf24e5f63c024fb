// The list of formats, and using a file of one of them.
#include "tests/fuzz/formats.h"

#include "tests/fuzz/use.h"

#include <array>

namespace pallascope::fuzz {

std::span<const Format* const> formats()
{
    static constexpr std::array<const Format*, 7> kFormats{
        &kKernelFormat,      &kArchiveFormat, &kChipFormat,  &kTraceFormat,
        &kPackedTraceFormat, &kSweepFormat,   &kInputsFormat};
    return kFormats;
}

const Format& formatNamed(std::string_view name)
{
    for (const Format* format : formats()) {
        if (format->name == name) {
            return *format;
        }
    }
    throw std::runtime_error("there is no format " + std::string(name));
}

Outcome useBytes(const Format& format, const std::string& bytes)
{
    const std::string path = scratchFile("file" + std::string(format.ending));
    writeBytes(path, bytes);
    return format.use(path, bytes);
}

} // namespace pallascope::fuzz
