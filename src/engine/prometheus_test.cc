#include <gtest/gtest.h>

#include "base/files.h"
#include "engine/server.h"

namespace hyperloom {
namespace {

std::map<std::string, double> scrape(const std::string& name) {
  return parse_prometheus(read_file(fs::path(HYPERLOOM_CASES) / name));
}

TEST(Prometheus, CaseB09) {
  const MetricsDelta delta = metrics_between(scrape("b09-before.prom"), scrape("b09-after.prom"));
  EXPECT_FALSE(delta.restarted);
  EXPECT_EQ(sample_of(delta.values, "vllm:prompt_tokens"), 50000);
  EXPECT_EQ(sample_of(delta.values, "vllm:generation_tokens_total"), 20000);
  EXPECT_EQ(sample_of(delta.values, "sglang:cache_hit_rate"), 0.25);
  EXPECT_EQ(sample_of(delta.values, "sglang:fwd_occupancy"), std::nullopt);
  EXPECT_EQ(sample_of(delta.values, "no_such"), std::nullopt);
  const std::string ttft = "vllm:time_to_first_token_seconds";
  EXPECT_DOUBLE_EQ(delta.values.at(ttft + "_sum") / delta.values.at(ttft + "_count"), 0.5);
  EXPECT_EQ(delta.values.at(ttft + "_bucket{le=\"1.0\"}") - delta.values.at(ttft + "_bucket{le=\"0.1\"}"), 100);
}

TEST(Prometheus, ARestartIsSeen) {
  EXPECT_TRUE(metrics_between(scrape("b09-before.prom"), scrape("b09-after-restart.prom")).restarted);
}

TEST(Prometheus, HostileLinesAreSkipped) {
  const auto samples = parse_prometheus("a 1\na{x=\"}\\\"{\"} 2 1700000000\nb{open=\"\n c nan\nd +Inf\ne 1x\n{} 3\nf\n\xff\xfe 1\n");
  EXPECT_EQ(samples.at("a"), 3);
  EXPECT_EQ(samples.count("b") + samples.count("c") + samples.count("d") + samples.count("e") + samples.count("f"), 0u);
}

TEST(Prometheus, SumsAndDifferencesStayFinite) {
  const auto huge = parse_prometheus("a_total{x=\"1\"} 1e308\na_total{x=\"2\"} 1e308\n");
  EXPECT_EQ(huge.at("a_total"), 1e308);
  const auto low = parse_prometheus("a_total -1.7e308\n");
  EXPECT_EQ(metrics_between(low, huge).values.count("a_total"), 0u);
}

TEST(HelpFlags, BothCommonStyles) {
  const auto flags = flags_in_help(
      "usage: serve [-h] [--tensor-parallel-size TP] [--host HOST]\n"
      "-t,    --threads N                      number of CPU threads, see --not-this\n"
      "-kvu,  --kv-unified, -no-kvu, --no-kv-unified\n"
      "                                        --nor-this is mentioned\n"
      "--draft, --draft-n N                    the argument has been removed. use --spec\n"
      "  --model MODEL, -m MODEL   the model\n"
      "  --port=PORT  the port\n");
  EXPECT_EQ(flags, (std::set<std::string>{"-h", "--tensor-parallel-size", "--host", "-t", "--threads", "-kvu", "--kv-unified",
                                          "-no-kvu", "--no-kv-unified", "--model", "-m", "--port"}));
}

}  // namespace
}  // namespace hyperloom
