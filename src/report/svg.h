// A drawing as wide as its column: x in percent of the width, y in pixels, so that text keeps its
// size in narrow and wide windows alike. Colours come from the page's CSS classes.
#pragma once

#include <string>
#include <string_view>

namespace hyperloom {

class Svg {
 public:
  // `title` is what a screen reader says.
  Svg(double height_px, std::string title) : height_px_(height_px), title_(std::move(title)) {}
  void rect(double x, double y_px, double width, double height_px, const char* css_class,
            double opacity = 1);
  void line(double x1, double y1_px, double x2, double y2_px, const char* css_class);
  void circle(double x, double y_px, double radius_px, const char* css_class);
  void text(double x, double y_px, std::string_view text, const char* css_class,
            const char* anchor = "start");
  // The element. Text was escaped on the way in: it may be anything.
  std::string str(double least_width_px = 0) const;

 private:
  double height_px_;
  std::string title_, body_;
};

// At most `length` characters, the end cut off with an ellipsis.
std::string cut(std::string_view text, size_t length);

}  // namespace hyperloom
