// Follows a backend's stdout: JSON lines {seq, t, kind: progress|candidate|log|usage, ...}. Only
// events count as life.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace hyperloom {

class EventTail {
 public:
  explicit EventTail(std::filesystem::path file) : file_(std::move(file)) {}

  int read();  // takes in what was appended; how many events that held
  const std::string& last_message() const { return last_message_; }  // printable
  int rubbish() const { return rubbish_; }                           // lines that are no events
  const std::string& first_rubbish() const { return first_rubbish_; }
  uint64_t bytes() const { return bytes_; }

 private:
  bool take(const std::string& line);
  std::filesystem::path file_;
  std::ifstream stream_;
  std::string partial_;
  std::string last_message_, first_rubbish_;
  int rubbish_ = 0;
  uint64_t bytes_ = 0;
};

// `text` as one printable line of valid UTF-8: control and broken bytes become '?', at most `limit`
// bytes.
std::string printable(const std::string& text, size_t limit);

}  // namespace hyperloom
