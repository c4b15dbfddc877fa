// The operating points: clients across, lengths down, best against stock in each cell.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/charts.h"
#include "report/svg.h"
#include "report/words.h"

namespace hyperloom {
namespace {

using Lengths = std::pair<int, int>;

void draw_cell(Svg& svg, const SweepPoint& point, const Objective& objective, double x, double y,
               double width) {
  const auto stock = geometric_mean(point.stock), best = geometric_mean(point.best);
  const double middle = x + width / 2;
  if (!stock || !best) {
    svg.rect(x, y, width, 62, "track");
    const auto only = stock ? stock : best;
    svg.text(middle, y + 36, only ? value_text(*only, objective) : "not measured", "tick",
             "middle");
    return;
  }
  const double log_ratio = std::log(*best / *stock);
  const double strength = std::min(1.0, 0.12 + std::abs(log_ratio) / std::log(3.0));
  svg.rect(x, y, width, 62, "track");
  svg.rect(x, y, width, 62, log_ratio >= 0 ? "gain" : "loss", 0.75 * strength);
  svg.text(middle, y + 28, ratio_text(log_ratio) + "\xC3\x97", "cell", "middle");
  svg.text(middle, y + 48,
           figure_text(in_unit(*stock, objective)) + " \xE2\x86\x92 " +
               figure_text(in_unit(*best, objective)),
           "cell small", "middle");
}

}  // namespace

std::string sweep_heat_map(const SessionState& state) {
  std::vector<SweepPoint> points;   // only where both were measured
  for (const SweepPoint& point : state.sweep)
    if (!point.stock.empty() && !point.best.empty()) points.push_back(point);
  if (points.empty()) return "";
  std::set<int> clients;
  std::set<Lengths> lengths;
  for (const SweepPoint& point : points) {
    clients.insert(point.clients);
    lengths.insert({point.prompt_tokens, point.output_tokens});
  }
  constexpr double kLeft = 17, kRow = 68, kTop = 26;
  const double width = (100 - kLeft) / static_cast<double>(clients.size());
  Svg svg(kTop + kRow * static_cast<double>(lengths.size()),
          "Speed-up of the best configuration over stock by clients and lengths");
  double x = kLeft;
  for (const int count : clients) {
    svg.text(x + width / 2, 16, count_text(static_cast<size_t>(count), "client"), "label",
             "middle");
    x += width;
  }
  double y = kTop;
  for (const Lengths& length : lengths) {
    svg.text(0, y + 28, std::to_string(length.first) + " in", "label");
    svg.text(0, y + 46, std::to_string(length.second) + " out", "label");
    x = kLeft;
    for (const int count : clients) {
      for (const SweepPoint& point : points) {
        if (point.clients != count || Lengths{point.prompt_tokens, point.output_tokens} != length)
          continue;
        draw_cell(svg, point, state.workload.objective, x + 0.4, y, width - 0.8);
      }
      x += width;
    }
    y += kRow;
  }
  return "<div class=\"scroll\">" + svg.str(90.0 * static_cast<double>(clients.size()) + 80) +
         "</div>";
}

}  // namespace hyperloom
