#include "report/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/files.h"
#include "os/child.h"
#include "report/findings.h"
#include "report/sample_state_for_test.h"
#include "report/svg.h"
#include "report/words.h"

namespace hyperloom {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

SessionState interrupted_state() {
  SessionState state = sample_searched().state;
  state.stop_request = "user_stop";
  return state;
}

SessionState not_enabled_state() {
  SessionState state;
  sample_facts(state);
  state.enabled.reset();
  state.stages.clear();
  state.builds[1].ok = false;
  state.builds[1].error = "no C++ compiler";
  return state;
}

// No claim, and a limit that no leg comes near.
SessionState limits_unmet_state() {
  SessionState state = sample_state();
  state.closed.reset();
  state.workload.objective.limits = {{"ttft", 95, 20}};
  return state;
}

TEST(Claim, IsTheFreshPairsOwnInterval) {
  const Interval claim = final_claim(sample_state());
  EXPECT_EQ(claim.n, 5);
  EXPECT_NEAR(std::exp(claim.mean), 1.724, 0.001);
  EXPECT_GT(claim.low, std::log(1.65));
  EXPECT_EQ(claim_text(claim).substr(0, 13), "1.72x faster ");
  EXPECT_TRUE(has(claim_text(claim), "at 95 %, 5 fresh pairs")) << claim_text(claim);
  EXPECT_EQ(final_claim(SessionState{}).n, 0);
}

TEST(Claim, OnePairIsNoProof) {
  SessionState state = sample_state();
  state.closed.reset();
  state.final_pairs.resize(1);
  EXPECT_EQ(final_claim(state).n, 1);
  EXPECT_EQ(result_of(state, false), "no_gain");
  EXPECT_TRUE(has(claim_text(final_claim(state)), "too few"));
}

TEST(Result, FollowsTheEvidence) {
  SessionState improved = sample_state();
  improved.closed.reset();
  EXPECT_EQ(result_of(improved, false), "improved");
  EXPECT_EQ(result_of(improved, true), "improved");
  SessionState four = improved;
  four.final_pairs.resize(4);
  EXPECT_EQ(result_of(four, true), "interrupted");
  EXPECT_EQ(result_of(four, false), "no_gain");
  for (PairDone& pair : improved.final_pairs) pair.log_ratio = pair.pair % 2 ? 0.02 : -0.02;
  EXPECT_EQ(result_of(improved, false), "no_gain");
  EXPECT_EQ(result_of(not_enabled_state(), false), "not_enabled");
  EXPECT_EQ(result_of(not_enabled_state(), true), "interrupted");
  EXPECT_EQ(result_of(interrupted_state(), true), "interrupted");
  EXPECT_EQ(result_of(limits_unmet_state(), false), "limits_unmet");
}

TEST(Result, MeetingLimitsThatStockMissesIsAnImprovement) {
  SessionState state = sample_state();
  state.closed.reset();
  for (PairDone& pair : state.final_pairs) pair.log_ratio = pair.pair % 2 ? 0.01 : -0.01;
  state.workload.objective.limits = {{"ttft", 95, 250}};  // stock 344 ms, best 199 ms
  EXPECT_EQ(result_of(state, false), "improved");
  EXPECT_TRUE(has(render_html(sample_inputs(state)), "Meets the limits that stock misses"));
}

TEST(Result, AStackThatBreaksALimitOfStockIsNoImprovement) {
  SessionState state = sample_state();
  state.closed.reset();
  state.workload.objective.limits = {{"ttft", 95, 400}};  // stock 344 ms
  for (const PairDone& pair : state.final_pairs) {
    state.legs[state.leg_index.at(pair.leg_b)].done->result->load.ttft_ms.p95 = 450;
  }
  EXPECT_EQ(result_of(state, false), "limits_unmet");
  const std::string html = render_html(sample_inputs(state));
  EXPECT_TRUE(has(html, "breaks a limit that stock meets: keep stock"));
  EXPECT_TRUE(has(html, "full stack 450 ms"));
}

TEST(Result, AClosedJournalHasTheLastWord) {
  SessionState state = sample_state();
  state.closed->result = "no_gain";
  EXPECT_EQ(result_of(state, false), "no_gain");
}

TEST(Limits, TheNearestIsNamed) {
  const auto nearest = nearest_to_limits(limits_unmet_state());
  ASSERT_TRUE(nearest);
  EXPECT_NE(nearest->candidate.find("-np"), nullptr);
  EXPECT_NEAR(nearest->ms, 196, 10);
  const std::string html = render_html(sample_inputs(limits_unmet_state()));
  EXPECT_TRUE(has(html, "Limits not met"));
  EXPECT_TRUE(has(html, "Nearest: "));
  EXPECT_FALSE(has(html, "<h1><em>"));
}

TEST(Contributions, ComeOutPositiveWhicheverSideIsFull) {
  SessionState state = sample_state();
  std::vector<Contribution> found = contributions(state);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].knob, "weights");
  EXPECT_NEAR(std::exp(found[1].effect.mean), 1.43, 1e-9);
  PairDone& pair = state.ablation["without:weights"][0];
  std::swap(pair.leg_a, pair.leg_b);
  pair.log_ratio = -pair.log_ratio;
  EXPECT_NEAR(std::exp(contributions(state)[1].effect.mean), 1.43, 1e-9);
}

TEST(Html, ShowsTheSession) {
  const SessionState state = sample_state();
  const std::string html = render_html(sample_inputs(state));
  for (const char* part : {"<em>1.72&times;</em> faster",
                           "5 fresh pairs",
                           "numeric change",
                           "145.0 MB",
                           "Q4_0",
                           "kl_mean_max",
                           "unresolvable",
                           "counts as no speed-up",
                           "deciding pair",
                           "rule L7",
                           "screened_out",
                           "0.82 cores",
                           "signed",
                           "vetoed",
                           "bound by host",
                           "ggml_gemm_q8_0_8x8_q8_0",
                           "Void legs",
                           "ttft p95: unproven after 5 pairs",
                           "--port 8080",
                           "prefers-color-scheme"}) {
    EXPECT_TRUE(has(html, part)) << part;
  }
}

TEST(Html, IsSelfContainedAndEscapesEverything) {
  SessionState state = sample_state();
  const std::string evil = "\"><script>alert(1)</script>\xE2\x80\xAE\x01\xFF";
  state.session = evil;
  state.probe->model.name = evil;
  state.workload.traffic.dataset = evil;
  state.proposals[0].intent.why = evil;
  state.proposals[4].refused->value = evil;
  state.legs[3].void_reason = evil;
  state.notices = {evil};
  state.profiles[0].kernels.rows[0].symbol = evil;
  state.profiles[0].kernels.rows[0].group = evil;
  state.profiles[1].roofline.points[0].note = evil;
  state.builds[0].error = evil;
  state.stages[1].name = evil;
  state.comparisons[0].decided->guards = {evil};
  state.comparisons[0].quality->report.notes = {evil};
  ReportInputs inputs = sample_inputs(state);
  inputs.best_launch.argv.push_back(evil);
  const std::string html = render_html(inputs);
  EXPECT_FALSE(has(html, "<script"));
  EXPECT_FALSE(has(html, "\xE2\x80\xAE"));
  EXPECT_FALSE(has(html, "\xFF"));
  EXPECT_FALSE(has(html, "http://"));
  EXPECT_FALSE(has(html, "https://"));
  EXPECT_FALSE(std::regex_search(html, std::regex("(src|href)=|url\\(|@import")));
}

TEST(Html, IsTheSameForTheSameState) {
  const SessionState state = sample_state();
  EXPECT_EQ(render_html(sample_inputs(state)), render_html(sample_inputs(state)));
  EXPECT_EQ(make_summary(sample_inputs(state)).dump(),
            make_summary(sample_inputs(sample_state())).dump());
}

TEST(Html, NeverCallsAStageAClaim) {
  const SessionState state = interrupted_state();
  ReportInputs inputs = sample_inputs(state);
  inputs.provisional = true;
  inputs.stop_reason = "user_stop";
  const std::string html = render_html(inputs);
  EXPECT_TRUE(has(html, "<b>Provisional.</b>"));
  EXPECT_TRUE(has(html, "Interrupted before a claim could be made"));
  EXPECT_FALSE(has(html, "</em> faster"));
  EXPECT_TRUE(has(html, "the whole stack has no fresh pairs"));
}

TEST(Html, AnEmptyOrFailedSessionIsSaidTruthfully) {
  const SessionState failed = not_enabled_state();
  ReportInputs inputs = sample_inputs(failed);
  inputs.best_launch = {};
  const std::string html = render_html(inputs);
  EXPECT_TRUE(has(html, "could not be made to answer"));
  EXPECT_TRUE(has(html, "no C++ compiler"));
  EXPECT_FALSE(has(html, "Launch it"));
  const SessionState empty;
  EXPECT_TRUE(has(render_html({empty, {}, {}, {}, true, ""}), "No claim yet"));
  EXPECT_FALSE(render_markdown({empty, {}, {}, {}, true, ""}).empty());
}

TEST(Markdown, TellsOfTheExamAndOfWhatItCannotSee) {
  SessionState state = sample_state();
  std::string text = render_markdown(sample_inputs(state));
  EXPECT_TRUE(has(text, "exam held"));
  EXPECT_TRUE(has(text, "exam of all that was kept: 57.1 % of 105 answers right (stock 57.1 %)"));
  EXPECT_TRUE(has(text, "cannot see here: answers that end by themselves"));
  EXPECT_TRUE(has(render_html(sample_inputs(state)), "57.1 % of 105 answers right"));
  EXPECT_EQ(make_summary(sample_inputs(state)).at("quality").at("exam").at("items"), 105);
  state.exam = ExamPlan{false, "no exam: the budget is too short"};
  for (Comparison& c : state.comparisons) c.exam.reset();
  text = render_markdown(sample_inputs(state));
  EXPECT_TRUE(has(text, "- no exam: the budget is too short"));
  EXPECT_TRUE(has(render_html(sample_inputs(state)), "no exam: the budget is too short"));
  EXPECT_FALSE(make_summary(sample_inputs(state)).at("quality").contains("exam"));
}

TEST(Markdown, IsShortAndInert) {
  SessionState state = sample_state();
  state.proposals[4].refused->mend = "<img src=x> | `boo` **x**";
  const std::string text = render_markdown(sample_inputs(state));
  EXPECT_TRUE(text.starts_with("# 1.72x faster "));
  EXPECT_TRUE(has(text, "numeric change of the stock model"));
  EXPECT_TRUE(has(text, "reverted: quality"));
  EXPECT_FALSE(has(text, "<img"));
  EXPECT_FALSE(has(text, "**x**"));
  EXPECT_LT(text.size(), render_html(sample_inputs(state)).size() / 3);
}

TEST(Table, FitsTheTerminal) {
  SessionState state = sample_state();
  state.stages[1].name = std::string(300, 'x') + "\x1b[31m";
  const std::string table = render_table(state);
  size_t start = 0;
  while (start < table.size()) {
    const size_t end = table.find('\n', start);
    EXPECT_LE(end - start, 100u) << table.substr(start, end - start);
    start = end + 1;
  }
  EXPECT_FALSE(has(table, "\x1b"));
  EXPECT_TRUE(has(table, "1.72x ["));
  EXPECT_TRUE(has(table, "reverted: quality"));
  EXPECT_TRUE(has(table, "enabled"));
}

class LaunchScript : public testing::Test {
 protected:
  RunResult sh(const std::string& script, const std::vector<std::string>& arguments) {
    write_file(folder_.path() / "launch.sh", script);
    ChildSpec spec;
    spec.argv = {"sh"};
    for (const std::string& word : arguments)
      spec.argv.push_back(word == "SCRIPT" ? (folder_.path() / "launch.sh").string() : word);
    return run_child(spec, 20);
  }
  TempDir folder_;
};

TEST_F(LaunchScript, RunsExactlyTheArguments) {
  SessionState state = sample_state();
  ReportInputs inputs = sample_inputs(state);
  const std::string model = (folder_.path() / "it's a model.gguf").string();
  write_file(model, "x");
  state.workload.model_path = model;
  inputs.best_launch.argv = {"printf", "[%s]", "-m",       model, "--url", "http://h:${port}/$HOME",
                             "a b",    "",     "'\"`$(id)"};
  inputs.best_launch.env = {{"GREETING", "it's $HOME"}, {"odd.name", "1"}};
  const std::string script = render_launch_script(inputs);
  EXPECT_TRUE(sh(script, {"-n", "SCRIPT"}).status.ok()) << script;
  const RunResult run = sh(script, {"SCRIPT", "9001"});
  EXPECT_EQ(run.output, "[-m][" + model + "][--url][http://h:9001/$HOME][a b][]['\"`$(id)]")
      << script;
  EXPECT_TRUE(has(sh(script, {"SCRIPT"}).output, "http://h:8080/"));
  EXPECT_EQ(sh(script, {"SCRIPT", "80;id"}).status.code, 2);
  ::unlink(model.c_str());
  const RunResult missing = sh(script, {"SCRIPT"});
  EXPECT_EQ(missing.status.code, 2);
  EXPECT_TRUE(has(missing.output, "is missing or unreadable")) << missing.output;
}

TEST_F(LaunchScript, PassesTheEnvironment) {
  const SessionState state = sample_state();
  ReportInputs inputs = sample_inputs(state);
  inputs.best_launch.argv = {"sh", "-c", "echo \"$GREETING\""};
  inputs.best_launch.env = {{"GREETING", "it's $HOME"}};
  EXPECT_EQ(sh(render_launch_script(inputs), {"SCRIPT"}).output, "it's $HOME\n");
}

TEST_F(LaunchScript, RefusesAMissingServer) {
  const SessionState state = sample_state();
  ReportInputs inputs = sample_inputs(state);
  inputs.best_launch.argv[0] = "/nonexistent/server";
  const RunResult run = sh(render_launch_script(inputs), {"SCRIPT"});
  EXPECT_EQ(run.status.code, 2);
  EXPECT_TRUE(has(run.output, "/nonexistent/server")) << run.output;
  inputs.best_launch.argv.clear();
  EXPECT_EQ(sh(render_launch_script(inputs), {"SCRIPT"}).status.code, 3);
}

TEST(WriteReport, LeavesFilesAndABundle) {
  const TempDir folder;
  write_file(folder.path() / "journal.hlj", "journal\n");
  make_folders(folder.path() / "blobs");
  write_file(folder.path() / "blobs" / "00", "blob");
  const SessionState state = sample_state();
  ReportInputs inputs = sample_inputs(state);
  inputs.session_dir = folder.path();
  const ReportFiles files = write_report(inputs);
  ChildSpec spec;
  spec.argv = {"tar", "-tzf", files.bundle.string()};
  const RunResult list = run_child(spec, 20);
  EXPECT_EQ(list.output,
            "blobs/\nblobs/00\njournal.hlj\nlaunch.sh\nreport.html\nreport.md\nsummary.json\n");
  const std::string first = read_file(files.bundle);
  write_report(inputs);
  EXPECT_EQ(read_file(files.bundle), first);
  EXPECT_TRUE(has(read_file(files.html), "Journal SHA-256"));
  EXPECT_EQ(::access(files.launch.c_str(), X_OK), 0);
}

TEST(WriteReport, WithoutTarTheReportStands) {
  const TempDir folder;
  const SessionState state = sample_state();
  ReportInputs inputs = sample_inputs(state);
  inputs.session_dir = folder.path();
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder.path().c_str(), 1);
  const ReportFiles files = write_report(inputs);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(files.bundle.empty());
  EXPECT_TRUE(has(files.notice, "tar")) << files.notice;
  EXPECT_TRUE(std::filesystem::exists(files.html));
  EXPECT_TRUE(std::filesystem::exists(files.summary));
}

TEST(Words, SayNumbersPlainly) {
  EXPECT_EQ(figure_text(1234.5), "1234");
  EXPECT_EQ(figure_text(61.26), "61.3");
  EXPECT_EQ(figure_text(9.999), "10.0");
  EXPECT_EQ(figure_text(0.0123), "0.0123");
  EXPECT_EQ(ratio_text(std::log(1.004)), "1.004");
  EXPECT_EQ(ratio_text(std::log(1.72)), "1.72");
  Objective latency;
  latency.maximize = "ttft";
  EXPECT_EQ(value_text(8, latency), "125 ms");
  EXPECT_EQ(cut("h\xC3\xA9llo world", 4), "h\xC3\xA9l\xE2\x80\xA6");
  EXPECT_EQ(printable("a\xC0\xAF\x1b[0m\xED\xA0\x80\n"),
            "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD[0m\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n");
}

}  // namespace
}  // namespace hyperloom
