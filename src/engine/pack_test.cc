#include "engine/pack.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace hyperloom {
namespace {

const char kGood[] = R"(schema: 1
name: demo
launch: {argv: ["${server}", --port, "${port}"]}
knobs:
  - {name: --slots, type: int, values: [2, traffic.clients], stock: 1, forbid: model.heads % knob.--slots != 0, directions: [memory]}
  - {name: MODE, kind: env, values: [fast]}
)";

std::string error_of(const std::string& yaml) {
  const TempDir folder;
  write_file(folder.path() / "pack.yaml", yaml);
  try {
    load_pack(folder.path().string());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_FALSE(error.mend().empty()) << error.what();
    return error.what();
  }
  return "";
}

std::string with(const std::string& from, const std::string& to) {
  std::string yaml = kGood;
  const size_t at = yaml.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return yaml.replace(at, from.size(), to);
}

TEST(Pack, ReadsAGoodOne) {
  const TempDir folder;
  write_file(folder.path() / "pack.yaml", kGood);
  const Pack pack = load_pack(folder.path().string());
  EXPECT_EQ(pack.name, "demo");
  ASSERT_NE(pack.knob("--slots"), nullptr);
  EXPECT_EQ(pack.knob("--slots")->values, (std::vector<std::string>{"2", "traffic.clients"}));
  EXPECT_EQ(pack.knob("--slots")->directions, std::vector<Direction>{Direction::Memory});
  EXPECT_EQ(pack.knob("MODE")->kind, "env");
  EXPECT_EQ(pack.knob("--none"), nullptr);
  EXPECT_FALSE(pack.failures.empty()) << "the common table was not added";
}

TEST(Pack, EveryErrorNamesFileLineAndMend) {
  struct Bad { std::string yaml, line, words; };
  const std::vector<Bad> cases = {
      {with("stock: 1", "stokc: 1"), ":5:", "did you mean `stock`"},
      {with("type: int", "type: integer"), ":5:", "integer"},
      {with("knob.--slots", "knob.--slot"), ":5:", "did you mean `knob.--slots`"},
      {with("model.heads %", "model.heads % %"), ":5:", "column"},
      {with("model.heads", "modell.heads"), ":5:", "modell.heads"},
      {with("[memory]", "[memroy]"), ":5:", "did you mean `memory`"},
      {with("values: [2,", "values: [two,"), ":5:", "two"},
      {with("name: MODE", "name: --slots"), ":6:", "stands twice"},
      {with("name: demo", "nmae: demo"), ":1:", "`name` is missing"},
      {with("schema: 1", "schema: 2"), ":1:", "schema"},
      {with("launch: {argv", "launch: {arg"), ":3:", "did you mean `argv`"},
      {with("knobs:", "nkobs:"), ":4:", "did you mean `knobs`"},
      {with("name: demo", "name: [demo"), ":3:", ""},
      {with("kind: env", "kind: flag"), ":6:", "starts with -"},
      {std::string(kGood) + "failures: [{id: x, match: '(', class: y}]\n", ":7:", "no regular expression"},
      {std::string(kGood) + "effective: {--other: 'log:x'}\n", ":7:", "no knob"},
      {std::string(kGood) + "builds: [{id: a}]\n", ":7:", "role: stock"},
      {std::string(kGood) + "name: again\n", ":7:", "stands twice"},
      {"- 1\n", ":1:", "map"},
      {"", ":1:", "map"}};
  for (const Bad& bad : cases) {
    const std::string what = error_of(bad.yaml);
    EXPECT_NE(what.find("pack.yaml" + bad.line), std::string::npos) << bad.yaml << "\n -> " << what;
    EXPECT_NE(what.find(bad.words), std::string::npos) << bad.yaml << "\n -> " << what;
  }
}

TEST(Pack, UnknownNameSaysWhatThereIs) {
  try {
    load_pack("custmo");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean `custom`"), std::string::npos) << error.what();
  }
}

TEST(Pack, AllOfOursLoad) {
  EXPECT_FALSE(known_packs().empty());
  for (const std::string& name : known_packs()) EXPECT_EQ(load_pack(name).name, name);
}

}  // namespace
}  // namespace hyperloom
