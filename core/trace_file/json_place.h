// Keeps the place of a reader in a JSON document, and its first error. Only the .cpp files that
// read traces include this, because the parser's header is slow to compile.
#pragma once

#include "core/base/json_pointer.h"
#include "core/trace/trace.h"

#include <fmt/format.h>
#include <limits>
#include <optional>
#include <simdjson.h>
#include <string>
#include <type_traits>
#include <utility>

namespace pallascope::trace_file {

struct Place
{
    std::string file;
    std::string pointer;        // RFC 6901
    std::optional<Error> error; // the first one

    void fail(const std::string& what);
    void failWrong(const std::string& wanted,
                   simdjson::dom::element found); // "must be ..., not ..."
};

// The member `key`. If there is none, records an error and returns nothing.
[[nodiscard]] std::optional<simdjson::dom::element>
member(Place& place, simdjson::dom::object object, std::string_view key);
[[nodiscard]] std::optional<simdjson::dom::object>
objectAt(Place& place, simdjson::dom::object parent, std::string_view key);

template<class T>
void readInteger(Place& place, simdjson::dom::element element, T& value)
{
    if constexpr (std::is_unsigned_v<T>) {
        std::uint64_t wide = 0;
        if (element.get(wide) == simdjson::SUCCESS && std::in_range<T>(wide)) {
            value = static_cast<T>(wide);
            return;
        }
    } else {
        std::int64_t wide = 0;
        if (element.get(wide) == simdjson::SUCCESS && std::in_range<T>(wide)) {
            value = static_cast<T>(wide);
            return;
        }
    }
    place.failWrong(fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                                std::numeric_limits<T>::max()),
                    element);
}

// Reads the "pallascope" section: everything except format and version. It does not check the
// rules of a trace.
void readSection(Place& place, simdjson::dom::object section, trace::TraceBuilder& builder);

// Checks the events of the Chrome half, numbered from `first`, as far as other readers of the file
// rely on them.
void checkEvents(Place& place, simdjson::dom::array events, std::size_t first);

} // namespace pallascope::trace_file
