#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/child.h"
#include "base/descriptor.h"

namespace hyperloom {
namespace {

template <typename Address>
bool listen_on(const Descriptor& fd, const Address& address) {
  return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         ::listen(fd.get(), 1) == 0;
}

TEST(Port, AFreePortHasNoListenerAndATakenOneNamesUs) {
  const int port = free_port();
  ASSERT_GT(port, 0);
  EXPECT_FALSE(port_listener(port).listening);
  const Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_TRUE(listen_on(fd, address));
  const Listener listener = port_listener(port);
  EXPECT_TRUE(listener.listening);
  EXPECT_EQ(listener.pid, getpid());
}

TEST(Port, AnIpv6WildcardCounts) {
  const int port = free_port();
  const Descriptor fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  address.sin6_addr = in6addr_any;
  if (!fd || !listen_on(fd, address)) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(port_listener(port).pid, getpid());
}

TEST(Port, ASocketThatDoesNotListenIsNoListener) {
  const int port = free_port();
  const Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_FALSE(port_listener(port).listening);
}

}  // namespace
}  // namespace hyperloom
