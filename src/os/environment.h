// What an environment or a command line must not give away.
#pragma once

#include <string>
#include <vector>

namespace hyperloom {

// Whether a variable looks like a key, token, secret or password by its name; the value only tells
// a count of TOKENS apart. clean_environment (os/child.h) leaves such variables out.
bool names_a_secret(const std::string& name, const std::string& value);

// The first of `words` that carries a secret: "--api-key" (of `--api-key v` or `--api-key=v`),
// "HF_TOKEN" (of `HF_TOKEN=v`), or the start of an access token; "" when none does. Never the
// secret itself.
std::string secret_in(const std::vector<std::string>& words);

// `text` with access tokens cut down to their first letters: "hf_***".
std::string mask_tokens(const std::string& text);

}  // namespace hyperloom
