// ${name} substitution for packs and launch lines.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hyperloom {

using Variables = std::map<std::string, std::string>;

// Replaces each ${name} by its value; an unknown name is an Error(BadInput) that shows `text`.
std::string expand(std::string_view text, const Variables& variables);

}  // namespace hyperloom
