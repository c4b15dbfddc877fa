// Does a server obey the sampler settings of a request? A handful of tiny completions, one after another.
#pragma once

#include <set>
#include <string>

namespace hyperloom {

// Of "max_tokens", "stop", "seed", "temperature": those that it does not obey. A request that fails proves nothing and
// adds nothing (the exam's items fail too, then). `limit_s`: for all of them.
std::set<std::string> ignored_settings(const std::string& base_url, const std::string& model, double limit_s);

}  // namespace hyperloom
