// Checks text and XML character by character.
#include "tests/fuzz/well_formed.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace pallascope::fuzz {

namespace {

struct Character
{
    char32_t code = 0;
    std::size_t length = 0;
};

// The first character of a text that is not empty; nullopt if it is not UTF-8.
std::optional<Character> firstCharacter(std::string_view text)
{
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t length = at(0) < 0x80   ? 1
                               : at(0) < 0xc2 ? 0
                               : at(0) < 0xe0 ? 2
                               : at(0) < 0xf0 ? 3
                               : at(0) < 0xf5 ? 4
                                              : 0;
    if (length == 0 || length > text.size()) {
        return std::nullopt;
    }
    constexpr std::array<unsigned, 5> kOfFirst{0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t code = at(0) & kOfFirst[length];
    for (std::size_t i = 1; i < length; ++i) {
        if ((at(i) & 0xc0U) != 0x80U) {
            return std::nullopt;
        }
        code = code << 6U | (at(i) & 0x3fU);
    }
    constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    const bool isSurrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < kLeast[length] || isSurrogate || code > 0x10ffff) {
        return std::nullopt;
    }
    return Character{code, length};
}

bool isHidden(char32_t code)
{
    const bool isControl =
        (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code <= 0x9f);
    const bool turnsText = code == 0x061c || code == 0x200e || code == 0x200f
                           || (code >= 0x2028 && code <= 0x202e)
                           || (code >= 0x2066 && code <= 0x2069);
    return isControl || turnsText;
}

// The characters that XML 1.0 allows in production [2].
bool isXmlCharacter(char32_t code)
{
    return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code <= 0xd7ff)
           || (code >= 0xe000 && code <= 0xfffd) || code >= 0x10000;
}

bool isSpace(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool isNameCharacter(char c) // the characters in the names that SVG uses
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
           || c == ':' || c == '_';
}

class XmlReader
{
public:
    explicit XmlReader(std::string_view text)
        : m_text(text)
    {}

    [[nodiscard]] std::string fault()
    {
        bool begun = false;
        while (m_fault.empty() && !m_text.empty()) {
            if (m_text.front() == '<') {
                if (begun && m_open.empty()) {
                    return "a second element";
                }
                begun = true;
                tag();
            } else if (m_open.empty()) {
                outside();
            } else {
                content('<');
            }
        }
        if (!m_fault.empty()) {
            return m_fault;
        }
        return m_open.empty() ? (begun ? "" : "no element")
                              : "\"" + std::string(m_open.back()) + "\" is not closed";
    }

private:
    void fail(const std::string& what)
    {
        if (m_fault.empty()) {
            m_fault = what + " before \"" + std::string(m_text.substr(0, 40)) + "\"";
        }
    }

    void outside()
    {
        if (!isSpace(m_text.front())) {
            fail("text outside of the element");
        }
        spaces();
    }

    void spaces()
    {
        while (!m_text.empty() && isSpace(m_text.front())) {
            m_text.remove_prefix(1);
        }
    }

    [[nodiscard]] bool skip(std::string_view word)
    {
        const bool starts = m_text.starts_with(word);
        m_text.remove_prefix(starts ? word.size() : 0);
        return starts;
    }

    std::string_view name()
    {
        std::size_t length = 0;
        while (length < m_text.size() && isNameCharacter(m_text[length])) {
            ++length;
        }
        const std::string_view name = m_text.substr(0, length);
        if (name.empty() || name.front() == '-' || (name.front() >= '0' && name.front() <= '9')) {
            fail("no name");
        }
        m_text.remove_prefix(length);
        return name;
    }

    void entity()
    {
        for (const char* word : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"}) {
            if (skip(word)) {
                return;
            }
        }
        fail("an unknown entity");
    }

    // Reads characters up to `end`.
    void content(char end)
    {
        while (m_fault.empty() && !m_text.empty() && m_text.front() != end) {
            if (m_text.front() == '&') {
                entity();
                continue;
            }
            const std::optional<Character> one = firstCharacter(m_text);
            if (!one || !isXmlCharacter(one->code) || one->code == '<') {
                fail("no character of XML");
                return;
            }
            if (m_text.starts_with("]]>")) {
                fail("the end of a section that is none");
            }
            m_text.remove_prefix(one->length);
        }
    }

    void attributes()
    {
        std::vector<std::string_view> names;
        while (m_fault.empty() && !m_text.starts_with(">") && !m_text.starts_with("/>")) {
            const std::size_t before = m_text.size();
            spaces();
            if (m_text.starts_with(">") || m_text.starts_with("/>")) {
                return;
            }
            if (m_text.size() == before) {
                fail("no space");
            }
            const std::string_view one = name();
            if (std::find(names.begin(), names.end(), one) != names.end()) {
                fail("\"" + std::string(one) + "\" twice");
            }
            names.push_back(one);
            if (!skip("=\"")) {
                fail("no value");
            }
            content('"');
            if (!skip("\"")) {
                fail("no end of a value");
            }
        }
    }

    void tag()
    {
        if (skip("</")) {
            const std::string_view one = name();
            spaces();
            if (m_open.empty() || m_open.back() != one || !skip(">")) {
                fail("an end of \"" + std::string(one) + "\", which is not open");
                return;
            }
            m_open.pop_back();
            return;
        }
        (void)skip("<");
        const std::string_view one = name();
        attributes();
        if (skip("/>")) {
            return;
        }
        if (!skip(">")) {
            fail("no end of a tag");
        }
        m_open.push_back(one);
    }

    std::string_view m_text; // what has not been read yet
    std::vector<std::string_view> m_open;
    std::string m_fault;
};

} // namespace

std::string faultOfText(std::string_view text)
{
    while (!text.empty()) {
        const std::optional<Character> one = firstCharacter(text);
        if (!one) {
            return "no UTF-8";
        }
        if (isHidden(one->code)) {
            return fmt::format("the character U+{:04X}", static_cast<unsigned>(one->code));
        }
        text.remove_prefix(one->length);
    }
    return "";
}

std::string faultOfXml(std::string_view text)
{
    return XmlReader(text).fault();
}

} // namespace pallascope::fuzz
