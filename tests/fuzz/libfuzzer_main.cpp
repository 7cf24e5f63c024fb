// The entry of libFuzzer for one format, PALLASCOPE_FUZZ_FORMAT. Half of the changes to bytes that
// are JSON are ours, the others libFuzzer's.
#include "tests/fuzz/formats.h"

#include <algorithm>
#include <cstring>
#include <string_view>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace pallascope::fuzz;
    static const Format& format = formatNamed(PALLASCOPE_FUZZ_FORMAT);
    (void)useBytes(format, std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed)
{
    using namespace pallascope::fuzz;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (seed % 2 == 0 || !Json::accept(text)) {
        return LLVMFuzzerMutate(data, size, most);
    }
    Random random(seed);
    const std::string changed = mutatedTree(Json::parse(text), Json(), random);
    const std::size_t length = std::min(changed.size(), most);
    std::memcpy(data, changed.data(), length);
    return length;
}
