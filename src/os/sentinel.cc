#include "os/sentinel.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "os/event_loop.h"
#include "os/neighbours.h"
#include "os/speed_probe.h"

namespace hyperloom {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(500);

Scale machine_scale() {
  Scale scale;
  scale.ticks_per_s = ticks_per_second();
  scale.cores = static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  scale.page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return scale;
}

Snapshot take(pid_t family_root, const HostReader& host, const Snapshot* before) {
  Snapshot snapshot;
  snapshot.self = ::getpid();
  const auto add = [&](pid_t root) {
    for (const ProcStat& stat : read_descendants(root))
      snapshot.family[{stat.pid, stat.start_ticks}] = stat;
  };
  add(snapshot.self);
  if (family_root > 0) add(family_root);
  // Who was ours stays ours, though its parent has died and it now hangs elsewhere in the tree.
  if (before) {
    for (const auto& [key, then] : before->family) {
      if (snapshot.family.count(key)) continue;
      const auto stat = read_stat(key.first);
      if (stat && stat->start_ticks == key.second) add(key.first);
    }
  }
  for (const auto& [key, stat] : snapshot.family) {
    if (key.first != snapshot.self && !stat.ended())
      snapshot.threads.merge(read_thread_times(key.first));
  }
  if (before) snapshot.speed_msteps_s = probe_speed_msteps_s();
  // Clock and machine last and together: the ticks of the walk above are ours, and in both
  // accounts' reach.
  snapshot.host = host.read();
  snapshot.at_s = EventLoop::now_s();
  return snapshot;
}

}  // namespace

// The thread owns all but `done`; finish() reads the sums after joining it.
struct Sentinel::Impl {
  Impl(pid_t root, const GpuSources& sources)
      : family_root(root),
        gpus(sources),
        sums(machine_scale()),
        everybody(read_process_times()),
        last(take(root, host, nullptr)),
        begun_s(last.at_s) {
    remember();
    gpu_sums.add(gpus.dear(), 0);
    gpu_sums.add(gpus.cheap(), 0);
    thread = std::jthread([this](std::stop_token stop) { watch(stop); });
  }

  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    do {
      changed.wait_for(lock, stop, kInterval, [] { return false; });
      sample();  // once more at the end: the last part of a second counts too
    } while (!stop.stop_requested());  // at least once, however short the leg
  }

  void sample() {
    // Before the family is walked: who began in between is then known as ours.
    const std::vector<GpuSample> on_gpus = gpus.cheap();
    Snapshot now = take(family_root, host, &last);
    // A sliver holds too few ticks to tell anything; the next window takes it in.
    if (now.at_s - last.at_s < 0.05 && sums.result().seconds > 0) return;
    sums.add(last, now);
    gpu_sums.add(on_gpus, now.at_s - last.at_s);
    last = std::move(now);
    remember();
  }

  void remember() {
    for (const auto& [key, stat] : last.family) ours.insert(key);
  }

  Neighbours conclude() {
    Neighbours seen = sums.result();
    gpu_sums.add(gpus.dear(), 0);
    seen.gpus = gpu_sums.result(ours);
    seen.busiest = busiest(everybody, read_process_times(), ours,
                           (EventLoop::now_s() - begun_s) * ticks_per_second());
    return seen;
  }

  const pid_t family_root;
  const HostReader host;
  GpuReader gpus;
  GpuSums gpu_sums;
  NeighbourSums sums;
  const std::map<ProcessKey, ProcessTime> everybody;  // before the leg
  Snapshot last;
  const double begun_s;
  std::set<ProcessKey> ours;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<Neighbours> result;
  std::jthread thread;
};

Sentinel::Sentinel(pid_t family_root, const GpuSources& gpus)
    : impl_(std::make_unique<Impl>(family_root, gpus)) {}
Sentinel::~Sentinel() = default;

Neighbours Sentinel::finish() {
  if (!impl_->result) {
    impl_->thread.request_stop();
    if (impl_->thread.joinable()) impl_->thread.join();
    impl_->result = impl_->conclude();
  }
  return *impl_->result;
}

}  // namespace hyperloom
