// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "emulated/relay.hpp"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "emulated/links.hpp"
#include "emulated/problem.hpp"

namespace hockney::emulated {

namespace {

constexpr Nanoseconds second = 1'000'000'000;
constexpr std::size_t longest_frame = 65536;
// Buffer for frames of a host that wait for this process: larger than the send buffers of many connections.
constexpr int waiting_bytes = 1 << 24;

Nanoseconds in_ns(const timespec& time) {
  return static_cast<Nanoseconds>(time.tv_sec) * second + time.tv_nsec;
}

Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return in_ns(time);
}

int open_port(const std::string& name) {
  const int port = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (port < 0) throw Problem("packet socket", std::strerror(errno));
  const int on = 1;
  require(setsockopt(port, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) == 0, "packet socket");
  require(setsockopt(port, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0, "packet socket");
  require(setsockopt(port, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on) == 0, "packet socket");
  // only root of the whole system may have more than the system's limit (net.core.rmem_max)
  if (setsockopt(port, SOL_SOCKET, SO_RCVBUFFORCE, &waiting_bytes, sizeof waiting_bytes) != 0)
    require(setsockopt(port, SOL_SOCKET, SO_RCVBUF, &waiting_bytes, sizeof waiting_bytes) == 0,
            "packet socket");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(name.c_str()));
  require(bind(port, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "packet socket");
  return port;
}

// Finds data that the kernel reports with a frame, if there are any.
template <typename Report>
std::optional<Report> read_report(msghdr& message, int type) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != type) continue;
    Report report{};
    std::memcpy(&report, CMSG_DATA(part), sizeof report);
    return report;
  }
  return std::nullopt;
}

// The time, by the monotonic clock, at which the kernel received a frame; the current time if it is not
// reported. The date is read first: if the process is interrupted between the two clocks, the frame is late,
// but never early.
Nanoseconds arrival(msghdr& message) {
  const Nanoseconds date = read_clock(CLOCK_REALTIME);
  const Nanoseconds now = read_clock(CLOCK_MONOTONIC);
  const auto stamp = read_report<timespec>(message, SCM_TIMESTAMPNS);
  if (!stamp) return now;
  const Nanoseconds age = date - in_ns(*stamp);
  return age >= 0 && age < second ? now - age : now;  // the system's clock may have been set in between
}

// Fails on losses: TCP would send lost frames again after 0.2 s, which does not match the described network.
void require_no_losses(msghdr& message) {
  const auto lost_frames = read_report<std::uint32_t>(message, SO_RXQ_OVFL);
  if (lost_frames && *lost_frames > 0)
    throw Problem("wire", "frames were lost: " + std::to_string(*lost_frames));
}

}  // namespace

Relay::Relay(std::unique_ptr<Medium> medium, const std::vector<std::string>& ports, const std::string& front)
    : medium_(std::move(medium)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
      events_(epoll_create1(EPOLL_CLOEXEC)) {
  require(timer_ >= 0 && events_ >= 0, "packet socket");
  for (const std::string& name : ports) sockets_.push_back(open_port(name));
  sockets_.push_back(open_port(front));
  const auto watch = [this](int fd, std::size_t place) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = place;
    require(epoll_ctl(events_, EPOLL_CTL_ADD, fd, &event) == 0, "packet socket");
  };
  for (std::size_t port = 0; port < sockets_.size(); ++port) watch(sockets_[port], port);
  watch(timer_, sockets_.size());
}

void Relay::receive(int port) {
  const int front = static_cast<int>(sockets_.size()) - 1;
  static std::array<std::byte, longest_frame> buffer;
  std::array<char, 128> control{};
  while (true) {
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = recvmsg(sockets_[static_cast<std::size_t>(port)], &message, 0);
    if (size < ETH_HLEN) return;
    require_no_losses(message);
    // addresses end in the host's number (links.hpp)
    const int number = std::to_integer<int>(buffer[ETH_ALEN - 1]);
    const bool group = (buffer[0] & std::byte{1}) != std::byte{0};
    Frame frame{port,
                group                    ? broadcast_host
                : number == front_number ? front
                                         : number - 1,
                arrival(message),
                {}};
    if (!group && (frame.to < 0 || frame.to > front)) continue;
    frame.bytes.assign(buffer.begin(), buffer.begin() + size);
    if (port == front || frame.to == front) {
      deliver(frame);
    } else {
      if (group) write(front, frame);
      medium_->offer(std::move(frame));
    }
  }
}

void Relay::deliver(const Frame& frame) const {
  if (frame.to != broadcast_host) {
    write(frame.to, frame);
    return;
  }
  const int front = static_cast<int>(sockets_.size()) - 1;
  for (int port = 0; port < front; ++port)
    if (port != frame.from) write(port, frame);
}

void Relay::write(int port, const Frame& frame) const {
  const int socket = sockets_[static_cast<std::size_t>(port)];
  require(send(socket, frame.bytes.data(), frame.bytes.size(), 0) >= 0, "wire");
}

void Relay::wait() {
  const auto next = medium_->next();
  itimerspec timer_setting{};  // zero: none
  if (next) {
    const Nanoseconds when = std::max<Nanoseconds>(*next, 1);
    timer_setting.it_value.tv_sec = when / second;
    timer_setting.it_value.tv_nsec = when % second;
  }
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &timer_setting, nullptr);
  std::array<epoll_event, 16> ready_events{};
  const int count = epoll_wait(events_, ready_events.data(), static_cast<int>(ready_events.size()), -1);
  for (int k = 0; k < count; ++k) {
    const auto place = static_cast<std::size_t>(ready_events[static_cast<std::size_t>(k)].data.u64);
    if (place < sockets_.size()) receive(static_cast<int>(place));
  }
}

void Relay::run() {
  while (true) {
    wait();
    for (const Delivery& delivery : medium_->advance_to(read_clock(CLOCK_MONOTONIC))) deliver(delivery.frame);
  }
}

}  // namespace hockney::emulated
