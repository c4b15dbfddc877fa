// Content hashes. SHA-256 by OpenSSL; CRC-32C (Castagnoli) for journal framing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace hyperloom {

std::string sha256_hex(std::string_view bytes);                       // 64 lower-case hex digits
std::string sha256_file(const std::filesystem::path& file);           // Error(BadInput) when unreadable
uint32_t crc32c(std::string_view bytes);
uint64_t seed_from(std::string_view text);                            // first 8 bytes of the SHA-256

}  // namespace hyperloom
