// Real words of real engines, captured: tests/cases/engine/PACK/ holds logs and what they mean.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "base/files.h"
#include "base/json.h"
#include "engine/failure.h"
#include "engine/server.h"

namespace hyperloom {
namespace {

const fs::path kRoot = fs::path(HYPERLOOM_CASES) / "engine";

std::vector<std::string> packs_with(const std::string& file) {
  std::vector<std::string> names;
  for (const std::string& name : known_packs()) {
    if (fs::exists(kRoot / name / file)) names.push_back(name);
  }
  return names;
}

TEST(PackCases, FailuresAreToldApart) {
  EXPECT_FALSE(packs_with("failures.json").empty());
  for (const std::string& name : packs_with("failures.json")) {
    const Pack pack = load_pack(name);
    const Json cases = Json::parse(read_file(kRoot / name / "failures.json"));
    for (const auto& [log, expected] : cases.items()) {
      const Failure failure = classify(pack, "launch", ExitStatus{1, 0, 0, 0}, read_file(kRoot / name / log));
      EXPECT_EQ(failure.failure_class + "/" + failure.id, expected.get<std::string>()) << name << " " << log << ": " << failure.text();
    }
  }
}

TEST(PackCases, ToolsAreReadAsTheyPrint) {
  for (const std::string& name : packs_with("tools.json")) {
    const Pack pack = load_pack(name);
    const Json cases = Json::parse(read_file(kRoot / name / "tools.json"));
    for (const auto& [tool, expected] : cases.items()) {
      const std::optional<ToolCommand>& command = tool == "kl_base" ? pack.kl_base : pack.kl_compare;
      ASSERT_TRUE(command) << name << " " << tool;
      const std::string output = read_file(kRoot / name / expected["log"].get<std::string>());
      for (const auto& [value, number] : expected["read"].items()) {
        ASSERT_EQ(command->read.count(value), 1u) << value;
        std::smatch match;
        ASSERT_TRUE(std::regex_search(output, match, std::regex(command->read.at(value)))) << name << " " << value;
        EXPECT_DOUBLE_EQ(std::stod(match[1]), number.get<double>()) << value;
      }
    }
  }
}

TEST(PackCases, EveryFlagStandsInTheRealHelp) {
  for (const std::string& name : packs_with("help.txt")) {
    const auto flags = flags_in_help(read_file(kRoot / name / "help.txt"));
    for (const Knob& knob : load_pack(name).knobs) {
      if (knob.kind != "flag") continue;
      EXPECT_EQ(flags.count(knob.help_name), 1u) << name << " " << knob.name;
      for (const std::string& alias : knob.aliases) EXPECT_EQ(flags.count(alias), 1u) << name << " " << alias;
    }
  }
}

}  // namespace
}  // namespace hyperloom
