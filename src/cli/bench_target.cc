#include "cli/bench_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/enabled_engine.h"
#include "cli/prompt_cache.h"
#include "cli/server_check.h"
#include "cli/traffic_flags.h"

namespace hyperloom {
namespace {

// A key in an argument would stand in `ps` and in shell histories.
void add_key(LoadSpec& spec, const std::string& variable) {
  const char* key = std::getenv(variable.c_str());
  if (!key || !*key) throw bad_input("--api-key-env " + variable + ": that variable is not set", "export it first; the option takes its name, not the key");
  spec.secret = trim(key);
  if (spec.secret.find_first_of("\r\n") != std::string::npos)
    throw bad_input("--api-key-env " + variable + ": the key has a line break in it", "export the key alone");
  spec.headers.push_back("Authorization: Bearer " + spec.secret);
}

}  // namespace

LoadSpec url_load_spec(const BenchOptions& options) {
  LoadSpec spec;
  spec.url = checked_url(options.url, "--url");
  spec.model = options.model;
  for (const std::string& header : options.headers) spec.headers.push_back(checked_header(header));
  spec.stream = options.stream;
  spec.insecure = options.insecure;
  if (!options.ca_file.empty() && !std::ifstream(options.ca_file))
    throw bad_input("--cacert " + options.ca_file.string() + " cannot be read", "name a PEM file with the certificates to trust");
  spec.ca_file = options.ca_file;
  if (!options.api_key_env.empty()) add_key(spec, options.api_key_env);
  spec.traffic = checked_traffic({.clients = options.clients, .rate_rps = options.rate_rps,
                                  .clients_given = options.clients_given, .sweeps_rates = starts_with(options.sweep, "rate") || !options.slo.empty(),
                                  .arrival = options.arrival, .burstiness = options.burstiness, .ramp_up = options.ramp_up,
                                  .ramp_from_rps = options.ramp_from_rps, .ramp_to_rps = options.ramp_to_rps,
                                  .requests = options.requests,
                                  .prompt_tokens = options.prompt_tokens, .output_tokens = options.output_tokens,
                                  .api = options.api, .dataset = options.dataset,
                                  .trace = options.trace, .speed = options.speed, .turns = options.turns, .think_s = options.think_s, .seed = options.seed,
                                  .ignore_eos = options.ignore_eos});
  spec.warmup_requests = options.warmup >= 0 ? options.warmup : spec.traffic.clients / 2;
  if (options.duration_s < 0) throw bad_input(fmt::format("--duration {} is no time", options.duration_s), "give seconds above 0");
  spec.time_limit_s = options.duration_s;
  for (const std::string& limit : options.limits) spec.limits.push_back(parse_limit(limit));
  return spec;
}

int measured_requests(const BenchOptions& options, const LoadSpec& spec) {
  if (spec.traffic.kind != Traffic::Kind::Trace || options.requests_given) return options.requests;
  const int64_t rest = spec.traffic.trace_entries - spec.warmup_requests;
  if (rest < 1) throw bad_input(fmt::format("--warmup {} of a trace of {} entries leaves none", spec.warmup_requests, spec.traffic.trace_entries), "make it less");
  return static_cast<int>(std::min<int64_t>(rest, INT_MAX));
}

void check_dataset(const Traffic& traffic, uint64_t seed, int count) {
  try {
    make_trace(traffic, seed, count, 0);
  } catch (const Error& error) {
    throw Error(error.kind(), "--dataset: " + std::string(error.what()), error.mend());
  }
}

BenchTarget::BenchTarget(const BenchOptions& options, LoadLine& line) : line_(line) {
  if (!options.workload.empty()) {
    boot(options);
    return;
  }
  spec_ = url_load_spec(options);
  if (!spec_.traffic.dataset.empty()) check_dataset(spec_.traffic, options.seed, 1);
  line_.say("asking " + spec_.url + " for one answer");
  const ServerCheck check = check_server(spec_, "--url", &stop_flags().any);
  spec_.model = check.model;
  tokens_per_word_ = check.tokens_per_word;
  spec_.keep_records = false;
}

void BenchTarget::boot(const BenchOptions& options) {
  const Workload workload = checked_workload(options.workload);
  if (workload.traffic.kind == Traffic::Kind::Trace)
    throw bad_input("the traffic of " + options.workload.string() + " is a trace, which has its own rates", "measure it as it is, without --sweep, or at another speed");
  folder_.emplace("hyperloom-bench");
  const EnabledEngine engine = enable_engine(workload, folder_->path(), line_);
  line_.say("booting the server");
  auto started = Server::start(engine.pack, engine.launch, folder_->path() / "server.log", {}, &stop_flags().any);
  if (stop_flags().any) throw Error(ErrorKind::Interrupted, "stopped before anything was measured");
  if (const auto* failure = std::get_if<Failure>(&started))
    throw Error(ErrorKind::NotEnabled, "the server did not boot: " + failure->text(), failure->first_move);
  server_ = std::move(std::get<std::unique_ptr<Server>>(started));
  spec_.url = server_->url();
  spec_.traffic = workload.traffic;
  spec_.traffic.seed = options.seed;
  spec_.limits = workload.objective.limits;
  if (!options.limits.empty()) spec_.limits.clear();
  for (const std::string& limit : options.limits) spec_.limits.push_back(parse_limit(limit));
  spec_.keep_records = false;
  tokens_per_word_ = engine.state.enabled->tokens_per_word;
}

BenchTarget::~BenchTarget() {
  if (!server_) return;
  const Server::Gone gone = server_->stop();
  if (!gone.clean) line_.note("warning: the server is not gone: " + gone.problem);
}

LoadResult BenchTarget::load(const Traffic& traffic, int warmup, int requests, int index, const std::string& what) {
  LoadSpec spec = spec_;
  spec.traffic = traffic;
  spec.warmup_requests = warmup;
  const RequestTrace trace = make_trace(traffic, seed_from(fmt::format("{}/load/{}", traffic.seed, index)), warmup + requests, tokens_per_word_);
  line_.say(what);
  const auto before = scrape(spec);
  LoadResult result = run_load(spec, trace, [&](const LoadProgress& p) { line_.update(p); }, &stop_flags().any);
  if (!before.empty() && !result.stopped) note_prompt_cache(before, scrape(spec), result);
  if (server_ && result.summary.failed > 0)
    if (const auto died = server_->died()) throw Error(ErrorKind::NotEnabled, "the server died under load (" + what + "): " + died->text(), died->first_move);
  return result;
}

}  // namespace hyperloom
