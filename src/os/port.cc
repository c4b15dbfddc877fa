// Port questions of os/child.h.
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/text.h"
#include "os/child.h"
#include "base/descriptor.h"
#include "os/procfs.h"

namespace hyperloom {
namespace {

// Addresses as /proc/net prints them, 32-bit words in host order: any and loopback, plain and
// v4-in-v6.
bool is_local(const std::string& address) {
  if (address.size() == 8) return address == "00000000" || ends_with(address, "7F");
  return address == std::string(32, '0') || address == "00000000000000000000000001000000" ||
         (starts_with(address, "0000000000000000FFFF0000") && ends_with(address, "7F"));
}

void add_listening_inodes(const char* table, int port, std::set<std::string>& inodes) {
  std::ifstream in(table);
  std::string line;
  while (std::getline(in, line)) {
    // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
    const auto fields = split_words(line);
    if (fields.size() < 10 || fields[3] != "0A") continue;  // 0A = LISTEN
    const size_t colon = fields[1].rfind(':');
    if (colon == std::string::npos || !is_local(fields[1].substr(0, colon))) continue;
    if (std::strtol(fields[1].c_str() + colon + 1, nullptr, 16) == port) inodes.insert(fields[9]);
  }
}

bool holds_one_of(pid_t pid, const std::set<std::string>& sockets) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), &::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    char target[64];
    const ssize_t size = ::readlinkat(::dirfd(dir.get()), entry->d_name, target, sizeof target);
    if (size > 0 && sockets.count(std::string(target, static_cast<size_t>(size)))) return true;
  }
  return false;
}

}  // namespace

Listener port_listener(int port) {
  std::set<std::string> inodes, sockets;
  add_listening_inodes("/proc/net/tcp", port, inodes);
  add_listening_inodes("/proc/net/tcp6", port, inodes);
  Listener listener;
  if (inodes.empty()) return listener;
  listener.listening = true;
  for (const std::string& inode : inodes) sockets.insert("socket:[" + inode + "]");
  // A socket may be shared with forked workers; the oldest holder is who opened it.
  uint64_t oldest = 0;
  for (const ProcStat& stat : all_processes()) {
    if (listener.pid != 0 && stat.start_ticks >= oldest) continue;
    if (!holds_one_of(stat.pid, sockets)) continue;
    listener.pid = stat.pid;
    oldest = stat.start_ticks;
  }
  return listener;
}

int free_port() {
  const Descriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!probe || ::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw internal_error(std::string("no free TCP port on 127.0.0.1: ") + std::strerror(errno));
  }
  return ntohs(address.sin_port);
}

}  // namespace hyperloom
