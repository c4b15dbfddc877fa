// NVIDIA's management library, loaded when it is there: nothing of it is linked or needed to build.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "os/gpu_sample.h"

namespace hyperloom {

class Nvml {
 public:
  // Nothing when the library, its driver or one of the few functions that we cannot do without is
  // missing: then there is no such GPU.
  static std::unique_ptr<Nvml> open(const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;

  // Of every GPU that answers; what one does not tell is absent. Milliseconds.
  std::vector<GpuSample> sample() const;

 private:
  Nvml();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperloom
