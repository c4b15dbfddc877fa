// The server that a bench sends its loads to, and what it sends.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/load_line.h"
#include "engine/server.h"
#include "load/generator.h"

namespace hyperloom {

// What the flags ask of the server at --url, before it was asked anything. Error(BadInput) names the flag.
LoadSpec url_load_spec(const BenchOptions& options);
// Error(BadInput) when the dataset or the trace does not give `count` requests: refused before anything is sent.
// How many requests are measured: a trace's own, unless --requests says else. Error(BadInput) when warm-up takes them all.
int measured_requests(const BenchOptions& options, const LoadSpec& spec);
void check_dataset(const Traffic& traffic, uint64_t seed, int count);

// For many loads on one server: the one at --url, or the workload's own, booted once and stopped at the end.
class BenchTarget {
 public:
  // Error(BadInput) or (NotEnabled) when the server does not answer.
  BenchTarget(const BenchOptions& options, LoadLine& line);
  ~BenchTarget();

  const LoadSpec& spec() const { return spec_; }
  // One load on a trace of its own (`index` is its number: text that the server has seen before would come from its cache).
  // Its warnings tell of prompts that did. Error(NotEnabled) when our own server died.
  LoadResult load(const Traffic& traffic, int warmup, int requests, int index, const std::string& what);

 private:
  void boot(const BenchOptions& options);

  LoadLine& line_;
  LoadSpec spec_;
  double tokens_per_word_ = 0;
  std::optional<TempDir> folder_;
  std::unique_ptr<Server> server_;   // of a workload
};

}  // namespace hyperloom
