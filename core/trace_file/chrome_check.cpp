// Checks events of the Chrome half while a trace file is read.
#include "core/trace_file/json_place.h"

namespace pallascope::trace_file {

namespace {

namespace dom = simdjson::dom;

constexpr double kMaxMicroseconds = static_cast<double>((std::int64_t{1} << 53) - 1) / 1000;

void checkMicroseconds(Place& place, dom::element element)
{
    double value = 0;
    if (element.get(value) != simdjson::SUCCESS || !(value >= 0 && value <= kMaxMicroseconds)) {
        place.failWrong("a number of microseconds from 0 to 9007199254740.991 (2^53 ns)", element);
    }
}

void checkId(Place& place, dom::element element)
{
    std::int64_t value = 0;
    if (element.get(value) != simdjson::SUCCESS || value < 0 || value > INT32_MAX) {
        place.failWrong(fmt::format("a whole number from 0 to {}", INT32_MAX), element);
    }
}

// Checks what other readers of the file rely on. The "pallascope" section can be valid even if
// this fails.
void checkEvent(Place& place, dom::element element)
{
    dom::object event;
    if (element.get(event) != simdjson::SUCCESS) {
        place.failWrong("an event object", element);
        return;
    }
    std::string_view phase;
    bool begins = false, lasts = false;
    for (const dom::key_value_pair field : event) {
        const bool isTime = field.key == "ts" || field.key == "dur";
        if (isTime || field.key == "pid" || field.key == "tid") {
            const Enter enter(place, field.key);
            isTime ? checkMicroseconds(place, field.value) : checkId(place, field.value);
            begins = begins || field.key == "ts";
            lasts = lasts || field.key == "dur";
        } else if (field.key == "ph" && field.value.get(phase) != simdjson::SUCCESS) {
            const Enter enter(place, "ph");
            place.failWrong("a string", field.value);
        }
    }
    if (phase != "M" && !begins) {
        place.fail("is an event without \"ts\"");
    } else if (phase == "X" && !lasts) {
        place.fail("is a complete event without \"dur\"");
    }
}

} // namespace

void checkEvents(Place& place, dom::array events, std::size_t first)
{
    const Enter enter(place, "traceEvents");
    const std::size_t length = place.pointer.size();
    for (const dom::element event : events) {
        place.pointer.append(1, '/').append(std::to_string(first++));
        checkEvent(place, event);
        place.pointer.resize(length);
        if (place.error) {
            return;
        }
    }
}

} // namespace pallascope::trace_file
