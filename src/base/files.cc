#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/text.h"

namespace hyperloom {
namespace {

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

Error write_error(const fs::path& file, int error) {
  std::error_code ignored;
  const fs::space_info space = fs::space(folder_of(file), ignored);
  std::string what = "cannot write " + file.string() + ": " + std::strerror(error);
  if (!ignored) what += " (" + format_bytes(static_cast<double>(space.available)) + " free there)";
  const char* mend = error == ENOSPC || error == EDQUOT ? "free some space and run again"
                     : error == ENOENT                  ? "make the folder first"
                                       : "check the folder's owner, mode and mount options";
  return internal_error(what, mend);
}

constexpr uintmax_t kFullBytes = 64 << 20;  // less is left after a tool that wrote much: it filled the disk

// A rename is only durable once the folder is; some file systems refuse to sync folders (EINVAL).
void sync_folder_of(const fs::path& file) {
  Descriptor folder(::open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0 && ::fsync(folder.get()) != 0 && errno != EINVAL)
    throw write_error(file, errno);
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    content.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

fs::path root_from(const char* own, const char* xdg, const char* home_part) {
  if (const char* value = std::getenv(own); value && *value) return value;
  if (const char* value = std::getenv(xdg); value && *value == '/')
    return fs::path(value) / "hyperloom";
  const char* home = std::getenv("HOME");
  if (!home || !*home) {
    throw bad_input(std::string("neither ") + own + " nor HOME is set",
                    std::string("set ") + own + " to a folder that may be written");
  }
  return fs::path(home) / home_part / "hyperloom";
}

}  // namespace

std::string read_file(const fs::path& file) {
  const auto fail = [&](int error) {
    return bad_input("cannot read " + file.string() + ": " + std::strerror(error), "check the path and who may read it");
  };
  Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) throw fail(errno);
  std::string content;
  size_t used = 0;
  while (true) {  // sizes lie in /proc, so read until nothing comes
    if (content.size() - used < 4096)
      content.resize(content.size() < 65536 ? 65536 : content.size() * 2);
    const ssize_t count = ::read(in.get(), content.data() + used, content.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw fail(errno);
    if (count == 0) break;
    used += static_cast<size_t>(count);
  }
  content.resize(used);
  return content;
}

void write_file(const fs::path& file, std::string_view content) {
  static std::atomic<unsigned> serial{0};
  const fs::path part = folder_of(file) / fmt::format(".{}.{}.{}.part", file.filename().string(),
                                                      ::getpid(), serial.fetch_add(1));
  Descriptor out(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (out.get() < 0) throw write_error(file, errno);
  struct stat old{};
  if (::stat(file.c_str(), &old) == 0) (void)::fchmod(out.get(), old.st_mode & 07777);
  if (!write_all(out.get(), content) || ::fsync(out.get()) != 0 || !out.close() ||
      ::rename(part.c_str(), file.c_str()) != 0) {
    const int error = errno;
    ::unlink(part.c_str());
    throw write_error(file, error);
  }
  sync_folder_of(file);
}

void move_into_place(const fs::path& from, const fs::path& to) {
  Descriptor file(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0 || ::rename(from.c_str(), to.c_str()) != 0)
    throw write_error(to, errno);
  sync_folder_of(to);
}

bool disk_full(const fs::path& folder, std::string_view output) {
  for (const int error : {ENOSPC, EDQUOT})
    if (output.find(std::strerror(error)) != std::string_view::npos) return true;
  std::error_code unknown;
  const fs::space_info space = fs::space(folder, unknown);
  return !unknown && space.available < kFullBytes;
}

void make_executable(const fs::path& file) {
  std::error_code error;
  fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add, error);
  if (error)
    throw internal_error("cannot make " + file.string() + " executable: " + error.message());
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    throw internal_error("cannot make the folder " + folder.string() + ": " +
                             (error ? error.message() : "a file is in the way"),
                         "choose a folder that may be written, or remove what is in the way");
  }
}

fs::path cache_root() { return root_from("HYPERLOOM_CACHE", "XDG_CACHE_HOME", ".cache"); }
fs::path data_root() { return root_from("HYPERLOOM_DATA", "XDG_DATA_HOME", ".local/share"); }

fs::path engines_root() {
  if (const char* value = std::getenv("HYPERLOOM_ENGINES"); value && *value) return value;
  const fs::path binary = own_program().parent_path();
  for (const fs::path& place :
       {binary / ".." / "share" / "hyperloom" / "engines", binary / "engines"}) {
    std::error_code error;
    if (fs::is_directory(place, error)) return place.lexically_normal();
  }
  return fs::path(HYPERLOOM_SOURCE_DIR) / "engines";
}

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

TempDir::TempDir(std::string_view name) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  std::string pattern =
      ((error ? fs::path("/tmp") : base) / (std::string(name) + "-XXXXXX")).string();
  if (!::mkdtemp(pattern.data())) {
    throw internal_error("cannot make a temporary folder " + pattern + ": " + std::strerror(errno),
                         "set TMPDIR to a folder that may be written");
  }
  path_ = pattern;
}

TempDir::~TempDir() {
  if (path_.empty()) return;
  std::error_code ignored;  // what cannot be removed stays for the system's own cleaning of /tmp
  fs::remove_all(path_, ignored);
}

}  // namespace hyperloom
