// Files: whole reads, atomic writes, temporary folders, our places on disk.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hyperloom {

namespace fs = std::filesystem;

std::string read_file(const fs::path& file);                          // Error(BadInput) names the file
// Writes beside the target, fsyncs, renames: a reader sees the old or the new content, never a part.
void write_file(const fs::path& file, std::string_view content);      // Error(Internal) on ENOSPC and the like
// The same for a file that others wrote: fsyncs `from` and renames it. Error(Internal).
void move_into_place(const fs::path& from, const fs::path& to);
// A tool's output says that the disk is full, or the disk of `folder` is.
bool disk_full(const fs::path& folder, std::string_view output);
void make_executable(const fs::path& file);
void make_folders(const fs::path& folder);                            // like mkdir -p, with a clear Error

fs::path cache_root();        // $HYPERLOOM_CACHE or $XDG_CACHE_HOME/hyperloom or ~/.cache/hyperloom
fs::path data_root();         // $HYPERLOOM_DATA or $XDG_DATA_HOME/hyperloom or ~/.local/share/hyperloom (sessions, recipes)
fs::path engines_root();      // where packs lie: $HYPERLOOM_ENGINES, beside the binary, or the source tree
fs::path own_program();       // the file that runs, for what we start as a child of our own

// A folder that goes with its owner.
class TempDir {
 public:
  explicit TempDir(std::string_view name = "hyperloom");
  ~TempDir();
  TempDir(TempDir&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TempDir(const TempDir&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace hyperloom
