// The live line of a session, and plain lines where there is no terminal.
#pragma once

#include <string>

#include "journal/journal.h"
#include "state/session_state.h"

namespace hyperloom {

class Terminal {
 public:
  Terminal();
  void entry(const SessionState& state, const Entry& entry);        // prints decisions as lasting lines
  void work(const SessionState& state, const std::string& what);    // what runs now
  void progress(const std::string& detail);                         // within the work
  void line(const std::string& text);                               // a lasting line
  void clear();

 private:
  void draw();
  bool live_;
  std::string head_, work_, detail_;
  double drawn_at_ = 0;
};

}  // namespace hyperloom
