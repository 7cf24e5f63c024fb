// Splits a line of C++ or of a printed program into the parts that readers tell apart by colour. It
// looks at one line at a time, which is good enough for showing code but not for compiling it.
#pragma once

#include "views/layout/scene/theme.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace pallascope::layout {

enum class TokenKind : std::uint8_t
{
    Space,
    Word,
    Keyword,
    Number,
    String,
    Comment,
    Mark
};

struct Token
{
    TokenKind kind = TokenKind::Space;
    std::string_view text; // points into the line
    bool operator==(const Token&) const = default;
};

// The texts of the tokens, joined, are the line again. `inComment` says whether the line begins
// inside a block comment; it is updated for the next line.
[[nodiscard]] std::vector<Token> tokens(std::string_view line, bool& inComment);
[[nodiscard]] std::vector<Token> tokens(std::string_view line);

[[nodiscard]] Role tokenRole(TokenKind kind);

} // namespace pallascope::layout
