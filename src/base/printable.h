// Text of others (logs, servers, prompts) for readers and terminals.
#pragma once

#include <string>
#include <string_view>

namespace hyperloom {

// Bytes that any reader can show: invalid UTF-8 and control characters (less tab and newline)
// become U+FFFD, and so do the marks that reorder text (bidi overrides): logs and prompts are
// hostile.
std::string printable(std::string_view text);
// Each byte that is no part of well-formed UTF-8 becomes U+FFFD, the rest stays: what JSON can hold.
std::string valid_utf8(std::string_view text);
// printable() on one line: newlines and tabs become blanks; at most `most` characters.
std::string one_line(std::string_view text, size_t most = std::string::npos);

}  // namespace hyperloom
