// A realistic session, made by hand: an enablement, precision and slots kept, one change reverted
// for quality, one unresolvable, a refusal, a void, a sweep, profiles, fresh pairs, leave-one-out.
#pragma once

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/report.h"

namespace hyperloom {

inline const Change kSampleQ8{"precision", "weights", "Q8_0"};
inline const Change kSampleQ4{"precision", "weights", "Q4_0"};
inline const Change kSampleSlots{"flag", "-np", "4"};
inline const Change kSampleBatch{"flag", "-ub", "256"};
inline const Change kSampleEnv{"env", "OMP_WAIT_POLICY", "active"};

inline LoadSummary sample_load(double tok_s) {
  LoadSummary load;
  load.window_s = 12;
  load.completed = 48;
  load.output_tok_s = tok_s;
  load.total_tok_s = 3 * tok_s;
  load.requests_s = tok_s / 64;
  load.ttft_ms = {140 * 100 / tok_s, 130 * 100 / tok_s, 180 * 100 / tok_s,
                  210 * 100 / tok_s, 260 * 100 / tok_s, 48};
  load.tpot_ms = {2000 / tok_s, 1900 / tok_s, 2300 / tok_s, 2500 / tok_s, 2900 / tok_s, 48};
  load.e2e_ms = {130000 / tok_s, 128000 / tok_s, 150000 / tok_s,
                 160000 / tok_s, 170000 / tok_s, 48};
  return load;
}

class SampleSession {
 public:
  std::string leg(const std::string& purpose, const std::string& group, const std::string& arm,
                  int pair, const Candidate& candidate, double value) {
    LegRecord record;
    record.plan.id = "L" + std::to_string(state.legs.size() + 1);
    record.plan.purpose = purpose;
    record.plan.group = group;
    record.plan.arm = arm;
    record.plan.pair = pair;
    record.plan.candidate = candidate;
    record.plan.build = "portable";
    record.done.emplace();
    record.done->id = record.plan.id;
    record.done->result.emplace();
    record.done->result->value = value;
    record.done->result->load = sample_load(value);
    record.done->result->boot_s = candidate.changes.empty() ? 0.9 : 1.1;
    record.done->cost_s = 16;
    state.leg_index[record.plan.id] = state.legs.size();
    state.legs.push_back(record);
    return record.plan.id;
  }

  std::vector<PairDone> pairs(const std::string& purpose, const std::string& group,
                              const Candidate& a, const Candidate& b, double base,
                              const std::vector<double>& ratios) {
    std::vector<PairDone> out;
    for (size_t i = 0; i < ratios.size(); ++i) {
      const double value = base * (1 + 0.01 * (static_cast<double>(i % 3) - 1));
      const int pair = static_cast<int>(i);
      const std::string leg_a = leg(purpose, group, "a", pair, a, value);
      const std::string leg_b = leg(purpose, group, "b", pair, b, value * ratios[i]);
      out.push_back({group, leg_a, leg_b, pair, std::log(ratios[i])});
    }
    return out;
  }

  // Proposal and comparison of `change` over the incumbent, undecided yet.
  Comparison& compare(const Change& change, const std::string& phase, const std::string& source,
                      const std::string& why, double predicted, double base,
                      const std::vector<double>& ratios) {
    const std::string number = std::to_string(state.comparisons.size() + 1);
    Proposal proposal;
    proposal.intent.id = "P" + std::to_string(state.proposals.size() + 1);
    proposal.intent.role = "planner";
    proposal.intent.kind = "propose";
    proposal.intent.phase = phase;
    proposal.intent.change = change;
    proposal.intent.source = source;
    proposal.intent.why = why;
    proposal.intent.predicted_log = predicted;
    proposal.status = ProposalStatus::Comparing;
    proposal.comparison = "C" + number;
    Comparison comparison;
    comparison.intent = proposal.intent;
    comparison.intent.id = "C" + number;
    comparison.intent.kind = "compare";
    comparison.intent.proposal = proposal.intent.id;
    comparison.intent.a = state.incumbent;
    comparison.intent.b = state.incumbent.with(change);
    comparison.pairs =
        pairs("pair", comparison.intent.id, comparison.intent.a, comparison.intent.b, base, ratios);
    Look look;
    look.n = static_cast<int>(ratios.size());
    for (const double ratio : ratios) look.raw += std::log(ratio) / look.n;
    look.mean = 0.98 * look.raw;
    look.s = 0.02;
    look.nu = 8;
    look.bound = 0.0025;
    comparison.decided = Decided{comparison.intent.id, "", "", look, {}};
    state.proposals.push_back(proposal);
    state.comparisons.push_back(comparison);
    return state.comparisons.back();
  }

  void decide(const std::string& verdict, const std::string& why, double p) {
    Decided& decided = *state.comparisons.back().decided;
    decided.verdict = verdict;
    decided.why = why;
    decided.look.p = p;
    decided.look.chance = verdict == "faster" ? 1 : 0.03;
    decided.look.verdict = verdict == "faster" ? Verdict::Faster : Verdict::Unresolvable;
  }

  void measure_quality(double kl, double ppl_ratio, double top1,
                       const std::vector<std::string>& failures = {}) {
    QualityReport report;
    report.kl_done = true;
    report.kl.ok = true;
    report.kl.mean_kl = kl;
    report.kl.mean_kl_se = kl / 12;
    report.kl.ppl_ratio = ppl_ratio;
    report.kl.ppl_ratio_se = 0.002;
    report.kl.top1 = top1;
    report.kl.top1_se = 0.002;
    report.kl.tokens = 8192;
    report.agreement = {0.82, 48};
    report.stock_agreement = {0.97, 48};
    report.failures = failures;
    state.comparisons.back().quality = QualityDone{state.comparisons.back().intent.id, report};
  }

  // Sat by the last comparison's candidate: 60 of 105 answers right as stock's.
  void sit_exam(const std::vector<std::string>& failures = {}) {
    state.exam = ExamPlan{true, ""};
    ExamReport report;
    report.compared = report.asked = 105;
    report.share_right = report.stock_right = 60.0 / 105;
    report.agreement = 0.9;
    report.stock_agreement = 0.95;
    report.failures = failures;
    report.checks = {{.name = "right answers", .items = 105, .stock_good = 60}, {.name = "answers that end by themselves", .verdict = ExamVerdict::Blind}};
    state.comparisons.back().exam = ExamDone{state.comparisons.back().intent.id, report};
  }

  void sign(bool yes, const std::string& code, const std::string& why) {
    Comparison& comparison = state.comparisons.back();
    comparison.critic =
        CriticVerdict{comparison.intent.id, yes, code, why, comparison.decided->look.raw};
  }

  void keep(const std::string& kind) {
    const Comparison& comparison = state.comparisons.back();
    Proposal& proposal = state.proposals.back();
    proposal.status = ProposalStatus::Kept;
    const Change& change = proposal.intent.change;
    state.stages.push_back({"S" + std::to_string(state.stages.size()), change.text(), kind, change,
                            comparison.intent.a.id(), comparison.intent.id, true});
    state.incumbent = comparison.intent.b;
    state.kept_items.push_back(change);
    state.pool.add_comparison(comparison.log_ratios());
  }

  void revert(const std::string& code, const std::string& why) {
    Proposal& proposal = state.proposals.back();
    proposal.status = ProposalStatus::Reverted;
    proposal.reverted = Reverted{proposal.comparison, proposal.intent.id, code, why};
  }

  SessionState state;
};

inline void sample_facts(SessionState& state) {
  state.session = "20261201-101500-smollm2";
  state.opened_wall = "2026-12-01T10:15:00.000Z";
  state.workload_sha256 = std::string(64, 'a');
  Workload& workload = state.workload;
  workload.model_path = "/models/SmolLM2-135M-Instruct-Q4_1.gguf";
  workload.traffic.clients = 4;
  workload.traffic.prompt_tokens = {128, 0.2};
  workload.traffic.output_tokens = {64, 0};
  workload.objective.limits = {{"ttft", 95, 450}};
  workload.time_s = 1800;
  ProbeEvent probe;
  probe.machine.cpu_name = "AMD EPYC 7B13";
  probe.machine.cores = 2;
  probe.machine.memory_bytes = 8ull << 30;
  probe.machine.os = "Debian GNU/Linux 12";
  probe.machine.kernel = "6.1.0";
  probe.model.name = "SmolLM2 135M Instruct";
  probe.model.architecture = "llama";
  probe.model.weights_type = "Q4_1";
  probe.model.parameters = 134515008;
  probe.model.bytes = 98000000;
  probe.roofs = {21.4, 118};
  probe.pack = "llama.cpp";
  probe.engine_version = "b6924";
  probe.source_commit = "0123456789abcdef0123";
  state.probe = probe;
  state.builds.push_back({"native",
                          "aa11",
                          "/b/native",
                          "Illegal instruction (SIGILL) in ggml_cpu_init",
                          true,
                          false,
                          212,
                          {}});
  state.builds.push_back({"portable", "bb22", "/b/portable", "", true, false, 187, {"-np", "-ub"}});
  state.enabled = Enabled{.build = "portable",
                          .stock = {},
                          .climbed = true,
                          .rungs = {"build native: SIGILL before the first answer",
                                    "build portable: booted, the real model answered correctly"},
                          .tokens_per_word = 1.31,
                          .leg_requests = 48,
                          .warmup_requests = 8};
  state.stages.push_back({"S0", "stock", "enablement", {}, "", "", true});
}

inline void sample_profiles(SessionState& state) {
  ProfileNote before;
  before.of = "stock";
  before.leg = "L5";
  before.kernels.source = "perf";
  before.kernels.samples = 4200;
  before.kernels.kernel_share = 0.78;
  before.kernels.barrier_share = 0.15;
  before.kernels.host_share = 0.07;
  before.kernels.rows = {
      {"ggml_vec_dot_q4_1_q8_1", "libggml-cpu.so", 0.58, "matmul"},
      {"ggml_barrier", "libggml-cpu.so", 0.15, "barrier"},
      {"ggml_compute_forward_flash_attn_ext", "libggml-cpu.so", 0.12, "attention"},
      {"ggml_vec_dot_f16", "libggml-cpu.so", 0.08, "matmul"},
      {"llama_sampler_apply", "libllama.so", 0.03, "sampling"},
      {"std::__detail::_Executor<char const*, std::allocator<x>>", "llama-server", 0.02, "other"}};
  before.roofline.points = {
      {Direction::Memory, 9.1, 21.4, 0.425, "GB/s", ""},
      {Direction::Compute, 24, 118, 0.203, "GFLOP/s", "fp32 peak"},
      {Direction::Host, 0.93, 1, 0.93, "share", ""},
      {Direction::Communication, 0.85, 1, 0.85, "share", "1 - time in barriers"}};
  before.roofline.bound = "host";
  before.roofline.gain_ceiling = 2.35;
  ProfileNote after = before;
  after.of = "best";
  after.leg = "L60";
  after.kernels.rows = {
      {"ggml_gemm_q8_0_8x8_q8_0", "libggml-cpu.so", 0.66, "matmul"},
      {"ggml_compute_forward_flash_attn_ext", "libggml-cpu.so", 0.17, "attention"},
      {"ggml_barrier", "libggml-cpu.so", 0.06, "barrier"},
      {"ggml_vec_dot_f16", "libggml-cpu.so", 0.05, "matmul"},
      {"llama_sampler_apply", "libllama.so", 0.04, "sampling"}};
  after.roofline.points[0] = {Direction::Memory, 17.2, 21.4, 0.804, "GB/s", ""};
  after.roofline.points[1] = {Direction::Compute, 41, 118, 0.347, "GFLOP/s", "fp32 peak"};
  after.roofline.points[2] = {Direction::Host, 0.96, 1, 0.96, "share", ""};
  after.roofline.points[3] = {Direction::Communication, 0.94, 1, 0.94, "share",
                              "1 - time in barriers"};
  after.roofline.bound = "host";
  after.roofline.gain_ceiling = 1.24;
  state.profiles = {before, after};
}

// Up to the sweep; no fresh pairs.
inline SampleSession sample_searched() {
  SampleSession s;
  sample_facts(s.state);
  std::vector<double> logs;
  for (const double value : {60.8, 61.9, 61.2, 60.5}) {
    s.leg("stock", "", "a", -1, {}, value);
    logs.push_back(std::log(value));
  }
  s.state.pool.add_stock_legs(logs);
  s.state.noise_known = true;

  s.compare(kSampleQ8, "framework", "expert",
            "Q8_0 repacks into 8x8 tiles here; Q4_1 has no such kernel", 0.3, 61,
            {1.47, 1.44, 1.49, 1.45});
  s.decide("faster", "p 0.0003 below the bound after 4 pairs", 0.0003);
  s.state.comparisons.back().decided->guards = {"ttft p95: proven within margin"};
  s.measure_quality(0.0041, 1.0012, 0.981);
  s.sign(true, "signed", "ratios recomputed from the legs agree; quality within limits");
  s.keep("framework");
  s.state.made.push_back(
      {Candidate{{kSampleQ8}}, true, "", "/cache/models/SmolLM2-Q8_0.gguf", 145000000, 4});

  s.compare(kSampleQ4, "framework", "expert", "smaller weights move fewer bytes", 0.2, 89,
            {1.06, 1.05, 1.07});
  s.decide("faster", "p 0.0011 below the bound after 3 pairs", 0.0011);
  s.measure_quality(0.083, 1.071, 0.902,
                    {"mean KL 0.083 is above kl_mean_max 0.02; keep a wider type"});
  s.sign(false, "quality", "KL divergence four times the limit");
  s.revert("quality", "mean KL 0.083 is above kl_mean_max 0.02");

  s.compare(kSampleSlots, "framework", "recipe",
            "one slot per client: requests are decoded together", 0.25, 89.5,
            {1.19, 1.17, 1.21, 1.18, 1.16});
  s.decide("faster", "p 0.0004 below the bound after 5 pairs", 0.0004);
  s.state.comparisons.back().decided->guards = {"ttft p95: unproven after 5 pairs"};
  s.measure_quality(0.0042, 1.0012, 0.981);
  s.sit_exam();
  s.sign(true, "signed", "ratios recomputed from the legs agree");
  s.keep("warm_replay");

  s.compare(kSampleBatch, "framework", "expert", "a smaller micro batch fits the L2 cache", 0.02,
            105, {1.012, 0.994, 1.021, 0.989, 1.008, 1.015, 0.992, 1.003, 1.011, 0.998});
  s.decide("unresolvable", "10 pairs did not tell it apart from no change", 0.21);
  s.revert("not_faster", "unresolvable after 10 pairs");

  Proposal refused;
  refused.intent = s.state.proposals[0].intent;
  refused.intent.id = "P5";
  refused.intent.change = {"flag", "-c", "256"};
  refused.intent.why = "<script>alert('from a log')</script>";
  refused.status = ProposalStatus::Refused;
  refused.refused =
      Refused{"P5", "L7", "-c 256",
              "the workload needs 192 tokens in each of 4 slots: ask for 768 or more"};
  s.state.proposals.push_back(refused);
  Proposal screened;
  screened.intent = s.state.proposals[0].intent;
  screened.intent.id = "P6";
  screened.intent.change = kSampleEnv;
  screened.intent.why = "spinning threads hide the barrier";
  screened.status = ProposalStatus::Reverted;
  screened.screened_log = std::log(0.97);
  screened.reverted = Reverted{"", "P6", "screened_out", "3 % slower than its control legs"};
  s.state.proposals.push_back(screened);

  s.leg("screen", "R1", "b", -1, Candidate{{kSampleEnv}}, 70);
  s.state.legs.back().done.reset();
  s.state.legs.back().void_reason = "foreign processes used 0.82 cores; stop them or wait";
  s.state.voids = 1;
  const Candidate best = s.state.incumbent;
  for (const auto& [clients, prompt, ratio] : std::vector<std::tuple<int, int, double>>{
           {2, 64, 1.41}, {8, 64, 1.93}, {2, 256, 1.22}, {8, 256, 0.96}}) {
    const std::string id = "c" + std::to_string(clients) + "-p" + std::to_string(prompt) + "-o64";
    const double base = 30 + 6 * clients - prompt / 32.0;
    s.leg("sweep", id, "a", -1, {}, base);
    s.leg("sweep", id, "b", -1, best, base * ratio);
    s.state.sweep.push_back({id, clients, prompt, 64, {base}, {base * ratio}});
  }
  sample_profiles(s.state);
  s.state.phases = {{"prelude", "opened", 1},
                    {"framework", "prelude_done", 1},
                    {"kernel", "no_more_flags", 1},
                    {"sweep", "no_candidate", 1},
                    {"close", "no_gain_left", 1}};
  s.state.phase_at_s = {0, 150, 980, 1010, 1190};
  s.state.phase = "close";
  s.state.spent_s = 1420;
  s.state.measuring_s = 1180;
  s.state.building_s = 403;
  s.state.unbudgeted_s = 420;
  s.state.first_gain_at_s = 310;
  s.state.notices = {"perf is not permitted for kernel symbols: only user code was sampled"};
  return s;
}

inline SessionState sample_state() {
  SampleSession s = sample_searched();
  const Candidate best = s.state.incumbent;
  s.state.final_pairs = s.pairs("final", "final", {}, best, 61, {1.72, 1.69, 1.77, 1.70, 1.74});
  s.state.ablation["without:weights"] =
      s.pairs("ablation", "without:weights", best.without("weights"), best, 74, {1.43});
  s.state.ablation["without:-np"] =
      s.pairs("ablation", "without:-np", best.without("-np"), best, 90, {1.17});
  s.state.recipe = RecipeWritten{"k1", "proven", true, 3};
  s.state.closed = Closed{"improved", "no_gain_left", false};
  return s.state;
}

inline ReportInputs sample_inputs(const SessionState& state) {
  return {state,
          {},
          {{"/cache/builds/bb22/bin/llama-server", "-m", "/models/SmolLM2-135M-Instruct-Q4_1.gguf",
            "--port", "${port}"},
           {},
           {},
           "chat"},
          {{"/cache/builds/bb22/bin/llama-server", "-m", "/cache/models/SmolLM2-Q8_0.gguf",
            "--port", "${port}", "-np", "4"},
           {{"OMP_PROC_BIND", "true"}},
           {},
           "chat"},
          false,
          ""};
}

}  // namespace hyperloom
