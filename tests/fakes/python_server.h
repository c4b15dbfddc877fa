// Starts tests/fakes/fake_openai.py for a test and stops it with its owner.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "os/child.h"

namespace hyperloom {

class PythonServer {
 public:
  explicit PythonServer(std::vector<std::string> flags = {}) {
    ChildSpec spec;
    spec.argv = {"python3", HYPERLOOM_SOURCE_DIR "/tests/fakes/fake_openai.py", "--log", log().string()};
    spec.argv.insert(spec.argv.end(), flags.begin(), flags.end());
    spec.output = folder_.path() / "output";
    child_ = Child::spawn(spec);
    // "ready PORT": polled, with a generous end so that a loaded machine fails no test.
    for (int i = 0; i < 6000 && port_ == 0 && !child_->poll(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const std::string said = fs::exists(spec.output) ? read_file(spec.output) : "";
      const size_t at = said.find("ready ");
      if (at != std::string::npos && said.find('\n', at) != std::string::npos) {
        port_ = std::stoi(said.substr(at + 6));
      }
    }
    EXPECT_NE(port_, 0) << "the fake server does not start: " << read_file(spec.output);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  fs::path log() const { return folder_.path() / "log.jsonl"; }   // one JSON line a completion request
  Child& child() { return *child_; }

 private:
  TempDir folder_;
  std::unique_ptr<Child> child_;
  int port_ = 0;
};

}  // namespace hyperloom
