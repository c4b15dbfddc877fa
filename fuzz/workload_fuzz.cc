// Any bytes: a workload, or an Error that names the file; and a workload survives being written and
// read again.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "workload/workload.h"

using namespace hyperloom;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string yaml(reinterpret_cast<const char*>(data), size);
  try {
    const Workload workload = parse_workload(yaml, "/fuzz/w.yaml");
    if (parse_workload(write_workload(workload), "/fuzz/w.yaml").canonical() !=
        workload.canonical())
      std::abort();
  } catch (const Error&) {
  }
  return 0;
}
