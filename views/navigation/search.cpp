#include "views/navigation/search.h"

#include "core/base/format.h"
#include "core/base/indexed_name.h"
#include "core/trace/lookup.h"
#include "core/trace/pieces.h"
#include "views/layout/run/finding_text.h"
#include "views/layout/run/grid_blocks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace pallascope::navigation {
namespace {

namespace target = layout::target;

std::size_t rowIndex(std::int32_t row)
{
    return static_cast<std::size_t>(row);
}

std::string lower(std::string_view text)
{
    std::string low(text);
    for (char& c : low) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return low;
}

std::vector<std::string> wordsOf(std::string_view text)
{
    std::vector<std::string> words;
    const std::string low = lower(text);
    for (std::size_t at = 0; at < low.size();) {
        const std::size_t from = low.find_first_not_of(' ', at);
        if (from == std::string::npos) {
            break;
        }
        at = std::min(low.find(' ', from), low.size());
        words.push_back(low.substr(from, at - from));
    }
    return words;
}

bool hasAll(std::string_view text, const std::vector<std::string>& words)
{
    const std::string low = lower(text);
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return low.find(word) != std::string::npos;
    });
}

std::optional<std::int64_t> number(std::string_view text)
{
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && read == end ? std::optional(value) : std::nullopt;
}

// Calls visit(number from 1, line) for the lines of a text for as long as it returns true.
template<class F>
void visitLines(std::string_view text, const F& visit)
{
    for (std::int64_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (!visit(line, text.substr(0, end))) {
            return;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// "20us", "1.5µs", "300": a number and what stands behind it.
std::optional<Picoseconds> timeOfWords(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) {
        text += word;
    }
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, value);
    const std::string_view unit(read, static_cast<std::size_t>(end - read));
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"ps", 1},        {"ns", 1e3}, {"us", 1e6}, {"\u00b5s", 1e6},
        {"\u03bcs", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    const auto* const known = std::find_if(std::begin(kUnits), std::end(kUnits),
                                           [&](const auto& one) { return one.first == unit; });
    constexpr double kMost = 1e18; // ps
    if (error != std::errc() || known == std::end(kUnits) || !(value >= 0)
        || value * known->second > kMost) {
        return std::nullopt;
    }
    return Picoseconds(std::llround(value * known->second));
}

class Search
{
public:
    Search(const layout::RunView& run, std::string_view words, std::size_t most, Picoseconds now)
        : m_run(run)
        , m_words(wordsOf(words))
        , m_most(most)
        , m_now(now)
    {}

    std::vector<Found> all() &&
    {
        if (!m_words.empty()) {
            steps();
            time();
            lineOfNumber();
            sms();
            blocks();
            findings();
            lines();
        }
        return std::move(m_found);
    }

private:
    void add(std::string name, const layout::Target& target)
    {
        if (m_found.size() < m_most) {
            m_found.push_back({std::move(name), target});
        }
    }

    // What words ask for a step: its number, and words of the name of its kernel.
    struct StepWords
    {
        std::int64_t ordinal = 0;
        std::vector<std::string> kernel;
    };

    [[nodiscard]] std::optional<StepWords> stepWords() const
    {
        const bool isNamed = m_words.front() == "step";
        const std::size_t at = isNamed ? 1 : 0;
        const std::optional<std::int64_t> ordinal =
            at < m_words.size() ? number(m_words[at]) : std::nullopt;
        if (!ordinal || (!isNamed && m_words.size() > 1)) {
            return std::nullopt;
        }
        StepWords asked{*ordinal,
                        {m_words.begin() + static_cast<std::ptrdiff_t>(at) + 1, m_words.end()}};
        if (!asked.kernel.empty() && asked.kernel.front() == "of") {
            asked.kernel.erase(asked.kernel.begin());
        }
        return asked;
    }

    void steps()
    {
        const std::optional<StepWords> asked = stepWords();
        if (!asked) {
            return;
        }
        const trace::Info& info = m_run.trace->info();
        const trace::Steps& steps = m_run.trace->steps();
        const trace::LeadingSteps& leading = m_run.index->leading();
        std::vector<Found> now, others;
        std::set<std::int64_t> kernels; // of which a step is found
        for (std::size_t i = 0; i < leading.size(); ++i) {
            const trace::StepRow row = leading.row(i);
            const std::size_t step = row.index();
            if (steps.ordinal[step] != asked->ordinal) {
                continue;
            }
            const trace::Pipeline& pipeline = info.pipelines[rowIndex(steps.pipeline[step])];
            const trace::Pieces& pieces = m_run.index->pieces(info.deviceOf(pipeline.agent));
            const std::size_t at = pieces.at(Picoseconds(steps.begin[step]));
            const trace::Piece& kernel = pieces.all[at];
            if (!hasAll(kernel.name, asked->kernel) || !kernels.insert(kernel.number).second) {
                continue;
            }
            const std::vector<Extent> point = trace::gridIndices(pipeline, asked->ordinal);
            std::string name = "step " + std::to_string(asked->ordinal)
                               + (point.empty() ? "" : " " + trace::indexText(point));
            if (pieces.kernels > 1) {
                name += " of " + kernel.name + ", kernel " + std::to_string(kernel.number);
            }
            (at == pieces.at(m_now) ? now : others)
                .push_back({std::move(name), target::Steps{row.number, row.number}});
        }
        for (const std::vector<Found>& found : {now, others}) {
            for (const Found& each : found) {
                add(each.name, each.target);
            }
        }
    }

    void time()
    {
        const std::optional<Picoseconds> time = timeOfWords(m_words);
        if (time && *time <= m_run.trace->end()) {
            add("time " + timeText(*time), target::Time{*time});
        }
    }

    // By the whole name, or else "2" would name many.
    void sms()
    {
        const std::size_t count = m_run.index->agents().sms.size();
        for (std::size_t i = 0; i < count && m_words.size() > 1; ++i) {
            const std::string name = layout::smName(m_run, static_cast<std::int32_t>(i));
            if (wordsOf(name) == m_words) {
                add(name, target::Sm{static_cast<std::int32_t>(i)});
            }
        }
    }

    void blocks()
    {
        const auto& operands = m_run.trace->info().operands;
        const std::optional<IndexedName> place =
            m_words.size() == 1 ? parseIndexedName(m_words.front(), '(', ')') : std::nullopt;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            std::optional<std::int64_t> block;
            if (place) {
                block = lower(operands[i].name) == place->name
                            ? rowMajorNumber(operands[i].blockCounts, place->index)
                            : std::nullopt;
            } else if (hasAll(operands[i].name, m_words)) {
                block = 0;
            }
            if (block) {
                add(trace::blockName(operands[i], *block),
                    target::Block{static_cast<std::int64_t>(i), *block});
            }
        }
    }

    void findings()
    {
        const std::vector<trace::Finding>& all = m_run.trace->info().findings;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::string title = layout::findingTitle(all[i].kind);
            if (hasAll(title + " " + all[i].message, m_words)) {
                add(title + ": " + all[i].message, target::Finding{static_cast<std::int64_t>(i)});
            }
        }
    }

    void addLine(std::int64_t file, std::int64_t line, std::string_view text)
    {
        const std::size_t from = std::min(text.find_first_not_of(' '), text.size());
        add("line " + std::to_string(line) + ": " + std::string(text.substr(from)),
            target::SourceLine{file, line});
    }

    // "line 14", ":14", "attention.py:14", as far as the file is named.
    void lineOfNumber()
    {
        const std::string& last = m_words.back();
        const std::size_t colon = last.rfind(':');
        const bool isNamed = m_words.size() == 2 && m_words.front() == "line";
        if (!isNamed && (m_words.size() > 1 || colon == std::string::npos)) {
            return;
        }
        const std::optional<std::int64_t> line = number(isNamed ? last : last.substr(colon + 1));
        const std::string file = isNamed ? std::string() : last.substr(0, colon);
        const auto& files = m_run.trace->info().sources;
        for (std::size_t i = 0; line && *line > 0 && i < files.size(); ++i) {
            if (!lower(files[i].path).ends_with(file)) {
                continue;
            }
            visitLines(files[i].text, [&](std::int64_t at, std::string_view text) {
                if (at == *line) {
                    addLine(static_cast<std::int64_t>(i), at, text);
                }
                return at < *line;
            });
        }
    }

    void lines()
    {
        std::set<std::pair<std::int64_t, std::int64_t>> timed;
        for (const analysis::LineTime& time : m_run.lineTimes) {
            timed.emplace(time.line.file, time.line.line);
        }
        for (const bool takesTime : {true, false}) {
            const auto& files = m_run.trace->info().sources;
            for (std::size_t file = 0; file < files.size(); ++file) {
                linesOf(static_cast<std::int64_t>(file), files[file].text, timed, takesTime);
            }
        }
    }

    void linesOf(std::int64_t file, std::string_view text,
                 const std::set<std::pair<std::int64_t, std::int64_t>>& timed, bool takesTime)
    {
        visitLines(text, [&](std::int64_t line, std::string_view one) {
            if (timed.contains({file, line}) == takesTime && hasAll(one, m_words)) {
                addLine(file, line, one);
            }
            return m_found.size() < m_most;
        });
    }

    const layout::RunView& m_run;
    std::vector<std::string> m_words;
    std::size_t m_most;
    Picoseconds m_now;
    std::vector<Found> m_found;
};

} // namespace

std::vector<Found> search(const layout::RunView& run, std::string_view words, std::size_t most,
                          Picoseconds now)
{
    return Search(run, words, most, now).all();
}

} // namespace pallascope::navigation
