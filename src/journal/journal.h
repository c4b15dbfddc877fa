// The journal file (docs/formats.md): an append-only list of framed, chained JSON entries; the only truth (L2).
//   line := length(8 hex of the JSON bytes) ' ' crc32c(8 hex of the JSON bytes) ' ' json '\n'
//   json := {v, seq, prev, boot_id, mono_ns, wall, type, id, body}; prev = first 16 hex of SHA-256 of the line before ("" for the first)
// One writer, held by flock. Knows framing and order only, not what entries mean.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace hyperloom {

constexpr int kJournalVersion = 1;

struct Entry {
  uint64_t seq = 0;
  std::string boot_id, wall, type, id;
  int64_t mono_ns = 0;
  std::shared_ptr<const Json> body;      // shared: folds and readers look at the same immutable value
};

struct JournalContents {
  std::vector<Entry> entries;
  std::string notice;                    // non-empty when a torn tail was dropped
};

// Reads without locking (status and report do so while a session runs). Refuses a bad line that is not the
// last (shows its number and offset), a broken chain, and an unknown type of a newer `v`.
JournalContents read_journal(const std::filesystem::path& file);

class Journal {
 public:
  // Creates or opens for writing: takes the lock (Error(BadInput) names the holder's pid when another session
  // has it), cuts a torn tail off. `contents()` is what was there.
  static std::unique_ptr<Journal> open(const std::filesystem::path& file, const Clock& clock);
  ~Journal();
  const JournalContents& contents() const;

  // Frames, chains, writes; fsyncs when `durable`, else within a second of the next append. A failed write
  // (disk full) restores the file to its old length and throws Error(Internal) with path and free bytes.
  Entry append(const std::string& type, const std::string& id, Json body, bool durable);

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The live process that holds the journal for writing; 0 = none.
pid_t journal_holder(const std::filesystem::path& file);

// Bulk data beside the journal: blobs/<sha256>. Returns the hash.
std::string store_blob(const std::filesystem::path& session_dir, std::string_view bytes);
std::string load_blob(const std::filesystem::path& session_dir, const std::string& sha256);   // checks the hash

}  // namespace hyperloom
