#include "candidate/legal_changes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "candidate/facts.h"
#include "candidate/launch_plan.h"

namespace hyperloom {
namespace {

Json test_case(const std::string& name) { return Json::parse(read_file(fs::path(HYPERLOOM_CASES) / name)); }

Pack pack_of(const std::string& knobs) {
  const TempDir folder;
  write_file(folder.path() / "pack.yaml", "schema: 1\nname: demo\nlaunch: {argv: ['${server}', --model, '${model}', --port, '${port}']}\n" + knobs);
  return load_pack(folder.path().string());
}

std::vector<std::string> values(const Pack& pack, const std::string& knob, const Facts& facts, const std::set<std::string>& help = {},
                                const Candidate& incumbent = {}) {
  std::vector<std::string> result;
  for (const Change& change : legal_values(pack, *pack.knob(knob), facts, help, incumbent)) result.push_back(change.value);
  return result;
}
using Values = std::vector<std::string>;

TEST(LegalChanges, CaseD04) {
  const Pack pack = pack_of(
      "knobs:\n"
      "  - {name: --tp, type: int, values: [1, 2, 3, 4, 7, 8, 16, 40], forbid: 'model.heads % knob.--tp != 0 or (model.kv_heads % knob.--tp != 0 "
      "and knob.--tp % model.kv_heads != 0)'}\n"
      "  - {name: --ulysses, type: int, values: [1, 2, 4, 8], forbid: 'machine.gpus != knob.--ulysses * knob.--ring * knob.--cfg * knob.--dtp or "
      "(model.heads / knob.--dtp) % knob.--ulysses != 0'}\n"
      "  - {name: --ring, type: int, values: []}\n  - {name: --cfg, type: int, values: []}\n  - {name: --dtp, type: int, values: []}\n");
  const Json vectors = test_case("d04-divisibility.json");   // a range-for over a temporary's part would outlive it
  for (const Json& vector : vectors.at("vectors")) {
    const bool tensor = vector["kind"] == "tp";
    Facts facts = {{"model.heads", vector["heads"].get<double>()}};
    const double wanted = vector[tensor ? "tp" : "ulysses"].get<double>();
    if (tensor) {
      facts["model.kv_heads"] = vector["kv_heads"].get<double>();
    } else {
      facts["machine.gpus"] = vector["gpus"].get<double>();
      facts["knob.--ring"] = vector["ring"].get<double>();
      facts["knob.--cfg"] = vector["cfg"].get<double>();
      facts["knob.--dtp"] = vector["tp"].get<double>();
    }
    const Values legal = values(pack, tensor ? "--tp" : "--ulysses", facts);
    const bool found = std::find(legal.begin(), legal.end(), text_of(wanted)) != legal.end();
    EXPECT_EQ(found, vector["valid"].get<bool>()) << vector.dump();
  }
}

TEST(LegalChanges, CaseD01) {
  const Pack pack = pack_of(
      "knobs:\n"
      "  - {name: --max-num-batched-tokens, type: int, values: [8192, 16384], forbid: 'knob.--chunked != 1 and "
      "(knob.--max-model-len > knob.--max-num-batched-tokens or (knob.--max-model-len == 0 and model.context > knob.--max-num-batched-tokens))'}\n"
      "  - {name: --max-model-len, type: int, values: [], stock: 0}\n  - {name: --chunked, type: int, values: [], stock: 0}\n");
  const std::set<int> rejected = {1, 5};
  const Json configs = test_case("d01-batched-tokens.json");
  for (const Json& config : configs.at("configs")) {
    const Facts facts = {
        {"knob.--chunked", config["enable_chunked_prefill"].get<bool>() ? 1.0 : 0.0},
        {"knob.--max-model-len", config["max_model_len"].is_null() ? 0.0 : config["max_model_len"].get<double>()},
        {"model.context", config.value("model_max_position", 131072.0)}};
    const Values legal = values(pack, "--max-num-batched-tokens", facts);
    const std::string wanted = text_of(config["max_num_batched_tokens"].get<double>());
    const bool found = std::find(legal.begin(), legal.end(), wanted) != legal.end();
    EXPECT_EQ(found, rejected.count(config["id"].get<int>()) == 0) << config.dump();
  }
}

TEST(LegalChanges, CaseD02BlockSizes) {
  const Pack pack = pack_of("knobs:\n  - {name: --block-size, type: int, values: [8, 16, 32, 64, 128, 256], when: model.block_multiple > 0, "
                            "forbid: knob.--block-size % model.block_multiple != 0 or knob.--block-size > model.block_most}\n");
  EXPECT_EQ(values(pack, "--block-size", {{"model.block_multiple", 8.0}, {"model.block_most", 32.0}}), (Values{"8", "16", "32"}));
  EXPECT_EQ(values(pack, "--block-size", {{"model.block_multiple", 128.0}, {"model.block_most", 512.0}}), (Values{"128", "256"}));
  EXPECT_EQ(values(pack, "--block-size", {}), Values{});
}

TEST(LegalChanges, ValuesAreEvaluatedAndDeduplicated) {
  const Pack pack = pack_of("knobs:\n  - {name: --n, type: int, values: [traffic.clients, 8, traffic.clients / 3, model.none], stock: 4}\n"
                            "  - {name: --on, type: bool}\n");
  const Facts facts = {{"traffic.clients", 8.0}, {"knob.--n", 4.0}, {"knob.--on", std::string("false")}};
  EXPECT_EQ(values(pack, "--n", facts), (Values{"8", "2"}));
  EXPECT_EQ(values(pack, "--n", facts, {"--on"}), Values{}) << "not in the build's help";
  EXPECT_EQ(values(pack, "--n", facts, {"--n"}), (Values{"8", "2"}));
  EXPECT_EQ(values(pack, "--on", facts), Values{"true"});
  Facts on = facts;
  on["knob.--on"] = std::string("true");
  EXPECT_EQ(values(pack, "--on", on), Values{"false"});
}

TEST(LegalChanges, ANeighboursRuleHoldsToo) {
  const Pack pack = pack_of("knobs:\n  - {name: --v, values: [q8_0], stock: f16, forbid: \"knob.--v == 'q8_0' and knob.--fa == 'off'\"}\n"
                            "  - {name: --fa, values: ['off'], stock: auto}\n");
  EXPECT_EQ(values(pack, "--fa", {{"knob.--fa", std::string("auto")}, {"knob.--v", std::string("f16")}}), Values{"off"});
  EXPECT_EQ(values(pack, "--fa", {{"knob.--fa", std::string("auto")}, {"knob.--v", std::string("q8_0")}}), Values{});
}

class OurPacks : public testing::Test {
 protected:
  OurPacks() {
    model_.heads = 9;
    model_.kv_heads = 3;
    model_.layers = 30;
    model_.head_dim = 64;
    model_.context = 8192;
    model_.weights_type = "Q4_1";
    model_.kv_bytes_per_token = 23040;
    machine_.cores = 2;
    machine_.memory_bytes = uint64_t{24} << 30;
    machine_.cpu_flags = {"avx2", "avx512f", "avx512_vnni"};
    workload_.traffic.clients = 8;
    workload_.traffic.prompt_tokens = {128, 0};
    workload_.traffic.output_tokens = {64, 0};
  }
  Facts facts(const Candidate& candidate = {}) const { return gather_facts(pack_, model_, machine_, workload_, candidate); }

  Workload workload_;
  ModelFacts model_;
  MachineFacts machine_;
  Pack pack_ = load_pack(workload_.engine_pack);
};

TEST_F(OurPacks, FactsKnowTheUsersFlags) {
  workload_.engine_argv = {"--parallel", "2", "--flash-attn=off", "-kvu"};
  const Facts known = facts(Candidate().with({"flag", "-ub", "128"}));
  EXPECT_EQ(text_of(known.at("knob.-np")), "2");
  EXPECT_EQ(text_of(known.at("knob.-fa")), "off");
  EXPECT_EQ(text_of(known.at("knob.-kvu")), "true");
  EXPECT_EQ(text_of(known.at("knob.-ub")), "128");
  EXPECT_EQ(text_of(known.at("knob.-b")), "2048");
  EXPECT_EQ(text_of(known.at("knob.weights")), "Q4_1");
  EXPECT_EQ(known.count("knob.-t"), 0u) << "the stock value must be probed";
  EXPECT_EQ(text_of(known.at("traffic.slot_tokens")), "256");
  EXPECT_EQ(text_of(known.at("machine.avx512_vnni")), "1");
}

TEST_F(OurPacks, OnlyWhatFits) {
  EXPECT_EQ(values(pack_, "-np", facts()), Values{"8"});
  EXPECT_EQ(values(pack_, "-t", facts()), (Values{"2", "1"}));
  EXPECT_EQ(values(pack_, "-b", facts()), (Values{"1024", "4096"})) << "256 is below -ub 512";
  EXPECT_EQ(values(pack_, "--numa", facts()), Values{});
  EXPECT_EQ(values(pack_, "-c", facts()), Values{});
  workload_.traffic.shared_prefix_tokens = 512;
  EXPECT_EQ(values(pack_, "--cache-ram", facts()), Values{});
  model_.head_dim = 80;
  EXPECT_EQ(values(pack_, "-ctv", facts()), Values{"bf16"});
}

TEST_F(OurPacks, TheLaunchReplacesTheUsersOwnFlag) {
  workload_.engine_argv = {"--parallel", "2", "-c", "1024", "--mlock"};
  const Candidate candidate = Candidate().with({"flag", "-np", "8"}).with({"env", "OMP_WAIT_POLICY", "ACTIVE"}).with({"precision", "weights", "Q8_0"});
  const LaunchSpec spec = plan_launch(pack_, workload_, candidate, "/builds/x", "/m.gguf", facts(candidate));
  EXPECT_EQ(spec.argv, (Values{"/builds/x/bin/llama-server", "-m", "/m.gguf", "--port", "${port}", "--mlock", "-np", "8", "-c", "2048"}));
  EXPECT_EQ(spec.env.at("OMP_WAIT_POLICY"), "ACTIVE");
  EXPECT_EQ(spec.expected, (std::map<std::string, std::string>{{"-np", "8"}, {"weights", "Q8_0"}}));
}

TEST_F(OurPacks, ThePlaceholdersOfTheUsersFlagsAreFilledIn) {
  workload_.engine_argv = {"--alias", "${model}:${port}"};
  EXPECT_EQ(plan_launch(pack_, workload_, {}, "/builds/x", "/m.gguf", facts()).argv.back(), "/m.gguf:${port}");
}

TEST_F(OurPacks, AnAddressOfTheUsersOwnIsRefusedBeforeAnyBuild) {
  const auto said = [&](const Values& argv) -> std::string {
    workload_.engine_argv = argv;
    try {
      check_own_address(pack_, workload_);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_NE(error.mend().find("remove it"), std::string::npos);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(said({"--port", "8080"}).find("engine.argv: --port 8080"), std::string::npos);
  EXPECT_NE(said({"-np", "8", "--port=8080"}).find("engine.argv: --port 8080"), std::string::npos);
  EXPECT_NE(said({"--host", "10.0.0.7"}).find("engine.argv: --host 10.0.0.7"), std::string::npos);
  EXPECT_EQ(said({"--host", "0.0.0.0", "--port", "${port}"}), "");
  pack_ = load_pack("custom");
  workload_.engine_command = {"serve"};
  EXPECT_EQ(said({"--port", "8080"}), "") << "a fixed port that nothing else sets";
  workload_.engine_command = {"serve", "--port", "${port}"};
  EXPECT_NE(said({"--port", "8080"}), "");
}

TEST_F(OurPacks, StockIsTheServerAlone) {
  const LaunchSpec spec = plan_launch(pack_, workload_, {}, "/builds/x", "/m.gguf", facts());
  EXPECT_EQ(spec.argv, (Values{"/builds/x/bin/llama-server", "-m", "/m.gguf", "--port", "${port}"}));
  EXPECT_TRUE(spec.env.empty());
  EXPECT_TRUE(spec.expected.empty());
}

TEST_F(OurPacks, QualityToolSharesTheCacheSettings) {
  workload_.engine_argv = {"-fa", "on", "-np", "4"};
  EXPECT_EQ(quality_flags(pack_, workload_, Candidate().with({"flag", "-ctk", "q8_0"})), (Values{"-fa", "on", "-ctk", "q8_0"}));
}

TEST_F(OurPacks, IllegalProposalsAreNamed) {
  EXPECT_EQ(why_illegal(pack_, facts(), {}, Candidate().with({"flag", "-np", "8"})), "");
  EXPECT_NE(why_illegal(pack_, facts(), {}, Candidate().with({"flag", "-np", "64"})).find("forbidden by"), std::string::npos);
  EXPECT_NE(why_illegal(pack_, facts(), {}, Candidate().with({"flag", "--nope", "1"})).find("no such knob"), std::string::npos);
  EXPECT_NE(why_illegal(pack_, facts(), {}, Candidate().with({"build", "build", "nope"})).find("no such build"), std::string::npos);
  EXPECT_NE(why_illegal(pack_, facts(), {"-np"}, Candidate().with({"flag", "-ub", "128"})).find("help"), std::string::npos);
}

TEST_F(OurPacks, BuildsByMachine) {
  const std::vector<Change> enable = legal_builds(pack_, facts(), "enable");
  ASSERT_EQ(enable.size(), 3u);
  EXPECT_EQ(enable[0].value, "native-no-amx");
  EXPECT_EQ(legal_builds(pack_, facts(), "stock").size(), 1u);
  machine_.cpu_flags = {"sse4_2"};
  ASSERT_EQ(legal_builds(pack_, facts(), "enable").size(), 1u);
  EXPECT_EQ(legal_builds(pack_, facts(), "enable")[0].value, "baseline");
}

}  // namespace
}  // namespace hyperloom
