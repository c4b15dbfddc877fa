// How far a load is, on stderr: one line drawn over and over on a terminal, else a plain line every few seconds.
#pragma once

#include <string>

#include "load/generator.h"

namespace hyperloom {

class LoadLine {
 public:
  explicit LoadLine(std::string what = "");
  ~LoadLine();                             // leaves no half line behind
  LoadLine(const LoadLine&) = delete;
  void say(const std::string& what);       // what runs now; shown at once
  void update(const LoadProgress& progress);
  void note(const std::string& text);      // a lasting line

 private:
  void draw(const std::string& text, bool now);
  void clear();
  bool live_, drawn_ = false;
  std::string what_;
  double drawn_at_ = 0;
};

std::string progress_text(const LoadProgress& progress);

}  // namespace hyperloom
