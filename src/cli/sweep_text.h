// A sweep's points as a table, as Markdown and as JSON, with its knee and why it stopped.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "load/metrics.h"
#include "load/saturation.h"

namespace hyperloom {

struct LoadStep {
  double load = 0;                       // clients, or requests a second
  int requests = 0, warmup = 0;
  LoadSummary summary;
  bool saturated = false;                // by the run's own in-flight count and TTFT
  std::string failure;                   // too many requests failed; empty = no
};

struct LoadSweep {
  std::string url, model;
  bool by_rate = false, interrupted = false;
  std::vector<LoadStep> points;        // by growing load
  LoadCurve curve;
};

std::vector<LoadPoint> curve_points(const std::vector<LoadStep>& points);   // output tokens a second over mean E2E
std::string load_text(bool by_rate, double load);                             // "16 clients", "2.5 requests/s"
std::string point_text(bool by_rate, const LoadStep& point);                // one line, while it runs
std::string sweep_table(const LoadSweep& result);
std::string sweep_markdown(const LoadSweep& result);
Json to_json_value(const LoadSweep& result);

}  // namespace hyperloom
