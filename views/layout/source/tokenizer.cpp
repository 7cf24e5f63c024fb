#include "views/layout/source/tokenizer.h"

#include <algorithm>
#include <array>

namespace pallascope::layout {

namespace {

// The C++ keywords that control flow or declare, and the words that structure a printed program.
constexpr std::array<std::string_view, 42> kKeywords = {
    "auto",      "bool",     "break",   "case",     "class",  "cond",   "const",
    "constexpr", "continue", "default", "do",       "double", "else",   "enum",
    "false",     "float",    "for",     "if",       "in",     "inline", "int",
    "namespace", "nullptr",  "out",     "pipeline", "return", "scan",   "scratch",
    "static",    "struct",   "switch",  "template", "this",   "true",   "typename",
    "using",     "void",     "while",   "lambda",   "let",    "jaxpr",  "fori_loop"};

bool isWordStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'
           || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isSpace(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// The length of the string or character literal at the start of `text`.
std::size_t literalLength(std::string_view text)
{
    const char quote = text[0];
    std::size_t i = 1;
    while (i < text.size() && text[i] != quote) {
        i += text[i] == '\\' && i + 1 < text.size() ? 2U : 1U;
    }
    return std::min(i + 1, text.size());
}

template<class Predicate>
std::size_t lengthWhile(std::string_view text, Predicate predicate)
{
    const auto end = std::find_if_not(text.begin(), text.end(), predicate);
    return static_cast<std::size_t>(end - text.begin());
}

Token firstToken(std::string_view text, bool& inComment)
{
    if (inComment || text.substr(0, 2) == "/*") {
        const std::size_t end = text.find("*/", inComment ? 0 : 2);
        inComment = end == std::string_view::npos;
        return {TokenKind::Comment, text.substr(0, inComment ? text.size() : end + 2)};
    }
    const char c = text[0];
    if (text.substr(0, 2) == "//") {
        return {TokenKind::Comment, text};
    }
    if (isSpace(c)) {
        return {TokenKind::Space, text.substr(0, lengthWhile(text, isSpace))};
    }
    if (c == '"' || c == '\'') {
        return {TokenKind::String, text.substr(0, literalLength(text))};
    }
    if (isDigit(c)) {
        const auto inNumber = [](char d) {
            return isDigit(d) || isWordStart(d) || d == '.' || d == '\'';
        };
        return {TokenKind::Number, text.substr(0, lengthWhile(text, inNumber))};
    }
    if (isWordStart(c)) {
        const auto inWord = [](char d) { return isWordStart(d) || isDigit(d); };
        const std::string_view word = text.substr(0, lengthWhile(text, inWord));
        const bool keyword = std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
        return {keyword ? TokenKind::Keyword : TokenKind::Word, word};
    }
    return {TokenKind::Mark, text.substr(0, 1)};
}

} // namespace

std::vector<Token> tokens(std::string_view line, bool& inComment)
{
    std::vector<Token> result;
    while (!line.empty()) {
        // Each mark stays a token of its own. Joined, "==" or "<-" would be drawn as one ligature
        // of the font.
        const Token token = firstToken(line, inComment);
        result.push_back(token);
        line.remove_prefix(token.text.size());
    }
    return result;
}

std::vector<Token> tokens(std::string_view line)
{
    bool inComment = false;
    return tokens(line, inComment);
}

Role tokenRole(TokenKind kind)
{
    switch (kind) {
    case TokenKind::Keyword:
        return Role::Mxu;
    case TokenKind::Number:
        return Role::Focus;
    case TokenKind::String:
        return Role::Ok;
    case TokenKind::Comment:
        return Role::Text3;
    case TokenKind::Mark:
        return Role::Text2;
    case TokenKind::Space:
    case TokenKind::Word:
        return Role::Text;
    }
    return Role::Text;
}

} // namespace pallascope::layout
