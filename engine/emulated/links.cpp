// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "emulated/links.hpp"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "emulated/problem.hpp"

namespace hockney::emulated {

namespace {

class Socket {
 public:
  Socket(int family, int type, int protocol, const char* step)
      : fd_(socket(family, type | SOCK_CLOEXEC, protocol)) {
    require(fd_ >= 0, step);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(fd_); }
  int fd() const { return fd_; }

 private:
  int fd_;
};

// A netlink request: a header, a structure, and possibly nested attributes.
class Request {
 public:
  Request(std::uint16_t type, std::uint16_t flags) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    append(header);
  }

  template <typename T>
  void append(const T& value) {
    append(&value, sizeof value);
  }
  void attribute(std::uint16_t type, const void* data, std::size_t size) {
    rtattr head{};
    head.rta_type = type;
    head.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(size));
    append(head);
    append(data, size);
  }
  void attribute(std::uint16_t type, const std::string& text) {
    attribute(type, text.c_str(), text.size() + 1);
  }
  template <typename T>
  void attribute(std::uint16_t type, const T& value) {
    attribute(type, &value, sizeof value);
  }
  std::size_t open(std::uint16_t type) {
    const std::size_t start = bytes_.size();
    rtattr head{};
    head.rta_type = type;
    append(head);
    return start;
  }
  void shut(std::size_t start) {
    const auto length = static_cast<std::uint16_t>(bytes_.size() - start);
    std::memcpy(bytes_.data() + start, &length, sizeof length);
  }

  // Sends the request and waits for the kernel's reply.
  void send(const char* step) {
    const auto length = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &length, sizeof length);
    const Socket kernel(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, step);
    require(::send(kernel.fd(), bytes_.data(), bytes_.size(), 0) >= 0, step);
    std::array<char, 4096> reply{};
    require(
        recv(kernel.fd(), reply.data(), reply.size(), 0) >= static_cast<ssize_t>(NLMSG_LENGTH(sizeof(int))),
        step);
    int error = 0;
    std::memcpy(&error, reply.data() + NLMSG_HDRLEN, sizeof error);
    errno = -error;
    require(error == 0, step);
  }

 private:
  void append(const void* data, std::size_t size) {
    const auto* first = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
    pad();
  }
  void pad() { bytes_.resize((bytes_.size() + NLMSG_ALIGNTO - 1) / NLMSG_ALIGNTO * NLMSG_ALIGNTO); }

  std::vector<char> bytes_;
};

int index_of(const std::string& name, const char* step) {
  const unsigned index = if_nametoindex(name.c_str());
  require(index != 0, step);
  return static_cast<int>(index);
}

}  // namespace

void create_pair(const std::string& port, int number, int mtu, pid_t holder_pid) {
  Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  request.append(ifinfomsg{});
  request.attribute(IFLA_IFNAME, port);
  request.attribute(IFLA_MTU, static_cast<std::uint32_t>(mtu));
  const std::size_t link = request.open(IFLA_LINKINFO);
  request.attribute(IFLA_INFO_KIND, std::string("veth"));
  const std::size_t data = request.open(IFLA_INFO_DATA);
  const std::size_t peer = request.open(VETH_INFO_PEER);
  request.append(ifinfomsg{});
  request.attribute(IFLA_IFNAME, std::string("eth0"));
  request.attribute(IFLA_MTU, static_cast<std::uint32_t>(mtu));
  // a locally administered address that ends in the host's number
  request.attribute(IFLA_ADDRESS,
                    std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, static_cast<std::uint8_t>(number)});
  if (holder_pid != 0) request.attribute(IFLA_NET_NS_PID, static_cast<std::uint32_t>(holder_pid));
  request.shut(peer);
  request.shut(data);
  request.shut(link);
  request.send("veth");
}

void bring_up(const std::string& name) {
  Request request(RTM_NEWLINK, 0);
  ifinfomsg info{};
  info.ifi_index = index_of(name, "interface");
  info.ifi_flags = IFF_UP;
  info.ifi_change = IFF_UP;
  request.append(info);
  request.send("interface");
}

void assign_address(const std::string& name, int number) {
  Request request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  ifaddrmsg info{};
  info.ifa_family = AF_INET;
  info.ifa_prefixlen = 24;
  info.ifa_index = static_cast<std::uint32_t>(index_of(name, "address"));
  request.append(info);
  const std::array<std::uint8_t, 4> address{10, 99, 0, static_cast<std::uint8_t>(number)};
  request.attribute(IFA_LOCAL, address);
  request.attribute(IFA_ADDRESS, address);
  request.send("address");
}

void disable_offloads(const std::string& name) {
  const Socket any(AF_INET, SOCK_DGRAM, 0, "offloads");
  for (const std::uint32_t offload_feature : {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO, ETHTOOL_STXCSUM}) {
    ethtool_value disabled{offload_feature, 0};
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&disabled);
    require(ioctl(any.fd(), SIOCETHTOOL, &request) == 0, "offloads");
  }
}

}  // namespace hockney::emulated
