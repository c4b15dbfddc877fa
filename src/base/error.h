// The one exception type: thrown when this phase or command cannot go on. What a caller branches on is a
// value, not an Error. Caught at the phase runner, at event-loop edges and in main.
#pragma once

#include <stdexcept>
#include <string>

namespace hyperloom {

// The numbers are the program's exit codes (docs/formats.md).
enum class ErrorKind { Internal = 1, BadInput = 2, NotEnabled = 3, Interrupted = 4, Unresolvable = 5 };

class Error : public std::runtime_error {
 public:
  // `what` names the file, line, flag or value; `mend` is one line that says what to do.
  Error(ErrorKind kind, const std::string& what, std::string mend = "")
      : std::runtime_error(what), kind_(kind), mend_(std::move(mend)) {}
  ErrorKind kind() const { return kind_; }
  const std::string& mend() const { return mend_; }

 private:
  ErrorKind kind_;
  std::string mend_;
};

inline Error bad_input(const std::string& what, std::string mend = "") {
  return Error(ErrorKind::BadInput, what, std::move(mend));
}
inline Error internal_error(const std::string& what, std::string mend = "") {
  return Error(ErrorKind::Internal, what, std::move(mend));
}

}  // namespace hyperloom
