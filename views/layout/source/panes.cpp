// Paints the two panes of the source view: the kernel's lines with the time spent in each, and the
// printed program.
#include "core/base/format.h"
#include "views/layout/run/finding_marks.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/source/parts.h"
#include "views/layout/source/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pallascope::layout {

namespace {

constexpr double kTimeBar = 32, kBarLeft = 6, kTimeLeft = 41; // px
constexpr double kLeastTime = 29;                             // px of a time
constexpr double kPaneHead = 15;

// Counts characters, not bytes.
std::size_t lengthOf(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

// The first `count` characters.
std::string_view firstCharacters(std::string_view text, std::size_t count)
{
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U && count-- == 0) {
            break;
        }
    }
    return text.substr(0, i);
}

std::vector<std::string_view> linesOf(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            break;
        }
        text.remove_prefix(end + 1);
    }
    return lines;
}

// The number of leading spaces that all shown lines share. It is 0 unless one of the lines is too
// long to be shown whole.
std::size_t sharedIndent(const std::vector<std::string_view>& lines, std::int64_t first,
                         std::int64_t last, double room)
{
    const double advance = textWidth("0", 11, Weight::Mono);
    std::size_t shared = std::string_view::npos;
    bool tooLong = false;
    for (std::int64_t line = first; line < last && line <= static_cast<std::int64_t>(lines.size());
         ++line) {
        const std::string_view text = lines[static_cast<std::size_t>(line - 1)];
        const std::size_t indent = text.find_first_not_of(' ');
        if (indent != std::string_view::npos) {
            shared = std::min(shared, indent);
            tooLong = tooLong || static_cast<double>(lengthOf(text)) * advance > room;
        }
    }
    return tooLong && shared != std::string_view::npos ? shared : 0;
}

// Paints a line of code, cut between characters; an ellipsis says that it goes on.
void paintCode(Canvas& canvas, Rect rect, const std::vector<Token>& line, bool strong)
{
    const Weight weight = strong ? Weight::MonoBold : Weight::Mono;
    const double advance = textWidth("0", 11, Weight::Mono);
    std::size_t length = 0;
    for (const Token& token : line) {
        length += lengthOf(token.text);
    }
    auto room = static_cast<std::size_t>(std::max(0.0, rect.w / advance));
    const bool cut = length > room;
    room -= cut && room > 0 ? 1 : 0;
    std::size_t column = 0;
    for (const Token& token : line) {
        const std::string_view text = firstCharacters(token.text, room - column);
        const double x = rect.x + static_cast<double>(column) * advance;
        if (token.kind != TokenKind::Space && !text.empty()) {
            const double width = static_cast<double>(lengthOf(text)) * advance;
            canvas.text(x, rect.y, width + 4, rect.h, text,
                        {11, tokenRole(token.kind), weight, Align::Left});
        }
        column += lengthOf(text);
        if (column >= room) {
            break;
        }
    }
    if (cut) {
        canvas.text(rect.x + static_cast<double>(column) * advance, rect.y, advance + 4, rect.h,
                    "…", {11, Role::Text3, Weight::Mono, Align::Left});
    }
}

double lineHeight(double height, std::int64_t lines)
{
    const double room = height - kPaneHead;
    return room >= 17 * static_cast<double>(lines) || height > 300 ? 17 : 14;
}

// In the column "µs of run".
std::string microseconds(const analysis::LineTime& time)
{
    const double us = static_cast<double>(time.time.value()) * 1e-6;
    return us >= 10 ? countText(std::llround(us)) : significant(us, us >= 1 ? 2 : 1);
}

void paintLineTime(Canvas& canvas, const RunView& run, const analysis::LineTime& time, Rect rect,
                   double timeWidth)
{
    const double share = run.trace->end().value() == 0 ? 0 : ratio(time.time, run.trace->end());
    const Role role =
        !time.unit
            ? Role::Scalar
            : parts::unitRole(run.trace->info().units[static_cast<std::size_t>(*time.unit)].kind);
    canvas.fill(rect.x + kBarLeft, rect.y + 4, kTimeBar, rect.h - 8, Role::Grid);
    if (time.time.value() > 0) {
        canvas.fill(rect.x + kBarLeft, rect.y + 4, std::max(1.0, kTimeBar * share), rect.h - 8,
                    role);
    }
    canvas.text(rect.x + kTimeLeft, rect.y, timeWidth, rect.h, microseconds(time),
                {10, Role::Text2, Weight::Regular, Align::Right});
}

void currentBand(Canvas& canvas, Rect rect)
{
    canvas.fill(rect.x, rect.y, rect.w, rect.h, Role::SelectBackground);
    canvas.fill(rect.x, rect.y, 3, rect.h, Role::Playhead);
}

// The time spent in each line of a file, and in everything else.
struct LineTimes
{
    std::map<std::int64_t, const analysis::LineTime*> of;
    Picoseconds elsewhere;
};

LineTimes timesIn(const RunView& run, std::int32_t file, std::int64_t lines)
{
    LineTimes times;
    for (const analysis::LineTime& time : run.lineTimes) {
        if (time.line.file == file && time.line.line >= 1 && time.line.line <= lines) {
            times.of[time.line.line] = &time;
        } else {
            times.elsewhere += time.time;
        }
    }
    return times;
}

// For each line of a file that findings are about: the most severe one, of equal ones the first.
std::map<std::int64_t, std::int64_t> findingsOf(const RunView& run, std::int32_t file)
{
    const std::vector<trace::Finding>& findings = run.trace->info().findings;
    std::map<std::int64_t, std::int64_t> of;
    for (std::size_t i = 0; i < findings.size(); ++i) {
        if (findings[i].source.file == file) {
            const auto index = static_cast<std::int64_t>(i);
            const auto [at, isNew] = of.emplace(findings[i].source.line, index);
            const trace::Finding& worst = findings[static_cast<std::size_t>(at->second)];
            if (!isNew && severityOf(findings[i]) > severityOf(worst)) {
                at->second = index;
            }
        }
    }
    return of;
}

// Whether a line begins inside a comment that started above.
bool beginsInComment(const std::vector<std::string_view>& lines, std::int64_t line)
{
    bool inComment = false;
    for (std::int64_t above = 1; above < line && above <= static_cast<std::int64_t>(lines.size());
         ++above) {
        (void)tokens(lines[static_cast<std::size_t>(above - 1)], inComment);
    }
    return inComment;
}

// What stands left of the code: the time spent in a line, its number, and a mark if a finding is
// about it.
struct Gutter
{
    LineTimes times;
    std::map<std::int64_t, std::int64_t> findings;
    double timeWidth = kLeastTime; // px of the longest time: none may lie over its bar
    double timesWidth = 0;         // px, with the bar
    double marks = 0;              // px of the marks of findings, right of the line numbers
    double width = 0;              // px of all
};

Gutter gutterOf(const RunView& run, std::int32_t file, std::int64_t lines)
{
    Gutter gutter{timesIn(run, file, lines), findingsOf(run, file)};
    for (const auto& [line, time] : gutter.times.of) {
        gutter.timeWidth =
            std::max(gutter.timeWidth, std::ceil(textWidth(microseconds(*time), 10)));
    }
    const double digits = std::max(2.0, static_cast<double>(std::to_string(lines).size()));
    gutter.timesWidth = kTimeLeft + gutter.timeWidth + 4;
    gutter.marks = gutter.findings.empty() ? 0 : kFindingMark + 3;
    gutter.width = gutter.timesWidth + 6 + 6 * digits + gutter.marks;
    return gutter;
}

// Paints the line above the code: what the columns are, and which file this is.
void paintHead(Canvas& canvas, const Gutter& gutter, const std::string& path, Rect area)
{
    canvas.text(area.x + 6, area.y, gutter.timesWidth - 6, 13, "µs of run",
                {10, Role::Text3, Weight::Regular, Align::Right});
    double room = area.w - gutter.width - 12;
    if (gutter.times.elsewhere.value() > 0) { // so that the column still sums to the run
        const std::string text = timeText(gutter.times.elsewhere) + " elsewhere";
        canvas.text(area.x, area.y, area.w - parts::kPadding, 13, text,
                    {10, Role::Text3, Weight::Regular, Align::Right});
        room -= textWidth(text, 10, Weight::Regular) + parts::kPadding;
    }
    canvas.text(area.x + gutter.width + 4, area.y, room, 13, path,
                {10, Role::Text3, Weight::Regular, Align::Left});
}

// Paints what stands left of one line.
void paintGutter(Canvas& canvas, const RunView& run, const Gutter& gutter, std::int64_t line,
                 Rect row)
{
    if (const auto time = gutter.times.of.find(line); time != gutter.times.of.end()) {
        paintLineTime(canvas, run, *time->second, row, gutter.timeWidth);
    }
    canvas.text(row.x + gutter.timesWidth, row.y,
                gutter.width - gutter.marks - gutter.timesWidth - 4, row.h, std::to_string(line),
                {10, Role::Text3, Weight::Mono, Align::Right});
    if (const auto finding = gutter.findings.find(line); finding != gutter.findings.end()) {
        paintFindingMarks(canvas, run, {{row.x + gutter.width - gutter.marks - 2, finding->second}},
                          std::floor(row.y + (row.h - kFindingMark) / 2));
    }
}

} // namespace

void paintSourceLines(Canvas& canvas, const RunView& run, const ViewState& state,
                      const SourceMoment& moment, Rect area)
{
    const trace::Info& info = run.trace->info();
    const std::int32_t file = shownFile(run, state, moment);
    if (static_cast<std::size_t>(file) >= info.sources.size()) {
        canvas.text(parts::kPadding, area.y + 6, area.w - 2 * parts::kPadding, 16,
                    "No text for this line in the trace.",
                    {11, Role::Text2, Weight::Regular, Align::Left});
        return;
    }
    const trace::SourceFile& source = info.sources[static_cast<std::size_t>(file)];
    const std::vector<std::string_view> lines = linesOf(source.text);
    const auto count = static_cast<std::int64_t>(lines.size());
    const Gutter gutter = gutterOf(run, file, count);
    paintHead(canvas, gutter, source.path, area);
    const double height = lineHeight(area.h, count);
    const auto fit =
        std::max<std::int64_t>(1, static_cast<std::int64_t>((area.h - kPaneHead - 2) / height));
    const std::int64_t first = firstShownLine(run, state, moment, file, count, fit);
    bool inComment = beginsInComment(lines, first);
    double y = area.y + kPaneHead;
    const double top = y;
    const double room = area.w - gutter.width - 8;
    const std::size_t indent = sharedIndent(lines, first, first + fit, room);
    for (std::int64_t line = first; line <= count && line < first + fit; ++line, y += height) {
        const Rect row = {area.x, y, area.w, height};
        const bool current = moment.line.file == file && moment.line.line == line;
        if (current) {
            currentBand(canvas, row);
        }
        canvas.hit(row.x, row.y, row.w, row.h, target::SourceLine{file, line});
        paintGutter(canvas, run, gutter, line, row);
        const std::string_view text = lines[static_cast<std::size_t>(line - 1)];
        paintCode(canvas, {area.x + gutter.width + 4, y, room, height},
                  tokens(text.substr(std::min(indent, text.size())), inComment), current);
    }
    canvas.fill(area.x + gutter.width - 2, top, 1, y - top, Role::Line);
}

SourceGutter gutterOfShown(const RunView& run, const ViewState& state, const SourceMoment& moment)
{
    const auto& sources = run.trace->info().sources;
    const auto file = static_cast<std::size_t>(shownFile(run, state, moment));
    if (file >= sources.size()) {
        return {};
    }
    const auto lines = static_cast<std::int64_t>(linesOf(sources[file].text).size());
    const Gutter gutter = gutterOf(run, static_cast<std::int32_t>(file), lines);
    return {gutter.timesWidth, gutter.width - gutter.marks - 2, gutter.width};
}

void paintListing(Canvas& canvas, const RunView& run, const SourceMoment& moment, Rect area)
{
    const trace::Info& info = run.trace->info();
    const auto count = static_cast<std::int64_t>(info.listing.size());
    const double x = area.x + 11;
    canvas.text(x, area.y, area.w - 14, 13, "program, as a jaxpr",
                {10, Role::Text3, Weight::Regular, Align::Left});
    const double height = lineHeight(area.h, count);
    const auto fit =
        std::max<std::int64_t>(1, static_cast<std::int64_t>((area.h - kPaneHead - 2) / height));
    const bool running = moment.operation.has_value();
    const std::int32_t current =
        running ? info.operations[moment.operation->index()].listingLine : -1;
    std::int64_t first = 0;
    if (current >= fit) {
        first = std::min<std::int64_t>(current - fit / 2, count - fit);
    }
    double y = area.y + kPaneHead;
    for (std::int64_t i = first; i < count && i < first + fit; ++i, y += height) {
        const trace::ListingLine& line = info.listing[static_cast<std::size_t>(i)];
        const Rect row = {area.x, y, area.w, height};
        if (i == current) {
            currentBand(canvas, row);
        } else if (running && line.operation >= 0
                   && info.operations[static_cast<std::size_t>(line.operation)].source
                          == moment.line) {
            canvas.fill(row.x, row.y, row.w, row.h, mix(Role::Select, 0.06));
        }
        paintCode(canvas, {x, y, area.w - 16, height}, tokens(line.text), i == current);
        canvas.hit(row.x, row.y, row.w, row.h, target::ListingLine{i});
    }
}

} // namespace pallascope::layout
