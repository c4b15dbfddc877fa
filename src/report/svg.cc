#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/words.h"

namespace hyperloom {
namespace {

double in_view(double percent) { return std::clamp(percent, 0.0, 100.0); }

}  // namespace

void Svg::rect(double x, double y_px, double width, double height_px, const char* css_class,
               double opacity) {
  const double left = in_view(x), right = in_view(x + width);
  body_ += fmt::format(
      R"(<rect x="{:.2f}%" y="{:.1f}" width="{:.2f}%" height="{:.1f}" rx="2" class="{}")", left,
      y_px, right - left, height_px, css_class);
  body_ += opacity < 1 ? fmt::format(R"( fill-opacity="{:.2f}"/>)", opacity) : "/>";
}

void Svg::line(double x1, double y1_px, double x2, double y2_px, const char* css_class) {
  body_ += fmt::format(R"(<line x1="{:.2f}%" y1="{:.1f}" x2="{:.2f}%" y2="{:.1f}" class="{}"/>)",
                       in_view(x1), y1_px, in_view(x2), y2_px, css_class);
}

void Svg::circle(double x, double y_px, double radius_px, const char* css_class) {
  body_ += fmt::format(R"(<circle cx="{:.2f}%" cy="{:.1f}" r="{:.1f}" class="{}"/>)", in_view(x),
                       y_px, radius_px, css_class);
}

void Svg::text(double x, double y_px, std::string_view text, const char* css_class,
               const char* anchor) {
  body_ += fmt::format(R"(<text x="{:.2f}%" y="{:.1f}" class="{}" text-anchor="{}">{}</text>)",
                       in_view(x), y_px, css_class, anchor, html_text(text));
}

std::string Svg::str(double least_width_px) const {
  const std::string least =
      least_width_px > 0 ? fmt::format(R"( style="min-width:{:.0f}px")", least_width_px) : "";
  return fmt::format(R"(<svg role="img" width="100%" height="{:.0f}"{}><title>{}</title>{}</svg>)",
                     height_px_, least, html_text(title_), body_);
}

std::string cut(std::string_view text, size_t length) {
  const std::string clean = printable(text);
  size_t characters = 0;
  for (size_t at = 0; at < clean.size(); ++at) {
    if ((static_cast<unsigned char>(clean[at]) & 0xC0) == 0x80) continue;
    if (++characters > length) {
      size_t end = 0, seen = 0;  // the start of the last character that fits beside the ellipsis
      for (; end < clean.size(); ++end) {
        if ((static_cast<unsigned char>(clean[end]) & 0xC0) != 0x80 && ++seen == length) break;
      }
      return clean.substr(0, end) + "\xE2\x80\xA6";
    }
  }
  return clean;
}

}  // namespace hyperloom
