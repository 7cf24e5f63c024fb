#include "core/chip/stand_in.h"

#include "core/base/format.h"
#include "core/chip/devices.h"

#include <string_view>

namespace pallascope::chip {

namespace {

std::string_view keyOf(const UnknownFigure& figure)
{
    return std::string_view(figure.pointer).substr(figure.pointer.rfind('/') + 1);
}

// The unit follows from the key, as docs/chip_format.md has it.
std::string valueText(std::string_view key, double value)
{
    if (key == "bytes") {
        return bytesText(Bytes(static_cast<std::int64_t>(value)));
    }
    if (key.ends_with("flops_per_s")) {
        return flopRateText(value);
    }
    if (key.ends_with("bytes_per_s")) {
        return bandwidthText(value);
    }
    if (key.ends_with("_hz")) {
        return significant(value * 1e-9, 3) + " GHz";
    }
    if (key.ends_with("_s")) {
        return timeText(toPicoseconds(Seconds(value)));
    }
    const bool isWhole = value == static_cast<double>(static_cast<std::int64_t>(value));
    const std::string number =
        isWhole ? countText(static_cast<std::int64_t>(value)) : significant(value, 3);
    return key.starts_with("cycles") ? number + (value == 1 ? " cycle" : " cycles") : number;
}

} // namespace

std::string standInText(const Chip& chip, const UnknownFigure& figure)
{
    const std::string_view key = keyOf(figure);
    const std::string ofFile = valueText(key, figure.standIn);
    if (chip.devices == 1 || !isDivided(chip, figure.pointer)) {
        return ofFile;
    }
    return valueText(key, figure.standIn / static_cast<double>(chip.devices)) + " of a device ("
           + ofFile + " of the chip)";
}

} // namespace pallascope::chip
