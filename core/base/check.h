// PALLASCOPE_CHECK: a broken invariant stops loudly, in release builds too.
// It throws std::logic_error; one handler in app/ turns that into a report. Never used for user
// input.
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
