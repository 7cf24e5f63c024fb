// The parts of a struct that are hashed, as a tuple: references to what exists, values of what is
// made for it.
#pragma once

#include <tuple>
#include <utility>

namespace pallascope::machine {

template<class... T>
[[nodiscard]] std::tuple<T...> parts(T&&... items)
{
    return std::tuple<T...>(std::forward<T>(items)...);
}

} // namespace pallascope::machine
