// Time as the program sees it. Everything that measures or budgets takes a Clock, so tests need no sleeps.
#pragma once

#include <string>

namespace hyperloom {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double mono_s() const = 0;          // seconds of CLOCK_MONOTONIC; meaningless across boots
  virtual std::string wall() const = 0;       // RFC 3339 UTC with milliseconds; for people only
  virtual std::string boot_id() const = 0;    // changes when the machine restarts
};

class SystemClock : public Clock {
 public:
  double mono_s() const override;
  std::string wall() const override;
  std::string boot_id() const override;
};

class VirtualClock : public Clock {
 public:
  double mono_s() const override { return now_; }
  std::string wall() const override { return "2026-01-01T00:00:00.000Z"; }
  std::string boot_id() const override { return "virtual"; }
  void advance(double seconds) { now_ += seconds; }

 private:
  double now_ = 0;
};

}  // namespace hyperloom
