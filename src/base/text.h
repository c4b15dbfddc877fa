// Small string helpers that the standard library of GCC 12 lacks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hyperloom {

std::vector<std::string> split(std::string_view text, char separator);       // keeps empty parts
std::vector<std::string> split_words(std::string_view text);                 // by blanks, no empty parts
std::string trim(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);
std::string replace_all(std::string text, std::string_view from, std::string_view to);

// The element of `known` nearest to `word` by edit distance, or "" when none is within half its length.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// For error messages: " (did you mean `x`?)" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// `text` in single quotes for a POSIX shell; left bare when nothing needs quoting.
std::string shell_quote(std::string_view text);
std::string html_escape(std::string_view text);

// Strips ANSI escapes, splits at CR and LF, caps each line at `max_line` bytes (case e07).
std::vector<std::string> clean_log_lines(std::string_view log, size_t max_line = 2000);

std::string format_duration(double seconds);                                  // "12 s", "3 min 20 s"
std::string format_bytes(double bytes);                                       // "98.4 MB"


}  // namespace hyperloom


