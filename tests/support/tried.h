// How many random cases a test tries.
#pragma once

#include <concepts>

namespace pallascope::test {

// All of them; under the sanitizers, which slow them down more than ten times, a fifth.
template<std::integral Number>
constexpr Number tried(Number all)
{
#ifdef __SANITIZE_ADDRESS__
    return all / 5;
#else
    return all;
#endif
}

} // namespace pallascope::test
