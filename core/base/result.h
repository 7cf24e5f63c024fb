// Result<T>: a value or an Error with an owner. The names are those of std::expected, which g++ 12
// does not have in C++20; it is to be replaced by an alias once the compilers do.
#pragma once

#include "core/base/text.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace pallascope {

// Who has to act: the user (bad input), nobody (a limit of the model or machine), or us (a bug).
enum class ErrorKind
{
    User,
    Limit,
    Internal
};

// One full sentence that names the thing, the bad value, and what would be right; on one line,
// whatever it quotes.
struct Error
{
    ErrorKind kind = ErrorKind::User;
    std::string message;
};

inline Error userError(std::string_view message)
{
    return {ErrorKind::User, oneLine(message)};
}

inline Error limitError(std::string_view message)
{
    return {ErrorKind::Limit, oneLine(message)};
}

template<class T>
class [[nodiscard]] Result
{
public:
    // Implicit on purpose: `return value;` and `return userError(...);` both read well.
    Result(T value)
        : m_state(std::in_place_index<0>, std::move(value))
    {} // NOLINT(google-explicit-constructor)

    Result(Error error)
        : m_state(std::in_place_index<1>, std::move(error))
    {} // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool has_value() const { return m_state.index() == 0; }

    explicit operator bool() const { return has_value(); }

    // std::get throws std::bad_variant_access when the state is the other one, in release too.
    [[nodiscard]] const T& value() const& { return std::get<0>(m_state); }

    [[nodiscard]] T& value() & { return std::get<0>(m_state); }

    [[nodiscard]] T&& value() && { return std::get<0>(std::move(m_state)); }

    [[nodiscard]] const T& operator*() const& { return value(); }

    [[nodiscard]] T& operator*() & { return value(); }

    [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }

    [[nodiscard]] const T* operator->() const { return &value(); }

    [[nodiscard]] T* operator->() { return &value(); }

    [[nodiscard]] const Error& error() const { return std::get<1>(m_state); }

private:
    std::variant<T, Error> m_state;
};

// The result of something that yields nothing but may fail.
struct Done
{};

using Status = Result<Done>;

} // namespace pallascope
