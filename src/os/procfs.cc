#include "os/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <set>

namespace hyperloom {
namespace {

// The whole of a small /proc file; empty when it cannot be read (the process may just have ended).
std::string slurp(const std::string& path) {
  std::string content;
  const Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  ssize_t count = 0;
  while (in && (count = ::read(in.get(), buffer, sizeof buffer)) > 0) {
    content.append(buffer, static_cast<size_t>(count));
  }
  return content;
}

// The numeric entries of a folder such as /proc or /proc/PID/task.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), &::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    pid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

// Blank-separated unsigned numbers; stops at what is none.
std::vector<uint64_t> parse_numbers(std::string_view text) {
  std::vector<uint64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    while (at < end && (*at == ' ' || *at == '\n')) ++at;
    const bool negative =
        at < end && *at == '-';  // tty_nr and priority may be; nobody here reads them
    uint64_t number = 0;
    const auto [next, error] = std::from_chars(at + negative, end, number);
    if (error != std::errc()) return numbers;
    numbers.push_back(number);
    at = next;
  }
}

}  // namespace

double ticks_per_second() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

std::optional<ProcStat> parse_stat(std::string_view line) {
  // "pid (name) S ppid ...": the name may hold blanks and brackets, so fields count from the last
  // one.
  const size_t open = line.find(" ("), close = line.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  if (close + 4 > line.size()) return {};
  const std::vector<uint64_t> head = parse_numbers(line.substr(0, open));
  const std::vector<uint64_t> rest = parse_numbers(line.substr(close + 3));  // rest[0] is field 4
  if (head.size() != 1 || rest.size() < 19) return {};
  ProcStat stat;
  stat.pid = static_cast<pid_t>(head[0]);
  stat.name = std::string(line.substr(open + 2, close - open - 2));
  stat.state = line[close + 2];
  stat.parent = static_cast<pid_t>(rest[0]);
  stat.group = static_cast<pid_t>(rest[1]);
  stat.session = static_cast<pid_t>(rest[2]);
  stat.cpu_ticks = rest[10] + rest[11];
  stat.reaped_ticks = rest[12] + rest[13];
  stat.start_ticks = rest[18];
  return stat;
}

std::optional<ProcStat> read_stat(pid_t pid) { return parse_stat(slurp(folder_of(pid) + "/stat")); }

std::vector<ProcStat> all_processes() {
  std::vector<ProcStat> all;
  for (const pid_t pid : numbers_in("/proc")) {
    if (auto stat = read_stat(pid)) all.push_back(*stat);
  }
  return all;
}

std::vector<ProcStat> descendants(const std::vector<ProcStat>& all, pid_t root) {
  std::multimap<pid_t, const ProcStat*> by_parent;
  std::vector<ProcStat> found;
  for (const ProcStat& stat : all) {
    by_parent.emplace(stat.parent, &stat);
    if (stat.pid == root) found.push_back(stat);
  }
  std::set<pid_t> seen = {root};  // a snapshot is not atomic: pid reuse could close a ring
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const auto [first, last] = by_parent.equal_range(open.back());
    open.pop_back();
    for (auto child = first; child != last; ++child) {
      if (!seen.insert(child->second->pid).second) continue;
      found.push_back(*child->second);
      open.push_back(child->second->pid);
    }
  }
  return found;
}

std::vector<ProcStat> read_descendants(pid_t root) {
  static const bool has_child_lists =
      ::access("/proc/thread-self/children", R_OK) == 0;  // CONFIG_PROC_CHILDREN
  if (!has_child_lists) return descendants(all_processes(), root);
  std::vector<ProcStat> found;
  std::set<pid_t> seen = {root};
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    if (auto stat = read_stat(pid)) found.push_back(*stat);
    const std::string tasks = folder_of(pid) + "/task";
    for (const pid_t thread : numbers_in(tasks)) {  // each thread lists the children that it made
      for (const uint64_t child :
           parse_numbers(slurp(tasks + "/" + std::to_string(thread) + "/children"))) {
        if (seen.insert(static_cast<pid_t>(child)).second)
          open.push_back(static_cast<pid_t>(child));
      }
    }
  }
  return found;
}

std::optional<std::map<std::string, std::string>> read_environment(pid_t pid) {
  const std::string block = slurp(folder_of(pid) + "/environ");
  std::map<std::string, std::string> variables;
  for (size_t at = 0; at < block.size();) {
    const size_t end = std::min(block.find('\0', at), block.size());
    const size_t equals = block.find('=', at);
    if (equals < end && equals > at) {
      variables.emplace(block.substr(at, equals - at), block.substr(equals + 1, end - equals - 1));
    }
    at = end + 1;
  }
  if (variables.empty()) return {};
  return variables;
}

std::map<pid_t, ThreadTime> read_thread_times(pid_t pid) {
  std::map<pid_t, ThreadTime> times;
  const std::string tasks = folder_of(pid) + "/task";
  for (const pid_t thread : numbers_in(tasks)) {
    const auto fields = parse_numbers(slurp(tasks + "/" + std::to_string(thread) + "/schedstat"));
    if (fields.size() >= 2) times[thread] = {fields[0], fields[1]};
  }
  return times;
}

bool has_open(pid_t pid, const std::filesystem::path& file) {
  struct stat wanted{}, found{};
  if (::stat(file.c_str(), &wanted) != 0) return false;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd/";
  for (const pid_t number : numbers_in(folder)) {
    if (::stat((folder + std::to_string(number)).c_str(), &found) == 0 &&
        found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino)
      return true;
  }
  return false;
}

Descriptor open_process(pid_t pid, uint64_t start_ticks) {
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return {};
  // Checked after opening: from here on the descriptor cannot come to mean another process.
  const auto stat = read_stat(pid);
  if (!stat || stat->start_ticks != start_ticks) return {};
  return process;
}

bool send_signal(pid_t pid, uint64_t start_ticks, int signal) {
  const Descriptor process = open_process(pid, start_ticks);
  return process && ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

}  // namespace hyperloom
