// One line of a journal, and the check of all of them. Pure text: journal.h holds the file and its
// lock.
#pragma once

#include <string>
#include <string_view>

#include "journal/journal.h"

namespace hyperloom {

// The framed line of `entry` with its '\n'. Text that is not UTF-8 becomes U+FFFD (and `entry.body`
// the same); Error(Internal) names a number that JSON cannot hold.
std::string frame_entry(Entry& entry, const std::string& prev);

// What the next entry must name as `prev`: 16 hex of the SHA-256 of the line without its '\n'.
std::string chain_hash(std::string_view line);

struct ParsedJournal {
  JournalContents contents;
  size_t good_bytes = 0;  // a torn tail begins here
  std::string last_hash;  // "" when there is no entry
};

// Errors as read_journal; `name` stands for the file in them.
ParsedJournal parse_journal(std::string_view bytes, const std::string& name);

}  // namespace hyperloom
