#include "base/hash.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "base/error.h"

namespace hyperloom {
namespace {

using Digest = std::array<unsigned char, 32>;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
      throw internal_error("OpenSSL cannot make a SHA-256 digest");
    }
  }
  void update(const char* bytes, size_t count) {
    if (EVP_DigestUpdate(context_.get(), bytes, count) != 1) throw internal_error("SHA-256 failed");
  }
  Digest finish() {
    Digest digest{};
    if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1) {
      throw internal_error("SHA-256 failed");
    }
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

Digest digest_of(std::string_view bytes) {
  Sha256 sha;
  sha.update(bytes.data(), bytes.size());
  return sha.finish();
}

std::string hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82F63B78u : 0u);
    table[i] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kCrcTable = make_crc_table();

}  // namespace

std::string sha256_hex(std::string_view bytes) { return hex(digest_of(bytes)); }

std::string sha256_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw bad_input("cannot read " + file.string() + ": " + std::strerror(errno));
  Sha256 sha;
  std::vector<char> buffer(1 << 20);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    sha.update(buffer.data(), static_cast<size_t>(in.gcount()));
  }
  // A folder opens but does not read; a failing disk ends early. Neither may pass for a short file.
  if (in.bad() || !in.eof()) {
    throw bad_input("cannot read " + file.string() + ": " + std::strerror(errno));
  }
  return hex(sha.finish());
}

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  }
  return ~crc;
}

uint64_t seed_from(std::string_view text) {
  const Digest digest = digest_of(text);
  uint64_t seed = 0;
  for (int i = 0; i < 8; ++i) seed = (seed << 8) | digest[i];
  return seed;
}

}  // namespace hyperloom
