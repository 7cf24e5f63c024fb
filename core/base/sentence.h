// The one form that errors have when they leave a library: a sentence that ends in a full stop.
#pragma once

#include "core/base/result.h"

namespace pallascope {

inline Error asSentence(Error error)
{
    constexpr std::string_view kEnds = ".!?";
    if (!error.message.empty() && kEnds.find(error.message.back()) == std::string_view::npos) {
        error.message += '.';
    }
    return error;
}

template<class T>
[[nodiscard]] Result<T> asSentence(Result<T> result)
{
    return result ? std::move(result) : Result<T>(asSentence(result.error()));
}

} // namespace pallascope
