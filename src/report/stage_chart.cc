// Charts of speed-ups on a log ratio axis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/charts.h"
#include "report/svg.h"
#include "report/words.h"

namespace hyperloom {
namespace {

constexpr const char* kTimes = "\xC3\x97";

// Maps log ratios to percent of the width.
class LogAxis {
 public:
  void include(double log_ratio) {
    if (!std::isfinite(log_ratio)) return;
    low_ = std::min(low_, log_ratio);
    high_ = std::max(high_, log_ratio);
  }
  void pad() {
    const double margin = std::max(0.08 * (high_ - low_), 0.01);
    low_ -= margin;
    high_ += margin;
  }
  double at(double log_ratio) const { return 100 * (log_ratio - low_) / (high_ - low_); }

  // Round ratios that fit the axis, at least `apart` percent from each other.
  std::vector<double> ticks(double apart) const {
    static const std::vector<double> kRound = {
        1,   2,   0.5, 5,    1.5,  3, 0.2, 10,   0.8,  1.2,  0.9,  1.1,  1.3,  1.4, 1.6,
        1.8, 2.5, 4,   0.95, 1.05, 7, 20,  0.97, 1.03, 0.98, 1.02, 0.99, 1.01, 50,  100};
    std::vector<double> chosen;
    for (const double ratio : kRound) {
      const double x = at(std::log(ratio));
      const bool clear =
          x > 3 && x < 97 &&
          std::all_of(
              chosen.begin(), chosen.end(),
              [&](double other) { return std::abs(at(std::log(other)) - x) >= apart; });
      if (clear) chosen.push_back(ratio);
    }
    return chosen;
  }

 private:
  double low_ = 0, high_ = 0;
};

void draw_axis(Svg& svg, const LogAxis& axis, double top_px, double bottom_px) {
  for (const double ratio : axis.ticks(9)) {
    const double x = axis.at(std::log(ratio));
    svg.line(x, top_px, x, bottom_px, ratio == 1 ? "one" : "grid");
    svg.text(x, bottom_px + 16, fmt::format("{:g}{}", ratio, kTimes), "tick", "middle");
  }
}

// Bar from `from` to the mean, the interval as a whisker, pairs as dots. All shifted by `from`.
void draw_effect(Svg& svg, const LogAxis& axis, double from, const Effect& effect,
                 const std::vector<double>& logs, double y_px) {
  const Interval& interval = effect.interval;
  const double a = axis.at(from), b = axis.at(from + interval.mean);
  svg.rect(std::min(a, b), y_px - 7, std::abs(b - a), 14, effect.fresh ? "bar claim" : "bar stage");
  if (interval.n > 1) {
    const double low = axis.at(from + interval.low), high = axis.at(from + interval.high);
    svg.line(low, y_px, high, y_px, "whisker");
    svg.line(low, y_px - 5, low, y_px + 5, "whisker");
    svg.line(high, y_px - 5, high, y_px + 5, "whisker");
  }
  for (size_t i = 0; i < logs.size(); ++i) {
    const double spread =
        static_cast<double>(i % 3) - 1;  // so that equal pairs do not hide each other
    svg.circle(axis.at(from + logs[i]), y_px + 3.5 * spread, 3, "dot");
  }
}

std::string stage_words(const StageRow& stage) {
  if (!stage.effect)
    return stage.decision == "enabled" ? "made to run, no speed-up claimed"
                                       : "1" + std::string(kTimes);
  const Interval& interval = stage.effect->interval;
  const std::string pairs =
      count_text(stage.pairs.size(), stage.effect->fresh ? "fresh pair" : "deciding pair");
  const std::string range =
      stage.effect->fresh && interval.n > 1 ? " " + interval_text(interval) : "";
  return ratio_text(interval.mean) + kTimes + range + " \xC2\xB7 " + pairs;
}

}  // namespace

std::string stage_waterfall(const Findings& findings) {
  LogAxis axis;
  double reached = 0;
  bool any = false;
  for (const StageRow& stage : findings.stages) {
    if (!stage.effect) continue;
    any = true;
    const double from = stage.effect->fresh ? 0 : reached;
    axis.include(from + stage.effect->interval.mean);
    for (const double log : stage.logs()) axis.include(from + log);
    if (stage.effect->interval.n >
        2) {  // two pairs have an interval that would dwarf everything else
      axis.include(from + stage.effect->interval.low);
      axis.include(from + stage.effect->interval.high);
    }
    if (!stage.effect->fresh) reached += stage.effect->interval.mean;
  }
  if (!any) return "";
  axis.pad();
  constexpr double kRow = 52;
  const double bottom = kRow * static_cast<double>(findings.stages.size()) + 4;
  Svg svg(bottom + 24,
          "Speed-up by stage, each stage starting where the one before ended, on a log axis");
  draw_axis(svg, axis, 0, bottom);
  reached = 0;
  double y = 0;
  for (const StageRow& stage : findings.stages) {
    const bool claim = stage.kind == "final";
    svg.text(0, y + 18, claim ? "full stack" : cut(stage.name, 34),
             claim ? "label strong" : "label");
    svg.text(100, y + 18, stage_words(stage), claim ? "figure strong" : "figure", "end");
    if (stage.effect) {
      draw_effect(svg, axis, stage.effect->fresh ? 0 : reached, *stage.effect, stage.logs(),
                  y + 36);
      if (!stage.effect->fresh) reached += stage.effect->interval.mean;
    } else {
      svg.circle(axis.at(0), y + 36, 4, "origin");
    }
    y += kRow;
  }
  return svg.str();
}

std::string pair_strip(const StageRow& stage) {
  if (!stage.effect) return "";
  LogAxis axis;
  for (const double log : stage.logs()) axis.include(log);
  axis.pad();
  Svg svg(58, "Ratios of the single pairs on a log axis");
  draw_axis(svg, axis, 2, 34);
  draw_effect(svg, axis, 0, *stage.effect, stage.logs(), 18);
  return svg.str();
}

}  // namespace hyperloom
