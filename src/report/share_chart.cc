// Charts of shares: roofline saturation, kernels, time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "report/charts.h"
#include "report/svg.h"
#include "report/words.h"

namespace hyperloom {
namespace {

std::string point_text(const RoofPoint& point) {
  const std::string share = percent_text(point.saturation);
  if (point.unit == "share" || point.unit.empty()) return share;
  return share + " \xC2\xB7 " + figure_text(point.achieved) + " of " + figure_text(point.roof) +
         " " + point.unit;
}

const RoofPoint* point_of(const ProfileNote* profile, Direction direction) {
  if (!profile) return nullptr;
  for (const RoofPoint& point : profile->roofline.points) {
    if (point.direction == direction) return &point;
  }
  return nullptr;
}

void bar_line(Svg& svg, double y, double share, bool stock, const std::string& words) {
  constexpr double kPlot = 100.0 / 1.06;  // a little room beyond 100 %
  svg.rect(0, y, kPlot, 16, "track");
  if (share > 0) svg.rect(0, y, kPlot * share, 16, stock ? "bar stock" : "bar best");
  const char* inside = share <= 0.55 ? "figure small" : stock ? "onstock" : "inside";
  // Inside the bar where it is long enough to hold words, else behind it.
  svg.text(share > 0.55 ? 0.8 : kPlot * share + 0.8, y + 12, words, inside);
}

struct KernelPair {
  std::string symbol, group;
  double before = 0, after = 0;
};

std::vector<KernelPair> hottest(const Findings& findings, size_t most) {
  std::map<std::string, KernelPair> by_symbol;
  const auto add = [&](const ProfileNote* profile, double KernelPair::* side) {
    if (!profile) return;
    for (const KernelRow& row : profile->kernels.rows) {
      KernelPair& pair = by_symbol[row.symbol];
      pair.symbol = row.symbol;
      pair.group = row.group;
      pair.*side += row.share;
    }
  };
  add(findings.before, &KernelPair::before);
  add(findings.after, &KernelPair::after);
  std::vector<KernelPair> rows;
  for (auto& [symbol, pair] : by_symbol) rows.push_back(pair);
  std::stable_sort(rows.begin(), rows.end(), [](const KernelPair& a, const KernelPair& b) {
    return std::max(a.before, a.after) > std::max(b.before, b.after);
  });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

}  // namespace

std::string roofline_chart(const Findings& findings) {
  std::vector<Direction> directions;
  for (const Direction direction :
       {Direction::Memory, Direction::Compute, Direction::Host, Direction::Communication}) {
    if (point_of(findings.before, direction) || point_of(findings.after, direction))
      directions.push_back(direction);
  }
  if (directions.empty()) return "";
  constexpr double kRow = 72, kPlot = 100.0 / 1.06;
  const double bottom = kRow * static_cast<double>(directions.size());
  Svg svg(bottom + 22, "Share of the roof reached by direction, before and after");
  double y = 0;
  for (const Direction direction : directions) {
    svg.text(0, y + 16, name_of(direction), "label");
    const RoofPoint* before = point_of(findings.before, direction);
    const RoofPoint* after = point_of(findings.after, direction);
    const RoofPoint* any = after ? after : before;
    if (!any->note.empty()) svg.text(kPlot, y + 16, cut(any->note, 34), "tick", "end");
    if (before) bar_line(svg, y + 23, before->saturation, true, point_text(*before));
    if (after) bar_line(svg, y + 42, after->saturation, false, point_text(*after));
    svg.line(kPlot * kSaturation, y + 20, kPlot * kSaturation, y + 61, "closed");
    y += kRow;
  }
  svg.text(kPlot * kSaturation, bottom + 14, "95 %: closed", "tick", "end");
  return svg.str();
}

std::string kernel_chart(const Findings& findings) {
  const std::vector<KernelPair> rows = hottest(findings, 8);
  if (rows.empty()) return "";
  double most = 0.05;
  for (const KernelPair& row : rows) most = std::max({most, row.before, row.after});
  constexpr double kRow = 56, kPlot = 86;
  Svg svg(kRow * static_cast<double>(rows.size()), "Share of samples by symbol, before and after");
  double y = 0;
  for (const KernelPair& row : rows) {
    svg.text(0, y + 16, cut(row.symbol, 46), "code");
    svg.text(100, y + 16, cut(row.group, 12), "tick", "end");
    const auto bar = [&](double top, double share, const char* css_class) {
      const double width = kPlot * share / most;
      if (share > 0) svg.rect(0, top, width, 11, css_class);
      svg.text(width + 0.8, top + 10, share > 0 ? percent_text(share) : "\xE2\x80\x93",
               "figure small");
    };
    if (findings.before) bar(y + 22, row.before, "bar stock");
    if (findings.after) bar(y + 36, row.after, "bar best");
    y += kRow;
  }
  return svg.str();
}

std::string time_bar(const Findings& findings, const SessionState& state) {
  if (findings.total_s <= 0) return "";
  Svg svg(24, "Where the session's time went");
  double x = 0;
  const auto add = [&](double seconds, const char* css_class) {
    const double width = 100 * seconds / findings.total_s;
    svg.rect(x, 2, width, 20, css_class);
    x += width;
  };
  add(state.measuring_s, "bar best");
  add(state.building_s, "bar stage");
  add(findings.other_s, "bar stock");
  return svg.str();
}

}  // namespace hyperloom
