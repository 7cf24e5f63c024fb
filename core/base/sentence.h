// Gives an error the form in which it leaves a library: a sentence that ends with punctuation.
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
