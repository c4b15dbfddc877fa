// The one file that includes valijson (libvalijson-dev); without it nothing is tested here.
#if __has_include(<valijson/schema.hpp>)
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/files.h"
#include "report/sample_state_for_test.h"

namespace hyperloom {
namespace {

using Adapter = valijson::adapters::NlohmannJsonAdapter;

// What is wrong with `summary`, one line each; empty = valid.
std::string problems(const Json& summary) {
  static const Json document =
      Json::parse(read_file(HYPERLOOM_SOURCE_DIR "/docs/summary.schema.json"));
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(Adapter(document), schema);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  valijson::ValidationResults results;
  std::string out;
  if (validator.validate(schema, Adapter(summary), &results)) return out;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& step : error.context) out += step;
    out += ": " + error.description + "\n";
  }
  return out.empty() ? "invalid" : out;
}

void expect_no_nulls(const Json& json) {
  EXPECT_FALSE(json.is_null());
  if (json.is_structured()) {
    for (const Json& item : json) expect_no_nulls(item);
  }
}

TEST(Summary, FullSessionIsValid) {
  const SessionState state = sample_state();
  const Json summary = make_summary(sample_inputs(state));
  EXPECT_EQ(problems(summary), "");
  expect_no_nulls(summary);
  EXPECT_EQ(summary.at("result"), "improved");
  EXPECT_EQ(summary.at("final").at("pairs"), 5);
  EXPECT_NEAR(summary.at("final").at("speedup").get<double>(), 1.724, 0.001);
  EXPECT_NEAR(
      summary.at("best").at("value").get<double>() / summary.at("stock").at("value").get<double>(),
      1.724, 0.001);
  EXPECT_EQ(summary.at("stages").size(), 6u);  // enablement, two kept, the claim, two reverted
  EXPECT_FALSE(summary.at("stages")[0].contains("speedup"));
  EXPECT_EQ(summary.at("stages")[1].at("legs").size(), 8u);
  EXPECT_EQ(summary.at("sweep").size(), 4u);
  EXPECT_EQ(summary.at("launch").at("env").at("OMP_PROC_BIND"), "true");
  EXPECT_EQ(summary.at("artifacts").size(), 3u);
}

TEST(Summary, EveryEndIsValid) {
  SessionState interrupted = sample_searched().state;
  ReportInputs provisional = sample_inputs(interrupted);
  provisional.provisional = true;
  EXPECT_EQ(problems(make_summary(provisional)), "");
  EXPECT_FALSE(make_summary(provisional).contains("final"));
  SessionState one_pair = sample_state();
  one_pair.final_pairs.resize(1);
  EXPECT_EQ(problems(make_summary(sample_inputs(one_pair))), "");
  SessionState empty;
  empty.session = "s";
  EXPECT_EQ(problems(make_summary({empty, {}, {}, {}, true, ""})), "");
}

TEST(Summary, TheSchemaCanFail) {
  const SessionState state = sample_state();
  Json summary = make_summary(sample_inputs(state));
  summary["result"] = "splendid";
  EXPECT_NE(problems(summary), "");
  summary = make_summary(sample_inputs(state));
  summary["final"]["low"] = nullptr;
  EXPECT_NE(problems(summary), "");
  summary = make_summary(sample_inputs(state));
  summary.erase("noise");
  EXPECT_EQ(problems(summary), "");
  summary.erase("stages");
  EXPECT_NE(problems(summary), "");
}

}  // namespace
}  // namespace hyperloom
#endif
