#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "workload/names.h"
#include "workload/trace_file.h"

namespace hyperloom {
namespace {

constexpr double kLongestPrompt = 10e6;

void at_least_one(const char* flag, int value) {
  if (value < 1) throw bad_input(std::string(flag) + " " + std::to_string(value) + " is too few", "give at least " + std::string(flag) + " 1");
}

// The whole of `text` as a number; false when it is none.
bool number_of(const std::string& text, double& value) {
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && !std::isspace(static_cast<unsigned char>(text[0])) && *end == 0 && std::isfinite(value);
}

}  // namespace

std::vector<std::string> split_command(const std::string& text, const std::string& what) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\'') {
      if (c == '\'') quote = 0;
      else word += c;
    } else if (c == '\\') {
      if (++i == text.size()) throw bad_input("the command of " + what + " ends in a backslash: " + text, "remove it, or escape a character with it");
      // Within "..." a backslash is itself, unless it escapes what would end or start something.
      if (quote == '"' && std::string("\"\\$`\n").find(text[i]) == std::string::npos) word += c;
      word += text[i];
      in_word = true;
    } else if (quote == '"') {
      if (c == '"') quote = 0;
      else word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote) throw bad_input("the command of " + what + " has an open " + quote + ": " + text, "close the quote");
  if (in_word) words.push_back(std::move(word));
  if (words.empty()) throw bad_input("the command of " + what + " is empty", "give a launch command with {port}, or a URL");
  return words;
}

std::vector<std::string> launch_words(const std::string& text, const std::string& what) {
  std::vector<std::string> words = split_command(text, what);
  bool port = false;
  for (std::string& word : words) {
    word = replace_all(replace_all(word, "${port}", "{port}"), "{port}", "${port}");
    port |= word.find("${port}") != std::string::npos;
  }
  if (!port)
    throw bad_input("the command of " + what + " has no {port}: " + text,
                    "write {port} where the server's port belongs, as in `my-server --port {port}`");
  return words;
}

bool is_url(const std::string& text) { return starts_with(text, "http://") || starts_with(text, "https://"); }

std::string checked_url(const std::string& url, const std::string& flag) {
  const size_t host = url.find("://");
  if (!is_url(url) || host + 3 >= url.size() || url[host + 3] == '/' || url.find_first_of(" \t\n") != std::string::npos)
    throw bad_input(flag + " `" + url + "` is no URL of a server", "write it as http://127.0.0.1:8080");
  std::string clean = url;
  while (ends_with(clean, "/")) clean.pop_back();
  return clean;
}

Limit parse_limit(const std::string& text, const std::string& flag) {
  const std::string shape = "write it as ttft:p95:500 (ms) or ttft:p95<0.5s; metrics: " + join(limit_metrics(), ", ") + "; percentiles: p50, p90, p95, p99";
  const auto refuse = [&](const std::string& why) { return bad_input(flag + " `" + text + "`: " + why, shape); };
  const std::vector<std::string> parts = split(replace_all(replace_all(text, "<=", ":"), "<", ":"), ':');
  if (parts.size() != 3) throw refuse("it has " + std::to_string(parts.size()) + " parts, not 3");
  Limit limit;
  limit.metric = trim(parts[0]);
  const auto& metrics = limit_metrics();
  if (std::find(metrics.begin(), metrics.end(), limit.metric) == metrics.end())
    throw refuse("unknown metric `" + limit.metric + "`" + did_you_mean(limit.metric, metrics));
  if (!starts_with(parts[1], "p") || !number_of(parts[1].substr(1), limit.percentile) ||
      (limit.percentile != 50 && limit.percentile != 90 && limit.percentile != 95 && limit.percentile != 99))
    throw refuse("percentile `" + parts[1] + "` is not measured");
  std::string time = parts[2];
  const double unit = ends_with(time, "s") && !ends_with(time, "ms") ? 1000 : 1;
  if (ends_with(time, "s")) time.resize(time.size() - (unit == 1 ? 2 : 1));
  if (!number_of(time, limit.max_ms) || limit.max_ms <= 0) throw refuse("`" + parts[2] + "` is no time above 0");
  limit.max_ms *= unit;
  return limit;
}

std::vector<std::string> slo_limits(const std::string& text) {
  std::vector<std::string> limits;
  for (const std::string& part : split(text, ',')) {
    const Limit limit = parse_limit(part, "--slo");
    for (const std::string& other : limits)
      if (const Limit seen = parse_limit(other, "--slo"); seen.metric == limit.metric && seen.percentile == limit.percentile)
        throw bad_input("--slo `" + text + "`: " + other + " and " + part + " limit the same", "keep one of them");
    limits.push_back(part);
  }
  return limits;
}

std::string goodput_limit(const std::string& text) {
  const std::string shape = "write it as --goodput ttft:500 tpot:40 e2el:3000 (ms); for another percentile use --limit ttft:p95:500";
  const std::vector<std::string> parts = split(text, ':');
  const std::vector<std::string> metrics = {"ttft", "tpot", "e2el"};
  double ms = 0;
  if (parts.size() != 2) throw bad_input("--goodput `" + text + "` is no metric and time", shape);
  if (std::find(metrics.begin(), metrics.end(), parts[0]) == metrics.end())
    throw bad_input("--goodput `" + text + "`: unknown metric `" + parts[0] + "`" + did_you_mean(parts[0], metrics), shape);
  if (!number_of(parts[1], ms) || ms <= 0)
    throw bad_input("--goodput `" + text + "`: `" + parts[1] + "` is no time above 0", shape);
  return (parts[0] == "e2el" ? "e2e" : parts[0]) + ":p99:" + parts[1];
}

std::string checked_header(const std::string& text) {
  const size_t end = text.find_first_of(":=");
  const std::string name = text.substr(0, end == std::string::npos ? 0 : end);
  if (name.empty() || name.find_first_of(" \t\r\n") != std::string::npos || text.find_first_of("\r\n") != std::string::npos)
    throw bad_input("--header `" + text + "` is no header", "write it as \"Name: value\"");
  return name + ": " + trim(text.substr(end + 1));
}

SweepSteps parse_sweep(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    return bad_input("--sweep `" + text + "`: " + why, "write clients, rate, or their steps, as clients:1,8,64 or rate:0.5,1,2");
  };
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (kind != "clients" && kind != "rate") throw refuse("unknown kind of load `" + kind + "`" + did_you_mean(kind, {"clients", "rate"}));
  SweepSteps steps{.by_rate = kind == "rate"};
  if (colon == std::string::npos) return steps;
  for (const std::string& part : split(text.substr(colon + 1), ',')) {
    double load = 0;
    if (!number_of(part, load) || load <= 0) throw refuse("`" + part + "` is no load above 0");
    if (!steps.by_rate && (load != std::floor(load) || load > 1e6)) throw refuse(part + " is no number of clients");
    if (!steps.loads.empty() && load <= steps.loads.back()) throw refuse(part + " does not rise");
    steps.loads.push_back(load);
  }
  return steps;
}

namespace {

Arrival checked_arrival(const TrafficFlags& flags, double rate_rps) {
  const bool shaped = flags.arrival != "poisson" || flags.burstiness != 1 || !flags.ramp_up.empty();
  if (shaped && rate_rps == 0 && !flags.sweeps_rates)
    throw bad_input("--arrival, --burstiness and --ramp-up-strategy shape an open loop, and there is none", "give --rate, or leave them out");
  Arrival arrival;
  if (flags.arrival == "constant") arrival.process = Arrival::Process::Constant;
  else if (flags.arrival != "poisson")
    throw bad_input("--arrival `" + flags.arrival + "` is not known" + did_you_mean(flags.arrival, {"poisson", "constant"}),
                    "one of: poisson, constant; for bursts give --burstiness 0.5");
  if (!(flags.burstiness >= 1e-3) || flags.burstiness > 1e6)
    throw bad_input(fmt::format("--burstiness {:g} is no shape of a gamma distribution", flags.burstiness),
                    "give 0.001 to 1000000: below 1 in bursts, 1 is Poisson, above 1 more even");
  if (flags.burstiness != 1) {
    if (flags.arrival == "constant") throw bad_input("--burstiness goes with random arrivals, not with --arrival constant", "leave one of them out");
    arrival.process = Arrival::Process::Gamma;
    arrival.burstiness = flags.burstiness;
  }
  arrival.ramp_up = flags.ramp_up;
  arrival.ramp_from_rps = flags.ramp_from_rps;
  if (flags.clients_given) {
    at_least_one("--clients", flags.clients);
    arrival.max_in_flight = flags.clients;
  }
  return arrival;
}

// The rate, or with a ramp its end.
double checked_rate(const TrafficFlags& flags) {
  if (std::isinf(flags.rate_rps) && flags.rate_rps > 0)
    throw bad_input("--rate inf is no rate", "all at once is a closed loop: --clients N with as many as may be in flight");
  if (!(flags.rate_rps >= 0) || !std::isfinite(flags.rate_rps))
    throw bad_input(fmt::format("--rate {:g} is no rate", flags.rate_rps), "give requests a second above 0, or leave --rate out");
  const auto& names = ramp_names();
  if (flags.ramp_up.empty()) {
    if (flags.ramp_from_rps != 0 || flags.ramp_to_rps != 0)
      throw bad_input("--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy", "give --ramp-up-strategy linear");
    return flags.rate_rps;
  }
  if (std::find(names.begin(), names.end(), flags.ramp_up) == names.end())
    throw bad_input("--ramp-up-strategy `" + flags.ramp_up + "` is not known" + did_you_mean(flags.ramp_up, names), "one of: " + join(names, ", "));
  if (flags.rate_rps > 0 || flags.sweeps_rates)
    throw bad_input("--ramp-up-strategy has its own rates", "leave out --rate and --sweep rate: the ramp ends at --ramp-up-end-rps");
  if (!(flags.ramp_from_rps > 0) || !(flags.ramp_to_rps > flags.ramp_from_rps) || !std::isfinite(flags.ramp_to_rps))
    throw bad_input(fmt::format("a ramp from {:g} to {:g} requests/s", flags.ramp_from_rps, flags.ramp_to_rps),
                    "give --ramp-up-start-rps above 0 and --ramp-up-end-rps above it");
  return flags.ramp_to_rps;
}

}  // namespace

namespace {

void read_trace_flags(const TrafficFlags& flags, Traffic& traffic) {
  if (!(flags.speed >= 1e-6) || flags.speed > 1e6) throw bad_input(fmt::format("--speed {:g} is no speed", flags.speed), "give 2 to replay twice as fast");
  try {
    set_trace(traffic, flags.trace, flags.speed);
  } catch (const Error& error) {
    throw Error(error.kind(), "--trace: " + std::string(error.what()), error.mend());
  }
  if (flags.arrival != "poisson" || flags.burstiness != 1)
    throw bad_input("--arrival and --burstiness stand beside --trace, which has its own arrivals", "leave them out");
  if (!flags.clients_given) return;
  at_least_one("--clients", flags.clients);
  traffic.arrival.max_in_flight = flags.clients;
}

Traffic::Api checked_api(const std::string& api) {
  if (api == "chat") return Traffic::Api::Chat;
  if (api == "completions") return Traffic::Api::Completions;
  throw bad_input("--api `" + api + "` is not known" + did_you_mean(api, {"chat", "completions"}), "one of: chat, completions");
}

}  // namespace

Traffic checked_traffic(const TrafficFlags& flags) {
  Traffic traffic;
  traffic.api = checked_api(flags.api);
  traffic.ignore_eos = flags.ignore_eos;
  traffic.seed = flags.seed;
  if (!flags.trace.empty()) {
    read_trace_flags(flags, traffic);
    return traffic;
  }
  if (flags.speed != 1) throw bad_input("--speed is a trace's, and there is none", "give --trace FILE, or leave --speed out");
  at_least_one("--requests", flags.requests);
  const double rate_rps = checked_rate(flags);
  const Arrival arrival = checked_arrival(flags, rate_rps);
  if (rate_rps == 0) at_least_one("--clients", flags.clients);
  if (flags.dataset.empty()) at_least_one("--prompt-tokens", flags.prompt_tokens);
  if (flags.dataset.empty() || flags.output_tokens < 0) at_least_one("--output-tokens", flags.output_tokens);
  if (flags.prompt_tokens > kLongestPrompt || flags.output_tokens > kLongestPrompt)
    throw bad_input("more than 10 million tokens a request", "shorten --prompt-tokens and --output-tokens");
  traffic.kind = rate_rps > 0 ? Traffic::Kind::Open : Traffic::Kind::Closed;
  if (rate_rps > 0) traffic.rate_rps = rate_rps;
  else traffic.clients = flags.clients;
  if (rate_rps > 0 || flags.sweeps_rates) traffic.arrival = arrival;
  if (flags.dataset.empty()) traffic.prompt_tokens.mean = flags.prompt_tokens;
  traffic.output_tokens.mean = flags.output_tokens;
  traffic.dataset = flags.dataset;
  return traffic;
}

}  // namespace hyperloom
