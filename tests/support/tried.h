// How many random cases a test tries.
#pragma once

#include <concepts>
#include <cstddef>

// Only a program that is linked with the address sanitizer has it. A macro could not tell: the
// tests' own code has the same flags in every build of CI (tests/CMakeLists.txt).
extern "C" void __asan_init() __attribute__((weak));

namespace pallascope::test {

[[nodiscard]] inline bool underSanitizers()
{
    return __asan_init != nullptr;
}

// All of them; under the sanitizers, which slow them down about ten times, a fifth.
template<std::integral Number>
[[nodiscard]] Number tried(Number all)
{
    return underSanitizers() ? all / 5 : all;
}

// Whether a test of many cases tries this one; under the sanitizers, one in five.
[[nodiscard]] inline bool isTried(std::size_t number)
{
    return !underSanitizers() || number % 5 == 0;
}

} // namespace pallascope::test
