#include "workload/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace hyperloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kSmall[] = R"(schema: 1
model: {path: m.gguf}
traffic: {clients: 4, prompt_tokens: {mean: 128, cv: 0.3}, output_tokens: 64}
budget: {time_s: 25m}
)";

Workload parsed(const std::string& yaml) { return parse_workload(yaml, "/somewhere/w.yaml"); }

TEST(Workload, SmallestFileGetsTheDefaults) {
  const Workload w = parsed(kSmall);
  EXPECT_EQ(w.model_path, "/somewhere/m.gguf");
  EXPECT_EQ(w.engine_pack, "llama.cpp");
  EXPECT_EQ(w.traffic.kind, Traffic::Kind::Closed);
  EXPECT_EQ(w.traffic.api, Traffic::Api::Chat);
  EXPECT_EQ(w.traffic.clients, 4);
  EXPECT_EQ(w.traffic.prompt_tokens.mean, 128);
  EXPECT_EQ(w.traffic.prompt_tokens.cv, 0.3);
  EXPECT_EQ(w.traffic.output_tokens.mean, 64);
  EXPECT_EQ(w.traffic.output_tokens.cv, 0);
  EXPECT_TRUE(w.traffic.ignore_eos);
  EXPECT_EQ(w.objective.maximize, "output_tok_s");
  EXPECT_EQ(w.objective.least_gain, 0.005);
  EXPECT_EQ(w.time_s, 1500);
  EXPECT_EQ(w.build_s, 1800);
  EXPECT_EQ(w.cpus, 0);
  EXPECT_EQ(w.alpha, 0.05);
  EXPECT_EQ(w.comparisons, 20);
  EXPECT_TRUE(w.may_touch("precision", "weights"));
}

TEST(Workload, EveryField) {
  TempDir dir;
  write_file(dir.path() / "prompts.txt", "hello\n");
  const Workload w = parse_workload(R"(schema: 1
model: {path: /models/m.gguf}
engine:
  pack: custom
  command: [bin/serve, --wrapped]
  argv: [-np, 8, --flash-attn, on]
  env: {OMP_NUM_THREADS: 4, MODE: on, MAX_TOKENS: 512}
machine: {cpus: 6, gpus: 0}
traffic: {kind: poisson, rate_rps: 2.5, dataset: prompts.txt, output_tokens: {mean: 100, cv: 0.5},
          ignore_eos: no, shared_prefix_tokens: 32, api: completions, seed: 7}
objective: {maximize: e2e, per_gpu: true, least_gain: 0.01,
            limits: [{metric: ttft, percentile: 95, max_ms: 500}, {metric: ttft, percentile: 99, max_ms: 900}]}
quality: {kl_mean_max: 0.01, ppl_ratio_max: 1.02, top1_min: 0.9, tasks: [], waived: "trial"}
budget: {time_s: 3600, build_s: 10 min, llm_usd: 0}
touch: {flags: true, env: false, precision: [weights, kv], build: [], source: false}
alpha: 0.01
comparisons: 40
)",
                                    dir.path() / "w.yaml");
  EXPECT_EQ(w.model_path, "/models/m.gguf");
  EXPECT_THAT(w.engine_command, ElementsAre((dir.path() / "bin/serve").string(), "--wrapped"));
  EXPECT_THAT(w.engine_argv, ElementsAre("-np", "8", "--flash-attn", "on"));
  EXPECT_EQ(w.engine_env.at("MODE"), "on");
  EXPECT_EQ(w.engine_env.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(w.cpus, 6);
  EXPECT_EQ(w.traffic.kind, Traffic::Kind::Open);
  EXPECT_EQ(w.traffic.rate_rps, 2.5);
  EXPECT_EQ(w.traffic.dataset, (dir.path() / "prompts.txt").string());
  EXPECT_FALSE(w.traffic.ignore_eos);
  EXPECT_EQ(w.traffic.seed, 7u);
  ASSERT_EQ(w.objective.limits.size(), 2u);
  EXPECT_EQ(w.objective.limits[1].max_ms, 900);
  EXPECT_EQ(w.quality.waived, "trial");
  EXPECT_EQ(w.build_s, 600);
  EXPECT_TRUE(w.may_touch("flag", "-np"));
  EXPECT_FALSE(w.may_touch("env", "MODE"));
  EXPECT_TRUE(w.may_touch("precision", "kv"));
  EXPECT_FALSE(w.may_touch("precision", "other"));
  EXPECT_FALSE(w.may_touch("build", "any")) << "an empty list allows nothing";
  EXPECT_FALSE(w.may_touch("patch", "any"));
  EXPECT_TRUE(w.may_touch("table", "any"));
  for (const Workload& again : {parse_workload(write_workload(w), dir.path() / "w.yaml"),
                                workload_from_json(Json::parse(to_json_value(w).dump()))}) {
    EXPECT_EQ(again.canonical(), w.canonical());
    EXPECT_EQ(again.file, w.file);
  }
}

TEST(Workload, WrittenFileParsesBackAndExplainsItself) {
  Workload w = parsed(kSmall);
  const std::string text = write_workload(w);
  EXPECT_EQ(parsed(text).canonical(), w.canonical());
  EXPECT_THAT(text, HasSubstr("# "));
  w.engine_argv = {"--system", "say \"hi\": # no\n\t%", "", "äöü"};
  w.model_path = "/odd: #/mo'del.gguf";
  w.alpha = 0.1 + 0.2;
  w.time_s = 1234567.5;
  EXPECT_EQ(parsed(write_workload(w)).canonical(), w.canonical());
}

TEST(Workload, CanonicalIsAboutMeaning) {
  const Workload w = parsed(kSmall);
  EXPECT_EQ(parse_workload(kSmall, "/somewhere/other.yaml").canonical(), w.canonical());
  EXPECT_EQ(parsed(std::string(kSmall) + "touch: {flags: yes}\nalpha: 0.050\n").canonical(),
            w.canonical());
  EXPECT_NE(parsed(std::string(kSmall) + "touch: false\n").canonical(), w.canonical());
  EXPECT_EQ(w.canonical().find("w.yaml"), std::string::npos);
}

TEST(Workload, DurationsAsPeopleWriteThem) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"90", 90},        {"1e3", 1000},  {"0.5", 0.5},    {"90s", 90},
      {"25m", 1500},     {"1h", 3600},   {"1h30m", 5400}, {"1h 30min", 5400},
      {"\"2 h\"", 7200}, {"1.5h", 5400}, {"2d", 172800}};
  for (const auto& [text, seconds] : cases)
    EXPECT_EQ(parsed(replace_all(kSmall, "25m", text)).time_s, seconds) << text;
}

struct Bad {
  const char *from, *to;     // replaced in the small file; from "" = appended
  const char *where, *says;  // "line: field" and a part of the rest
};

void expect_refused(const std::vector<Bad>& cases) {
  for (const Bad& bad : cases) {
    std::string yaml = kSmall;
    if (*bad.from) {
      ASSERT_NE(yaml.find(bad.from), std::string::npos) << bad.from;
      yaml = replace_all(yaml, bad.from, bad.to);
    } else {
      yaml += bad.to;
    }
    SCOPED_TRACE(yaml);
    try {
      parsed(yaml);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_THAT(error.what(), testing::StartsWith(std::string("/somewhere/w.yaml:") + bad.where));
      EXPECT_THAT(error.what() + ("\n" + error.mend()), HasSubstr(bad.says));
      EXPECT_NE(error.mend(), "") << error.what();
    }
  }
}

TEST(BadWorkload, Top) {
  expect_refused({{"schema: 1\n", "", "1: schema", "write schema: 1"},
                  {"schema: 1", "schema: 2", "1: schema", "newer"},
                  {"schema: 1", "schema: one", "1: schema", "not a number"},
                  {"", "traffik: 1\n", "5: traffik", "did you mean `traffic`"},
                  {"", "budget: {time_s: 1}\n", "5: budget", "twice"},
                  {"", "alpha:\n", "5: alpha", "no value"},
                  {"", "alpha: 0\n", "5: alpha", "above 0"},
                  {"", "alpha: 5 %\n", "5: alpha", "not a number"},
                  {"", "alpha: 0.9\n", "5: alpha", "at most 0.5"},
                  {"", "alpha: .nan\n", "5: alpha", "not a finite"},
                  {"", "comparisons: 0\n", "5: comparisons", "at least 1"},
                  {"", "comparisons: 1.5\n", "5: comparisons", "whole number"},
                  {"", "comparisons: [1]\n", "5: comparisons", "must be a whole number"},
                  {"", "bad\n", "5: bad", "unknown key"},
                  {"", "a: b: c\n", "5:", "not YAML"},
                  {"", "---\nschema: 1\n", "", "2 documents"},
                  {"", "...\n,", "", "2 documents"},
                  {"", "objective: fast\n", "5: objective", "must be a map"},
                  {"", "? [a]\n: b\n", "5:", "plain text"},
                  {"", "alpha: *none\n", "5:", "not YAML"}});
}

TEST(BadWorkload, Model) {
  expect_refused({{"{path: m.gguf}", "m.gguf", "2: model", "{path: m.gguf}"},
                  {"path: m.gguf", "hub: a/b", "2: model.hub", "download the GGUF"},
                  {"path: m.gguf", "pth: m.gguf", "2: model.pth", "did you mean `path`"},
                  {"model: {path: m.gguf}\n", "", "1: model.path", "missing"},
                  {"path: m.gguf", "path: \"\"", "2: model.path", "empty"},
                  {"path: m.gguf", "path: [a]", "2: model.path", "must be text"},
                  {"path: m.gguf", "path: \"a\\0b\"", "2: model.path", "NUL"},
                  {"path: m.gguf", "path: m.gguf, revision: x", "2: model.revision", "remove it"}});
}

TEST(BadWorkload, Engine) {
  expect_refused(
      {{"", "engine: {argv: -np 8}\n", "5: engine.argv", "must be a list"},
       {"", "engine: {argv: [[a]]}\n", "5: engine.argv", "plain texts"},
       {"", "engine: {env: [A]}\n", "5: engine.env", "must be a map"},
       {"", "engine: {env: {A-B: 1}}\n", "5: engine.env", "not a variable's name"},
       {"", "engine: {env: {HF_TOKEN: hf_x}}\n", "5: engine.env", "from a file of yours"},
       {"", "engine: {env: {A: 1, A: 2}}\n", "5: engine.env.A", "twice"},
       {"", "engine: {argv: [-np, 8, --api-key, abc]}\n", "5: engine.argv", "`--api-key` looks like a secret"},
       {"", "engine: {argv: [--hf-token=abc]}\n", "5: engine.argv", "`--hf-token` looks like a secret"},
       {"", "engine: {argv: [--password, abc]}\n", "5: engine.argv", "serve without a key on loopback"},
       {"", "engine: {argv: [--env=HF_TOKEN=abc]}\n", "5: engine.argv", "`HF_TOKEN` looks like"},
       {"", "engine: {argv: [--login, hf_abcdefghijklmnopqrstuv]}\n", "5: engine.argv", "`hf_***` looks"},
       {"", "engine: {command: [env, API_KEY=abc, serve]}\n", "5: engine.command", "`API_KEY` looks"},
       {"", "engine: {argv: [--port, '{port}']}\n", "5: engine.argv", "write ${port}"},
       {"", "engine: {command: [serve, '-m={model}']}\n", "5: engine.command", "write ${model}"},
       {"", "engine: {pack: ../x}\n", "5: engine.pack", "not a pack's name"},
       {"", "engine: {command: numactl serve}\n", "5: engine.command", "[numactl, serve]"},
       {"", "engine: {command: []}\n", "5: engine.command", "is empty"},
       {"", "engine: {command: x, version: b1}\n", "5: engine.version", "remove one"},
       {"", "engine: {python: venv}\n", "5: engine.python", "command"}});
}

TEST(Workload, ArgumentsThatOnlyLookLikeSecretsPass) {
  const std::vector<std::string> innocent = {
      "--api-key-file", "/etc/key",  "--max-num-batched-tokens",     "8192", "--pad-token", "0",
      "--use-token",    "--no-mmap", "--tokenizer=hf_models_of_mine/x", "max_tokens=512",
      "--chat-template", "{{port}} ${port}", "--override-kv", "a.b_token=bool:false"};
  std::string list;
  for (const std::string& word : innocent) list += (list.empty() ? "'" : ", '") + word + "'";
  EXPECT_EQ(parsed(std::string(kSmall) + "engine: {argv: [" + list + "]}\n").engine_argv, innocent);
}

TEST(BadWorkload, Traffic) {
  expect_refused(
      {{"clients: 4", "clients: 0", "3: traffic.clients", "at least 1"},
       {"clients: 4", "clients: -3", "3: traffic.clients", "at least 1"},
       {"clients: 4", "clients: 1e9", "3: traffic.clients", "too large"},
       {"clients: 4", "clients: .inf", "3: traffic.clients", "not a finite"},
       {"clients: 4", "clients: 4 users", "3: traffic.clients", "not a number"},
       {"clients: 4, ", "", "3: traffic.clients", "missing"},
       {"clients: 4", "client: 4", "3: traffic.client", "did you mean `clients`"},
       {"clients: 4", "clients: 1e999", "3: traffic.clients", "too large"},
       {"clients: 4", "clients: 4, rate_rps: 2", "3: traffic.rate_rps",
        "does not go with kind: closed"},
       {"clients: 4", "kind: poisson", "3: traffic.rate_rps", "missing"},
       {"clients: 4", "kind: poisson, rate_rps: 0", "3: traffic.rate_rps", "above 0"},
       {"clients: 4", "kind: poisson, rate_rps: -.inf", "3: traffic.rate_rps", "not a finite"},
       {"clients: 4, prompt_tokens: {mean: 128, cv: 0.3}, output_tokens: 64", "kind: trace", "3: traffic.trace", "missing"},
       {"clients: 4", "clients: 4, speed: 2", "3: traffic.speed", "does not go with kind: closed"},
       {"clients: 4", "kind: batch", "3: traffic.kind", "supported: closed"},
       {"clients: 4", "kind: clsoed", "3: traffic.kind", "did you mean `closed`"},
       {"clients: 4", "clients: 4, api: images", "3: traffic.api", "supported: chat"},
       {"clients: 4", "clients: 4, api: command", "3: traffic.api", "supported: chat"},
       {"clients: 4", "clients: 4, ignore_eos: 3", "3: traffic.ignore_eos", "true or false"},
       {"clients: 4", "clients: 4, seed: -1", "3: traffic.seed", "at least 0"},
       {"clients: 4", "clients: 4, shared_prefix_tokens: 128", "3: traffic.shared_prefix_tokens",
        "shorter"},
       {"clients: 4", "clients: 4, dataset: none.txt", "3: traffic.prompt_tokens",
        "stands beside traffic.dataset"},
       {"prompt_tokens: {mean: 128, cv: 0.3}", "dataset: none.txt", "3: traffic.dataset",
        "there is no /somewhere/none.txt"},
       {"prompt_tokens: {mean: 128, cv: 0.3}", "dataset: /usr", "3: traffic.dataset", "not a file"},
       {"prompt_tokens: {mean: 128, cv: 0.3}", "dataset: /dev/null", "3: traffic.dataset",
        "not a file"},
       {"prompt_tokens: {mean: 128, cv: 0.3}, ", "", "3: traffic.prompt_tokens", "missing"},
       {"mean: 128", "mean: 0", "3: traffic.prompt_tokens.mean", "at least 1"},
       {"mean: 128, ", "", "3: traffic.prompt_tokens.mean", "missing"},
       {"mean: 128", "mean: 1e8", "3: traffic.prompt_tokens.mean", "too large"},
       {"cv: 0.3", "cv: -1", "3: traffic.prompt_tokens.cv", "at least 0"},
       {"cv: 0.3", "cv: 30", "3: traffic.prompt_tokens.cv", "at most 5"},
       {"cv: 0.3", "sd: 3", "3: traffic.prompt_tokens.sd", "unknown key"},
       {"output_tokens: 64", "output_tokens: 0", "3: traffic.output_tokens", "at least 1"},
       {", output_tokens: 64", "", "3: traffic.output_tokens", "missing"}});
}

TEST(BadWorkload, Objective) {
  expect_refused(
      {{"", "objective: {maximize: tokens}\n", "5: objective.maximize", "one of: output_tok_s"},
       {"", "objective: {least_gain: 5}\n", "5: objective.least_gain", "at most 0.5"},
       {"", "objective: {least_gain: -0.1}\n", "5: objective.least_gain", "at least 0"},
       {"", "objective: {limits: {metric: ttft}}\n", "5: objective.limits", "must be a list"},
       {"", "objective:\n  limits:\n    - {metric: tft, percentile: 95, max_ms: 5}\n",
        "7: objective.limits[0].metric", "did you mean `ttft`"},
       {"", "objective: {limits: [{metric: ttft, max_ms: 5}]}\n",
        "5: objective.limits[0].percentile", "missing"},
       {"", "objective: {limits: [{metric: ttft, percentile: 97, max_ms: 5}]}\n",
        "5: objective.limits[0].percentile", "50, 90, 95, 99"},
       {"", "objective: {limits: [{metric: ttft, percentile: 95, max_ms: 0}]}\n",
        "5: objective.limits[0].max_ms", "above 0"},
       {"",
        "objective: {limits: [{metric: ttft, percentile: 95, max_ms: 1}, {metric: ttft, "
        "percentile: 95, max_ms: 2}]}\n",
        "5: objective.limits[1]", "same metric"},
       {"", "objective: {limits: [ttft]}\n", "5: objective.limits[0]", "must be a map"}});
}

TEST(BadWorkload, Rest) {
  expect_refused({{"", "quality: {kl_mean_max: 0}\n", "5: quality.kl_mean_max", "above 0"},
                  {"", "quality: {ppl_ratio_max: 0.9}\n", "5: quality.ppl_ratio_max", "at least 1"},
                  {"", "quality: {top1_min: 95}\n", "5: quality.top1_min", "at most 1"},
                  {"", "quality: {tasks: [gsm8k]}\n", "5: quality.tasks", "not measured yet"},
                  {"", "quality: {waived: true}\n", "5: quality.waived", "reason"},
                  {"budget: {time_s: 25m}\n", "", "1: budget.time_s", "missing"},
                  {"25m", "0", "4: budget.time_s", "above 0"},
                  {"25m", "-5", "4: budget.time_s", "above 0"},
                  {"25m", "25x", "4: budget.time_s", "90s, 25m, 1h30m"},
                  {"25m", "h", "4: budget.time_s", "90s, 25m"},
                  {"25m", "1h30", "4: budget.time_s", "90s, 25m"},
                  {"25m", "..5h", "4: budget.time_s", "90s, 25m"},
                  {"25m", "nan", "4: budget.time_s", "not a finite"},
                  {"25m", "400d", "4: budget.time_s", "too large"},
                  {"25m", "1h, build_s: -1", "4: budget.build_s", "at least 0"},
                  {"25m", "1h, llm_usd: 5", "4: budget.llm_usd", "remove it"},
                  {"time_s: 25m", "time: 25m", "4: budget.time", "did you mean `time_s`"},
                  {"", "machine: {cpus: 0}\n", "5: machine.cpus", "at least 1"},
                  {"", "machine: {gpus: 2}\n", "5: machine.gpus", "not given out"},
                  {"", "touch: {flag: true}\n", "5: touch.flag", "did you mean `flags`"},
                  {"", "touch: {flags: maybe}\n", "5: touch.flags", "true or false"},
                  {"", "touch: {flags: {a: b}}\n", "5: touch.flags", "list of names"},
                  {"", "touch: [flags]\n", "5: touch", "must be a map"}});
}

TEST(Workload, EmptyAndUnreadableFiles) {
  EXPECT_THROW(parsed(""), Error);
  EXPECT_THROW(parsed("# only a comment\n"), Error);
  EXPECT_THROW(parsed("\n,"), Error);
  EXPECT_THROW(parsed("just text"), Error);
  EXPECT_THROW(parsed("- a\n- b\n"), Error);
  EXPECT_THROW(parsed("a: [\n"), Error);
  EXPECT_THROW(parsed(std::string("a: \xff\xfe\0", 6)), Error);
  EXPECT_THROW(load_workload("/nowhere/w.yaml"), Error);
  EXPECT_THROW(parsed("a: &x [*x]\n"), Error);
  EXPECT_THROW(parsed(std::string(100000, '[')), Error);
}

TEST(Workload, LoadingAsksForTheModel) {
  TempDir dir;
  const fs::path file = dir.path() / "w.yaml";
  write_file(file, kSmall);
  try {
    load_workload(file);
    FAIL() << "no model, no session";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(file.string() + ":2: model.path: there is no " +
                                        (dir.path() / "m.gguf").string()));
  }
  write_file(dir.path() / "m.gguf", "GGUF");
  EXPECT_EQ(load_workload(file).model_path, dir.path() / "m.gguf");
}

TEST(Workload, DamagedJsonIsBadInput) {
  EXPECT_THROW(workload_from_json(Json::object()), Error);
  Json json = to_json_value(parsed(kSmall));
  json["traffic"]["seed"] = "x";
  EXPECT_THROW(workload_from_json(json), Error);
}

}  // namespace
}  // namespace hyperloom
