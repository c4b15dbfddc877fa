// The workload file's `traffic` section, read and written. Internal to the room.
#pragma once

#include <filesystem>
#include <string>

#include "workload/traffic.h"

namespace hyperloom {

class YamlFields;

// Error(BadInput) with file:line, field and mend. `file` is the workload's: relative paths start at its folder.
Traffic read_traffic(const YamlFields& top, const std::filesystem::path& file);
// The section with comments; read_traffic reads it back to the same traffic.
std::string write_traffic(const Traffic& traffic);

// Relative paths are the file's, not the shell's, so that a workload may be run from anywhere.
std::filesystem::path beside(const std::filesystem::path& file, const std::string& path);
std::string quoted(const std::string& text);   // as a YAML string

}  // namespace hyperloom
