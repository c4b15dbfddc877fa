// Two launch commands: pairs of fresh boots until the sequential test decides.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/compare_parts.h"
#include "cli/comparison_text.h"
#include "cli/load_line.h"
#include "measure/leg.h"
#include "measure/quality.h"

namespace hyperloom {
namespace {

constexpr int kPoolLegs = 4;
constexpr int kMostAttempts = 4;         // of a pair or pool leg that other load spoils
constexpr double kLegLimit_s = 600;
constexpr double kAssumedTokensPerWord = 1.3;

struct Stopped {};                       // the stop flag was set within a leg
struct NeverQuiet { std::string reason; };
struct BDoesNotRun { std::string failure; };

class Boots {
 public:
  Boots(const CompareOptions& options, const Traffic& traffic)
      : options_(options), pack_(load_pack("custom")), folder_("hyperloom-compare") {
    for (LegOrder* order : {&a_, &b_}) {
      order->launch.argv = launch_words(order == &a_ ? options.a : options.b, order == &a_ ? "A" : "B");
      order->launch.api = options.api;
      order->traffic = traffic;
      order->time_limit_s = kLegLimit_s;
      order->tokens_per_word = kAssumedTokensPerWord;
      order->measured_requests = options.requests;
      order->warmup_requests = std::max(1, traffic.clients / 2);
    }
    result_.alpha = options.alpha;
    result_.plan.alpha_k = alpha_per_comparison(options.alpha, 1);
    result_.plan.max_pairs = options.max_pairs;
    result_.plan.useful_gain = std::log1p(options.least_gain);
    result_.leg.requests = a_.measured_requests;
    result_.leg.warmup = a_.warmup_requests;
  }

  int run() {
    try {
      check();
      fill_pool();
      compare();
    } catch (const Stopped&) {
      result_.verdict = "interrupted";
    } catch (const NeverQuiet& never) {
      result_.verdict = "unresolvable";
      result_.why_not = fmt::format("this machine did not get quiet in {} attempts ({})", kMostAttempts, never.reason);
    } catch (const BDoesNotRun& failed) {
      result_.verdict = "b_does_not_run";
      result_.b_failure = failed.failure;
    }
    line_.say("");
    if (agreements_ > 0) result_.same_answers = agreement_ / agreements_;
    if (options_.json) std::printf("%s\n", to_json_value(result_).dump(2).c_str());
    else std::printf("%s", to_text(result_).c_str());
    if (result_.verdict == "interrupted") return static_cast<int>(ErrorKind::Interrupted);
    return result_.verdict == "unresolvable" ? static_cast<int>(ErrorKind::Unresolvable) : 0;
  }

 private:
  // A result that may be void; throws Stopped, BDoesNotRun or, for A, Error.
  LegResult leg(bool is_a, const LegOrder& order, const std::string& what) {
    line_.say(what);
    LegHooks hooks;
    hooks.stop_flag = &stop_flags().any;
    hooks.on_progress = [&](const LoadProgress& p) { line_.update(p); };
    LegOutcome outcome = [&] {
      try {
        return run_leg(pack_, order, folder_.path() / (is_a ? "a.log" : "b.log"), hooks);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::BadInput) throw;   // a full disk, no process to be had: nobody's fault
        if (is_a) throw bad_input("A does not run: " + std::string(error.what()), error.mend());
        throw BDoesNotRun{error.what()};
      }
    }();
    if (stop_flags().any) throw Stopped();
    if (const auto* failure = std::get_if<Failure>(&outcome)) {
      if (!is_a) throw BDoesNotRun{failure->text()};
      throw bad_input("A does not run: " + failure->text(),
                      failure->first_move.empty() ? "start it by hand and look at its output" : failure->first_move);
    }
    return std::get<LegResult>(std::move(outcome));
  }

  bool is_void(const LegResult& result, std::string& reason) {
    if (result.void_reasons.empty()) return false;
    reason = result.void_reasons.front();
    ++result_.voids;
    line_.note("void: " + reason);
    return true;
  }

  // Both must run at all before long legs are spent; A also tells how many tokens a word is.
  void check() {
    LegOrder brief = a_;
    brief.measured_requests = std::max(2, a_.traffic.clients);
    brief.warmup_requests = 0;
    brief.trace_seed = seed(-1 - kPoolLegs);
    const LegResult seen = leg(true, brief, "does A run?");
    if (seen.load.completed > 0 && seen.load.prompt_tokens > 0) {
      const double per_word = kAssumedTokensPerWord * seen.load.prompt_tokens / seen.load.completed / a_.traffic.prompt_tokens.mean;
      a_.tokens_per_word = b_.tokens_per_word = std::clamp(per_word, 0.7, 6.0);
    }
    brief.launch = b_.launch;
    leg(false, brief, "does B run?");
  }

  void fill_pool() {
    std::vector<double> logs;
    for (int i = 0; i < kPoolLegs; ++i) {
      a_.trace_seed = seed(-1 - i);
      std::string reason;
      for (int attempt = 0;; ++attempt) {
        if (attempt == kMostAttempts) throw NeverQuiet{reason};
        const LegResult result = leg(true, a_, fmt::format("noise of A, leg {} of {}", i + 1, kPoolLegs));
        if (is_void(result, reason)) continue;
        line_.note(fmt::format("noise {:<2}            A {:>9.2f} tok/s", i + 1, result.value));
        logs.push_back(std::log(result.value));
        break;
      }
    }
    pool_.add_stock_legs(logs);
    result_.pair_sd_log = pool_.pair_sd();
    result_.pool_df = pool_.df();
  }

  void compare() {
    std::vector<double> differences;
    for (int i = 0;; ++i) {
      std::string reason;
      std::optional<ComparedPair> pair;
      for (int attempt = 0; !pair; ++attempt) {
        if (attempt == kMostAttempts) throw NeverQuiet{reason};
        pair = try_pair(i, reason);
      }
      line_.note(pair_line(i + 1, *pair));
      result_.pairs.push_back(*pair);
      differences.push_back(pair->log_ratio());
      result_.look = look(pool_, differences, result_.plan);
      if (result_.look.verdict != Verdict::Continue) break;
    }
    result_.verdict = name_of(result_.look.verdict);
  }

  // Nothing when a leg of it was void: a pair is repeated whole.
  std::optional<ComparedPair> try_pair(int index, std::string& reason) {
    ComparedPair pair{.a_first = a_goes_first(std::to_string(options_.seed), "compare", index)};
    a_.trace_seed = b_.trace_seed = seed(index);
    std::optional<LegResult> a, b;
    for (const bool take_a : {pair.a_first, !pair.a_first}) {
      LegResult result = leg(take_a, take_a ? a_ : b_, fmt::format("pair {}, {}", index + 1, take_a ? "A" : "B"));
      if (is_void(result, reason)) return std::nullopt;
      (take_a ? a : b) = std::move(result);
    }
    pair.a = a->value, pair.b = b->value;
    pair.ttft_a_ms = a->load.ttft_ms.p50, pair.ttft_b_ms = b->load.ttft_ms.p50;
    result_.leg.window_s = a->load.window_s;
    result_.leg.boot_a_s = a->boot_s, result_.leg.boot_b_s = b->boot_s;
    if (const Agreement agreement = greedy_agreement(a->records_jsonl, b->records_jsonl); agreement.compared > 0)
      agreement_ += agreement.share, ++agreements_;
    return pair;
  }

  uint64_t seed(int index) const { return seed_from(fmt::format("{}/compare/{}", options_.seed, index)); }

  const CompareOptions& options_;
  const Pack pack_;
  const TempDir folder_;
  LegOrder a_, b_;
  LoadLine line_;
  NoisePool pool_;
  ComparedCommands result_;
  double agreement_ = 0;
  int agreements_ = 0;
};

}  // namespace

int compare_boots(const CompareOptions& options, const Traffic& traffic) { return Boots(options, traffic).run(); }

}  // namespace hyperloom
