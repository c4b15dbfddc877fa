#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "journal/journal.h"

namespace hyperloom {
namespace {

// The name comes from a file: it must not lead anywhere else.
bool is_hash(const std::string& text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

std::string store_blob(const fs::path& session_dir, std::string_view bytes) {
  const std::string hash = sha256_hex(bytes);
  const fs::path folder = session_dir / "blobs", file = folder / hash;
  std::error_code absent;
  if (fs::file_size(file, absent) == bytes.size() && !absent) return hash;
  make_folders(folder);
  write_file(file, bytes);
  return hash;
}

std::string load_blob(const fs::path& session_dir, const std::string& sha256) {
  if (!is_hash(sha256)) throw bad_input("`" + sha256 + "` is not a blob's name (64 hex digits)");
  const fs::path file = session_dir / "blobs" / sha256;
  std::string bytes = read_file(file);
  if (sha256_hex(bytes) != sha256)
    throw bad_input(
        "damaged blob " + file.string() + ": its content does not have the hash in its name",
        "restore it from a copy of the session's folder");
  return bytes;
}

}  // namespace hyperloom
