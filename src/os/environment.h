// What an environment must not give away.
#pragma once

#include <string>

namespace hyperloom {

// Whether a variable looks like a key, token, secret or password by its name; the value only tells
// a count of TOKENS apart. clean_environment (os/child.h) leaves such variables out.
bool names_a_secret(const std::string& name, const std::string& value);

}  // namespace hyperloom
