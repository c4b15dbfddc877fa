#include "journal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "journal/frame.h"

namespace hyperloom {
namespace {

constexpr double kSyncWithin = 1;  // s; what a power cut may take from entries that are not durable

// For people only: the lock itself is the flock, which dies with its holder.
fs::path lock_note(const fs::path& file) { return fs::path(file).replace_extension(".lock.txt"); }

std::string holder(const fs::path& file) {
  try {
    const std::string pid = trim(read_file(lock_note(file)));
    return pid.empty() ? "another process" : "process " + pid;
  } catch (const Error&) {
    return "another process";
  }
}

}  // namespace

pid_t journal_holder(const fs::path& file) {
  Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0 || ::flock(in.get(), LOCK_SH | LOCK_NB) == 0)
    return 0;  // the descriptor's end unlocks
  try {
    return static_cast<pid_t>(std::stol(read_file(lock_note(file))));
  } catch (const std::exception&) {
    return 0;
  }
}

namespace {

void sync_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  Descriptor in(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (in.get() >= 0) ::fsync(in.get());
}

// 0 or errno.
int write_at(int fd, std::string_view bytes, off_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<size_t>(count));
    offset += count;
  }
  return 0;
}

}  // namespace

struct Journal::Impl {
  Impl(const fs::path& file, const Clock& clock, int fd) : file(file), clock(clock), fd(fd) {}
  ~Impl() {
    if (unsynced_since >= 0) ::fdatasync(fd.get());
    if (locked) ::unlink(lock_note(file).c_str());  // before the lock goes with the descriptor
  }

  Error write_error(const char* doing, int error) const {
    std::error_code ignored;
    const fs::space_info space = fs::space(file, ignored);
    std::string what =
        fmt::format("cannot {} the journal {}: {}", doing, file.string(), std::strerror(error));
    if (!ignored) what += fmt::format(" ({} bytes free there)", space.available);
    return internal_error(
        what, "make space, then `hyperloom resume`: everything up to the last entry is kept");
  }

  // Back to the last whole entry. When even that fails the next reader cuts the torn tail.
  void restore() {
    if (::ftruncate(fd.get(), static_cast<off_t>(length)) != 0) broken = true;
  }

  fs::path file;
  const Clock& clock;
  Descriptor fd;
  bool locked = false;
  JournalContents contents;
  uint64_t next_seq = 1;
  size_t length = 0;
  std::string last_hash;
  double unsynced_since = -1;
  bool broken = false;  // the file may not be what we think: refuse to go on
};

JournalContents read_journal(const fs::path& file) {
  return parse_journal(read_file(file), file.string()).contents;
}

std::unique_ptr<Journal> Journal::open(const fs::path& file, const Clock& clock) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0)
    throw bad_input(fmt::format("cannot open the journal {} for writing: {}", file.string(),
                                std::strerror(errno)),
                    "check that the session's folder exists, is yours and has space");
  auto impl = std::make_unique<Impl>(file, clock, fd);
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) throw impl->write_error("lock", errno);
    throw bad_input(fmt::format("{} is in use by {}", file.string(), holder(file)),
                    "wait for it, or `hyperloom stop` it; `status` and `report` work meanwhile");
  }
  impl->locked = true;
  {
    Descriptor note(
        ::open(lock_note(file).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    const std::string pid = std::to_string(::getpid()) + "\n";
    // A full disk may refuse the note; the lock holds without it.
    if (note.get() >= 0) write_at(note.get(), pid, 0);
  }
  const std::string bytes = read_file(file);
  ParsedJournal parsed = parse_journal(bytes, file.string());
  impl->length = parsed.good_bytes;
  if (parsed.good_bytes < bytes.size()) {
    impl->restore();
    if (impl->broken || ::fdatasync(fd) != 0)
      throw impl->write_error("cut the torn tail of", errno);
  }
  if (bytes.empty()) sync_folder(file);
  impl->next_seq = parsed.contents.entries.size() + 1;
  impl->last_hash = std::move(parsed.last_hash);
  impl->contents = std::move(parsed.contents);
  return std::unique_ptr<Journal>(new Journal(std::move(impl)));
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() = default;
const JournalContents& Journal::contents() const { return impl_->contents; }

Entry Journal::append(const std::string& type, const std::string& id, Json body, bool durable) {
  Impl& my = *impl_;
  if (my.broken)
    throw internal_error(
        "the journal " + my.file.string() + " failed before and takes no more entries",
        "`hyperloom resume` the session: it checks the file first");
  const double now = my.clock.mono_s();
  Entry entry;
  entry.seq = my.next_seq;
  entry.boot_id = my.clock.boot_id();
  entry.mono_ns = std::llround(now * 1e9);
  entry.wall = my.clock.wall();
  entry.type = type;
  entry.id = id;
  entry.body = std::make_shared<const Json>(std::move(body));
  const std::string line = frame_entry(entry, my.last_hash);

  if (const int error = write_at(my.fd.get(), line, static_cast<off_t>(my.length)); error != 0) {
    const Error failure = my.write_error("write", error);
    my.restore();
    throw failure;
  }
  if (durable || (my.unsynced_since >= 0 && now - my.unsynced_since >= kSyncWithin)) {
    if (::fdatasync(my.fd.get()) != 0) {
      const Error failure = my.write_error("save", errno);
      // After a failed fsync nobody knows what the disk holds, not even of earlier entries.
      my.restore();
      my.broken = true;
      throw failure;
    }
    my.unsynced_since = -1;
  } else if (my.unsynced_since < 0) {
    my.unsynced_since = now;
  }
  my.length += line.size();
  my.last_hash = chain_hash(std::string_view(line).substr(0, line.size() - 1));
  ++my.next_seq;
  return entry;
}

}  // namespace hyperloom
