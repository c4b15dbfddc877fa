#include <unistd.h>

#include "base/text.h"
#include "workload/names.h"
#include "workload/trace_file.h"
#include "workload/traffic_fields.h"
#include "workload/yaml_fields.h"

namespace hyperloom {
namespace fs = std::filesystem;
namespace {

constexpr double kMostTokens = 10e6, kMostRate = 1e6, kMostTurns = 1000, kLongestThought_s = 86400;
constexpr int64_t kExact = (int64_t{1} << 53) - 1;   // whole numbers that every JSON reader keeps
constexpr int64_t kMostClients = 100000;

Spread read_spread(const YamlFields& traffic, const char* key, const Range& range = {1, kMostTokens}) {
  if (traffic.has(key) && traffic.node(key).IsScalar()) return {traffic.number(key, 0, range), 0};
  const YamlFields spread = traffic.map(key, {"mean", "cv"});
  if (!spread.has("mean")) throw spread.error("mean", "is missing", std::string("write ") + key + ": {mean: 128, cv: 0.3}");
  return {spread.number("mean", 0, range), spread.number("cv", 0, {0, 5})};
}

// A file of the user's that is there, readable and not empty. `what` it should hold, for the mend.
std::string read_path(const YamlFields& fields, const char* key, const fs::path& file, const std::string& what) {
  const fs::path path = beside(file, fields.text(key));
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw fields.error(key, "there is no " + path.string(), "correct the path (relative ones start at this file's folder)");
  if (!fs::is_regular_file(path, ignored)) throw fields.error(key, path.string() + " is not a file", "name one file of " + what);
  if (::access(path.c_str(), R_OK) != 0) throw fields.error(key, "cannot read " + path.string(), "make it readable for you");
  if (fs::file_size(path, ignored) == 0) throw fields.error(key, path.string() + " is empty", "name a file that holds " + what);
  return path.string();
}

void forbid(const YamlFields& fields, const std::vector<std::string>& keys, const std::string& why, const std::string& mend) {
  for (const std::string& key : keys)
    if (fields.has(key)) throw fields.error(key, why, mend);
}

Arrival::Process process_of(const std::string& name) {
  return name == "constant" ? Arrival::Process::Constant : name == "gamma" ? Arrival::Process::Gamma : Arrival::Process::Poisson;
}

// `arrival: constant`, or a map. `kind: poisson` has said its process already.
Arrival read_arrival(const YamlFields& fields, const std::string& kind, double rate_rps) {
  Arrival arrival;
  if (!fields.has("arrival")) return arrival;
  const std::vector<std::string> names = {"poisson", "constant", "gamma"};
  const auto settle = [&](const YamlFields& at, const char* key, const std::string& name) {
    arrival.process = process_of(name);
    if (kind == "poisson" && arrival.process != Arrival::Process::Poisson)
      throw at.error(key, "`" + name + "` does not go with kind: poisson", "write kind: open");
  };
  if (fields.node("arrival").IsScalar()) {
    settle(fields, "arrival", fields.choice("arrival", "poisson", names));
    if (arrival.process == Arrival::Process::Gamma)
      throw fields.error("arrival", "gamma needs a burstiness", "write arrival: {process: gamma, burstiness: 0.5}");
    return arrival;
  }
  const YamlFields map = fields.map("arrival", {"process", "burstiness", "ramp_up", "ramp_from_rps", "max_in_flight"});
  settle(map, "process", map.choice("process", map.has("burstiness") ? "gamma" : "poisson", names));
  if (map.has("burstiness") != (arrival.process == Arrival::Process::Gamma))
    throw map.error("burstiness", map.has("burstiness") ? "goes only with process: gamma" : "is missing",
                    "write {process: gamma, burstiness: 0.5}: below 1 in bursts, 1 is Poisson, above 1 more even");
  arrival.burstiness = map.number("burstiness", 1, {1e-3, 1e6});
  if (map.has("burstiness") && arrival.burstiness == 1) arrival.process = Arrival::Process::Poisson;   // the same arrivals, so the same workload
  if (map.has("ramp_up") != map.has("ramp_from_rps"))
    throw map.error(map.has("ramp_up") ? "ramp_from_rps" : "ramp_up", "is missing", "a ramp is {ramp_up: linear, ramp_from_rps: 1}: from there up to rate_rps");
  if (map.has("ramp_up")) arrival.ramp_up = map.choice("ramp_up", "", ramp_names());
  arrival.ramp_from_rps = map.number("ramp_from_rps", 0, {0, kMostRate, true});
  if (map.has("ramp_up") && arrival.ramp_from_rps >= rate_rps)
    throw map.error("ramp_from_rps", "is not below rate_rps", "a ramp goes up: from ramp_from_rps to rate_rps");
  arrival.max_in_flight = static_cast<int>(map.whole("max_in_flight", 0, 1, kMostClients));
  return arrival;
}

// kind, and what goes with it: clients, or rate_rps and arrival.
void read_kind(const YamlFields& fields, Traffic& traffic) {
  const std::string kind = fields.text("kind", "closed");
  const std::string supported = "supported: closed (clients), poisson or open (rate_rps), trace (trace: FILE)";
  if (kind == "batch") throw fields.error("kind", "`" + kind + "` is not supported yet", supported);
  const bool closed = fields.choice("kind", kind, {"closed", "poisson", "open", "trace"}) == "closed";
  forbid(fields, {"trace", "speed"}, "does not go with kind: " + kind, "remove it, or write kind: trace");
  traffic.kind = closed ? Traffic::Kind::Closed : Traffic::Kind::Open;
  if (closed)
    forbid(fields, {"rate_rps", "arrival"}, "does not go with kind: closed", "remove it, or write kind: poisson");
  else
    forbid(fields, {"clients"}, "does not go with kind: " + kind,
           "remove it, or write kind: closed; to bound requests in flight: arrival: {max_in_flight: 64}");
  if (closed && !fields.has("clients")) throw fields.error("clients", "is missing", "write how many clients ask at a time");
  if (!closed && !fields.has("rate_rps")) throw fields.error("rate_rps", "is missing", "write how many requests arrive a second");
  traffic.clients = static_cast<int>(fields.whole("clients", 0, 1, kMostClients));
  traffic.rate_rps = fields.number("rate_rps", 0, {0, kMostRate, true});
  if (!closed) traffic.arrival = read_arrival(fields, kind, traffic.rate_rps);
}

// The file says when and how long: nothing else may.
void read_replay(const YamlFields& fields, const fs::path& file, Traffic& traffic) {
  forbid(fields, {"clients", "rate_rps", "prompt_tokens", "output_tokens", "dataset", "shared_prefix_tokens", "conversations"},
         "stands beside a trace, which has its own", "remove it; to make the trace faster write speed: 2");
  if (!fields.has("trace")) throw fields.error("trace", "is missing", "write trace: FILE, recorded traffic in the form of the Mooncake or Azure LLM traces");
  const std::string path = read_path(fields, "trace", file, "recorded traffic");
  const double speed = fields.number("speed", 1, {1e-6, 1e6});
  try {
    set_trace(traffic, path, speed);
  } catch (const Error& error) {
    throw fields.error("trace", error.what(), error.mend());
  }
  if (!fields.has("arrival")) return;
  const YamlFields arrival = fields.map("arrival", {"max_in_flight"});
  traffic.arrival.max_in_flight = static_cast<int>(arrival.whole("max_in_flight", 0, 1, kMostClients));
}

void read_conversations(const YamlFields& fields, Traffic& traffic) {
  if (!fields.has("conversations")) return;
  const YamlFields map = fields.map("conversations", {"turns", "think_s"});
  if (!map.has("turns")) throw map.error("turns", "is missing", "write conversations: {turns: 4, think_s: 2}");
  traffic.turns = read_spread(map, "turns", {1, kMostTurns});
  if (map.has("think_s")) traffic.think_s = read_spread(map, "think_s", {0, kLongestThought_s});
  if (traffic.turns.mean == 1 && traffic.turns.cv == 0)
    throw map.error("turns", "of 1 is no conversation", "write 2 or more, or remove conversations");
}

void read_lengths(const YamlFields& fields, const fs::path& file, Traffic& traffic) {
  if (fields.has("dataset")) {
    forbid(fields, {"prompt_tokens"}, "stands beside traffic.dataset", "the dataset has its own lengths: remove one of the two");
    traffic.dataset = read_path(fields, "dataset", file, "prompts");
  } else {
    if (!fields.has("prompt_tokens"))
      throw fields.error("prompt_tokens", "is missing", "write prompt_tokens: {mean: 128, cv: 0.3}, or dataset: FILE");
    traffic.prompt_tokens = read_spread(fields, "prompt_tokens");
  }
  if (!fields.has("output_tokens"))
    throw fields.error("output_tokens", "is missing", "write output_tokens: {mean: 64, cv: 0}: the answers' length");
  traffic.output_tokens = read_spread(fields, "output_tokens");
  traffic.shared_prefix_tokens = static_cast<int>(fields.whole("shared_prefix_tokens", 0, 0, static_cast<int64_t>(kMostTokens)));
  if (traffic.dataset.empty() && traffic.shared_prefix_tokens > 0 && traffic.shared_prefix_tokens >= traffic.prompt_tokens.mean)
    throw fields.error("shared_prefix_tokens", "is not below prompt_tokens.mean", "the prefix is a part of the prompt: make it shorter");
}

}  // namespace

fs::path beside(const fs::path& file, const std::string& path) { return (fs::absolute(file).parent_path() / path).lexically_normal(); }

Traffic read_traffic(const YamlFields& top, const fs::path& file) {
  const YamlFields fields = top.map("traffic", {"kind", "clients", "rate_rps", "arrival", "trace", "speed", "prompt_tokens", "dataset", "output_tokens",
                                                "conversations", "ignore_eos", "shared_prefix_tokens", "api", "seed"});
  Traffic traffic;
  const std::string api = fields.text("api", name_of(traffic.api));
  if (api == "images" || api == "command") throw fields.error("api", "`" + api + "` is not supported yet", "supported: chat, completions");
  traffic.api = fields.choice("api", api, {"chat", "completions"}) == "chat" ? Traffic::Api::Chat : Traffic::Api::Completions;
  if (fields.text("kind", "closed") == "trace") {
    read_replay(fields, file, traffic);
  } else {
    read_kind(fields, traffic);
    read_lengths(fields, file, traffic);
    read_conversations(fields, traffic);
  }
  traffic.ignore_eos = fields.flag("ignore_eos", traffic.ignore_eos);
  traffic.seed = static_cast<uint64_t>(fields.whole("seed", static_cast<int64_t>(traffic.seed), 0, kExact));
  return traffic;
}

}  // namespace hyperloom
