#include "load/descriptors.h"

#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <climits>
#include <string>

#include "base/error.h"

namespace hyperloom {
namespace {

constexpr int kSpare = 16;   // the resolver, certificates, result files

int open_now() {
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return 64;
  int count = -3;            // ".", ".." and the folder itself
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

rlim_t raised(rlim_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  if (limit.rlim_cur >= wanted) return limit.rlim_cur;
  const rlimit higher{std::min(wanted, limit.rlim_max), limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &higher) == 0 ? higher.rlim_cur : limit.rlim_cur;
}

}  // namespace

int connections_possible(int wanted) {
  const int taken = open_now() + kSpare;
  const rlim_t limit = raised(wanted > 0 ? static_cast<rlim_t>(wanted) + static_cast<rlim_t>(taken) : RLIM_INFINITY);
  return limit > static_cast<rlim_t>(INT_MAX) ? INT_MAX - taken : static_cast<int>(limit) - taken;
}

void require_connections(int clients, const char* flag) {
  const int possible = connections_possible(clients);
  if (possible >= clients) return;
  const int limit = possible + open_now() + kSpare;
  throw bad_input(std::string(flag) + " " + std::to_string(clients) + " needs as many connections, but this process may open only " +
                      std::to_string(limit) + " files",
                  "raise the limit in this shell (`ulimit -n " + std::to_string(clients + 256) + "`, perhaps as root), or ask for at most " +
                      std::to_string(std::max(0, possible)));
}

}  // namespace hyperloom
