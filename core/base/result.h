// Result<T> is a value or an Error. An Error has a kind and says what it is about, so that no code
// has to read its sentence to find out. The names are those of std::expected, which g++ 12 lacks in
// C++20; Result becomes an alias of it when the compilers have it.
#pragma once

#include "core/base/text.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace pallascope {

// Who has to act: the user (bad input), nobody (a limit of the model or the machine), or the
// developers (a bug). Cancelled: nobody, because whoever asked for the work stopped it.
enum class ErrorKind
{
    User,
    Limit,
    Internal,
    Cancelled
};

enum class Subject
{
    Kernel,
    Parameter, // of a kernel
    Setting,   // of the machine
    Operand,   // of a pipeline, or an argument of the kernel
    Chip,
    File
};

// A thing that an error is about, by the name or path that the user gave for it.
struct About
{
    Subject subject = Subject::Parameter;
    std::string name;
    bool operator==(const About&) const = default;
};

// One full sentence that names the thing, the bad value and what was expected. It stays on one
// line, whatever it quotes.
struct Error
{
    ErrorKind kind = ErrorKind::User;
    std::string message;
    std::vector<About> about; // the things to change to avoid the error; empty: not known

    [[nodiscard]] bool isAbout(Subject subject) const;
};

[[nodiscard]] Error userError(std::string_view message, std::vector<About> about = {});
[[nodiscard]] Error limitError(std::string_view message, std::vector<About> about = {});
[[nodiscard]] Error cancelled();

// The same error with another sentence.
[[nodiscard]] Error reworded(Error error, std::string_view message);

// Says that the error is about this file, unless it says already what it is about.
[[nodiscard]] Error aboutFile(Error error, const std::string& path);

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

    // std::get throws std::bad_variant_access if the state is the other one, in release builds too.
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

// The result of something that may fail and has no value.
struct Done
{};

using Status = Result<Done>;

template<class T>
[[nodiscard]] Result<T> aboutFile(Result<T> result, const std::string& path)
{
    return result ? std::move(result) : Result<T>(aboutFile(result.error(), path));
}

} // namespace pallascope
