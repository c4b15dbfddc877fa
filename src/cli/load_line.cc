#include "cli/load_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/printable.h"
#include "base/text.h"
#include "os/event_loop.h"

namespace hyperloom {
namespace {

constexpr double kPlainEvery_s = 5, kLiveEvery_s = 0.2;

size_t width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1u : 99u;
}

}  // namespace

std::string progress_text(const LoadProgress& p) {
  char rate[32];
  std::snprintf(rate, sizeof rate, p.output_tok_s < 100 ? "%.1f" : "%.0f", p.output_tok_s);
  return std::to_string(p.done) + "/" + std::to_string(p.total) + " requests, " + rate + " tok/s, " + format_duration(p.elapsed_s);
}

LoadLine::LoadLine(std::string what) : live_(isatty(STDERR_FILENO) && !std::getenv("CI")) {
  drawn_at_ = EventLoop::now_s();
  if (!what.empty()) say(what);
}

LoadLine::~LoadLine() { clear(); }

void LoadLine::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr), std::fflush(stderr);
  drawn_ = false;
}

void LoadLine::draw(const std::string& text, bool now) {
  const double at = EventLoop::now_s();
  if (!now && at - drawn_at_ < (live_ ? kLiveEvery_s : kPlainEvery_s)) return;
  drawn_at_ = at;
  if (!live_) {
    std::fprintf(stderr, "%s\n", printable(text).c_str());
    return;
  }
  std::fprintf(stderr, "\r\033[K%s", one_line(text, width()).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void LoadLine::say(const std::string& what) {
  what_ = what;
  draw(what_, live_);
}

void LoadLine::update(const LoadProgress& progress) { draw((what_.empty() ? "" : what_ + ": ") + progress_text(progress), false); }

void LoadLine::note(const std::string& text) {
  clear();
  std::fprintf(stderr, "%s\n", printable(text).c_str());
}

}  // namespace hyperloom
