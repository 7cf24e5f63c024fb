#include "core/base/table.h"

#include <algorithm>

namespace pallascope {

namespace {

// Reads one row after another; m_at is just past what was read.
class CsvReader
{
public:
    CsvReader(std::string_view text, const std::string& name)
        : m_text(text)
        , m_name(name)
    {
        constexpr std::string_view kMark = "\xef\xbb\xbf"; // some spreadsheets begin with it
        m_at = text.starts_with(kMark) ? kMark.size() : 0;
    }

    [[nodiscard]] bool isAtEnd() const { return m_at == m_text.size(); }

    Result<CsvRow> row()
    {
        CsvRow row{m_line, {}};
        bool more = true;
        while (more) {
            Result<std::string> cell = peek() == '"' ? quoted() : plain();
            if (!cell) {
                return cell.error();
            }
            row.cells.push_back(std::move(*cell));
            more = peek() == ',';
            m_at += more ? 1U : 0U;
        }
        m_at += peek() == '\r' ? 1U : 0U;
        if (!isAtEnd() && peek() != '\n') {
            return wrong("has \"" + std::string(1, peek())
                         + "\" behind a cell's quote; expected a comma or the end of the line");
        }
        m_at += isAtEnd() ? 0U : 1U;
        ++m_line;
        return row;
    }

private:
    // NUL at the end of the text. A cell must not contain NUL either.
    [[nodiscard]] char peek() const { return isAtEnd() ? '\0' : m_text[m_at]; }

    [[nodiscard]] Error wrong(const std::string& what) const
    {
        return userError(m_name + ", line " + std::to_string(m_line) + " " + what + ".");
    }

    Result<std::string> plain()
    {
        const std::size_t begin = m_at;
        while (!isAtEnd() && peek() != ',' && peek() != '\n'
               && !m_text.substr(m_at).starts_with("\r\n")) {
            if (peek() == '"') {
                return wrong("has a quote in the middle of a cell; put quotes around the whole "
                             "cell, and double each one in it");
            }
            if (peek() == '\0') {
                return wrong("has a byte 0, which no text has");
            }
            ++m_at;
        }
        return std::string(m_text.substr(begin, m_at - begin));
    }

    Result<std::string> quoted()
    {
        std::string cell;
        const std::int64_t begin = m_line;
        for (++m_at; !isAtEnd(); ++m_at) {
            const char c = m_text[m_at];
            if (c == '"') {
                ++m_at;
                if (peek() != '"') {
                    return cell;
                }
            }
            m_line += c == '\n' ? 1 : 0;
            cell += c;
        }
        m_line = begin;
        return wrong("begins a cell with a quote that nothing closes");
    }

    std::string_view m_text;
    const std::string& m_name;
    std::size_t m_at = 0;
    std::int64_t m_line = 1;
};

} // namespace

Result<std::vector<CsvRow>> parseCsv(std::string_view text, const std::string& name)
{
    std::vector<CsvRow> rows;
    CsvReader reader(text, name);
    while (!reader.isAtEnd()) {
        Result<CsvRow> row = reader.row();
        if (!row) {
            return row.error();
        }
        if (row->cells.size() == 1 && row->cells.front().empty()) {
            continue;
        }
        const std::string who = name + ", line " + std::to_string(row->line);
        if (!rows.empty() && row->cells.size() != rows.front().cells.size()) {
            return userError(who + " has " + std::to_string(row->cells.size()) + " cells; expected "
                             + std::to_string(rows.front().cells.size())
                             + ", as in the first line.");
        }
        if (rows.size() == kMostCsvRows) {
            return userError(who + " is one line too many; " + std::to_string(kMostCsvRows)
                             + " are the most.");
        }
        rows.push_back(std::move(*row));
    }
    return rows;
}

std::string csvCell(const std::string& cell)
{
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
        return cell;
    }
    std::string text = "\"";
    for (const char c : cell) {
        text += c == '"' ? "\"\"" : std::string(1, c);
    }
    return text + "\"";
}

std::string alignedText(const std::vector<std::vector<std::string>>& rows)
{
    const auto width = [](const std::string& text) { // in characters of UTF-8, not in bytes
        return static_cast<std::size_t>(
            std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xc0') != '\x80'; }));
    };
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], width(row[i]));
        }
    }
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            text += i + 1 < row.size() ? std::string(widths[i] - width(row[i]) + 2, ' ') : "";
        }
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

} // namespace pallascope
