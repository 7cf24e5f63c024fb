// Splits one line of C++ or of a printed program into what a reader tells apart by colour. A line
// at a time: good enough for showing code, not for compiling it.
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
    std::string_view text; // into the line
    bool operator==(const Token&) const = default;
};

// The texts of the tokens joined give the line back. `inComment` says whether the line starts
// inside a block comment, and is updated for the next line.
[[nodiscard]] std::vector<Token> tokens(std::string_view line, bool& inComment);
[[nodiscard]] std::vector<Token> tokens(std::string_view line);

[[nodiscard]] Role tokenRole(TokenKind kind);

} // namespace pallascope::layout
