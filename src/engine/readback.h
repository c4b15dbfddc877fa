// What a running engine says about its own settings, and whether it obeyed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/failure.h"
#include "engine/pack.h"

namespace hyperloom {

// pack.effective, knob by knob; a knob that the engine does not tell about is absent. `url` is the server's base.
std::map<std::string, std::string> read_effective(const Pack& pack, const std::string& url, const std::string& log);

// The first knob whose value was read back and is not what was asked for.
std::optional<Failure> find_ignored(const std::map<std::string, std::string>& expected,
                                    const std::map<std::string, std::string>& effective);

}  // namespace hyperloom
