// PALLASCOPE_CHECK stops at a broken invariant, in release builds too: it throws std::logic_error,
// which one handler in app/ turns into a report. It is never used for user input.
#pragma once

#include <string_view>

namespace pallascope {

[[noreturn]] void checkFailed(std::string_view condition, std::string_view file, int line);

} // namespace pallascope

#define PALLASCOPE_CHECK(condition)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ::pallascope::checkFailed(#condition, __FILE__, __LINE__);                             \
        }                                                                                          \
    } while (false)
