#include "cli/traffic_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

void read_trace_flags(const TrafficFlags& flags, Traffic& traffic) {
  if (!(flags.speed >= 1e-6) || flags.speed > 1e6) throw bad_input(fmt::format("--speed {:g} is no speed", flags.speed), "give 2 to replay twice as fast");
  try {
    set_trace(traffic, flags.trace, flags.speed);
  } catch (const Error& error) {
    throw Error(error.kind(), "--trace: " + std::string(error.what()), error.mend());
  }
  if (flags.arrival != "poisson" || flags.burstiness != 1 || flags.turns != 0)
    throw bad_input("--arrival, --burstiness and --turns stand beside --trace, which has its own", "leave them out");
  if (!flags.clients_given) return;
  at_least_one("--clients", flags.clients);
  traffic.arrival.max_in_flight = flags.clients;
}

void read_turns(const TrafficFlags& flags, Traffic& traffic) {
  if (flags.turns == 0 && flags.think_s != 0) throw bad_input("--think-time goes between the turns of a conversation", "give --turns 4");
  if (flags.turns == 0) return;
  if (!(flags.turns >= 2) || flags.turns > 1000 || flags.turns != std::floor(flags.turns))
    throw bad_input(fmt::format("--turns {:g} is no conversation", flags.turns), "give a whole number from 2 to 1000");
  if (!(flags.think_s >= 0) || flags.think_s > 86400) throw bad_input(fmt::format("--think-time {:g} is no time", flags.think_s), "give seconds from 0 on");
  traffic.turns.mean = flags.turns;
  traffic.think_s.mean = flags.think_s;
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
  read_turns(flags, traffic);
  return traffic;
}

}  // namespace hyperloom
