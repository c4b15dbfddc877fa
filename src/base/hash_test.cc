#include "base/hash.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace hyperloom {
namespace {

TEST(Hash, Sha256KnownAnswers) {  // FIPS 180-2 appendix B
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, AFileHashesAsItsBytesAcrossBufferEdges) {
  TempDir folder;
  const std::string content((1 << 20) + 7, 'q');
  write_file(folder.path() / "f", content);
  EXPECT_EQ(sha256_file(folder.path() / "f"), sha256_hex(content));
}

TEST(Hash, AMissingFileOrAFolderIsRefused) {
  TempDir folder;
  EXPECT_THROW(sha256_file(folder.path() / "none"), Error);
  EXPECT_THROW(sha256_file(folder.path()), Error);
}

TEST(Hash, Crc32cKnownAnswers) {  // RFC 3720 appendix B.4, byte order as printed there reversed
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(Hash, SeedIsTheHeadOfTheDigest) { EXPECT_EQ(seed_from("abc"), 0xba7816bf8f01cfeaull); }

}  // namespace
}  // namespace hyperloom
