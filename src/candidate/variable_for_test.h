// An environment variable for as long as its owner lives.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

namespace hyperloom {

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = std::make_unique<std::string>(old);
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_) ::setenv(name_, old_->c_str(), 1);
    else ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::unique_ptr<std::string> old_;
};

}  // namespace hyperloom
