// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

// An Ethernet as a queue of frames in virtual time: no sockets and no clock, so that it can be tested
// exactly.
namespace hockney::emulated {

using Nanoseconds = std::int64_t;

inline constexpr int broadcast_host = -1;
// Lowest rate in bits per second (as in hockney/machines/emulated/description.py), at which a frame takes 12
// s.
inline constexpr double slowest = 1e3;

struct Frame {
  int from = 0;
  int to = broadcast_host;
  Nanoseconds arrival = 0;  // when the host passed it to its network adapter
  std::vector<std::byte> bytes;
};

struct Delivery {
  Nanoseconds when = 0;
  Frame frame;
  bool held = false;  // has passed the slow path between its hosts, or the trunk
};

// A host, or the path between two hosts, whose frames take `slowdown` times as long on the wire, and are lost
// with the probability `loss`.
struct Fault {
  std::vector<int> hosts;  // one, or two
  double slowdown = 1;
  double loss = 0;
};

struct Faults {
  std::vector<Fault> all;

  // The slowdown of a host, and of the path between two hosts.
  double slowdown(int host) const;
  double slowdown(int from, int to) const;
  // Whether the frame is lost, drawn from a random sequence with this state.
  bool loses(const Frame& frame, std::uint64_t& state) const;
};

// The time for which a frame occupies the wire. IEEE 802.3, clauses 3 and 4: preamble and start delimiter
// have 8 octets, the check sequence 4, a frame including it at least 64; the next frame follows after a gap
// of 12.
struct Wire {
  double bits_per_second = 10e6;
  Nanoseconds delay = 0;  // from the end of a frame at the sender to its end at the receiver

  Nanoseconds sending(std::size_t bytes) const;
  Nanoseconds gap() const;
};

// A frame is delivered when its last bit has arrived, as an adapter delivers it.
class Medium {
 public:
  virtual ~Medium() = default;
  // Frames of a host must be offered in the order of their arrival.
  virtual void offer(Frame frame) = 0;
  // Returns all deliveries up to `now`, in order. Only starts of frames up to `now` are decided, since later
  // frames may have to yield to frames that have not yet been offered.
  virtual std::vector<Delivery> advance_to(Nanoseconds now) = 0;
  // The next time at which advance_to() has work to do; empty if nothing is in flight.
  virtual std::optional<Nanoseconds> next() const = 0;
};

// A cable or hub: one frame at a time, in either direction. Waiting hosts take turns; collisions are not
// emulated.
class Bus : public Medium {
 public:
  Bus(Wire wire, int hosts, Faults faults = {})
      : wire_(wire), faults_(std::move(faults)), waiting_frames_(static_cast<std::size_t>(hosts)) {}
  void offer(Frame frame) override;
  std::vector<Delivery> advance_to(Nanoseconds now) override;
  std::optional<Nanoseconds> next() const override;

 private:
  std::optional<Nanoseconds> next_start() const;
  std::size_t next_host(Nanoseconds start) const;

  Wire wire_;
  Faults faults_;
  std::uint64_t losses_ = 0;
  std::vector<std::deque<Frame>> waiting_frames_;
  std::deque<Delivery> in_flight_;
  Nanoseconds free_ = 0;
  std::size_t last_ = 0;
};

// A full-duplex cable between two switches. The hosts before `first_far` are on the first switch.
struct Trunk {
  int first_far = 0;
  double bits_per_second = 0;  // 0: there is only one switch
};

// Full duplex; the switch receives each frame completely before it sends it on. Its queues are unlimited.
class Switch : public Medium {
 public:
  Switch(Wire wire, int hosts, Faults faults = {}, Trunk trunk = {})
      : wire_(wire),
        faults_(std::move(faults)),
        trunk_(trunk),
        uplink_free_(static_cast<std::size_t>(hosts)),
        downlink_free_(static_cast<std::size_t>(hosts)) {}
  void offer(Frame frame) override;
  std::vector<Delivery> advance_to(Nanoseconds now) override;
  std::optional<Nanoseconds> next() const override;

 private:
  struct LaterDelivery {
    bool operator()(const Delivery& a, const Delivery& b) const { return a.when > b.when; }
  };
  using DeliveryQueue = std::priority_queue<Delivery, std::vector<Delivery>, LaterDelivery>;
  bool crosses_trunk(const Frame& frame) const;
  bool hold(const Delivery& received);
  void forward(const Delivery& received, int to);

  Wire wire_;
  Faults faults_;
  std::uint64_t losses_ = 0;
  Trunk trunk_;
  std::map<std::pair<int, int>, Nanoseconds> path_free_;  // of slow paths between two hosts
  Nanoseconds trunk_free_[2] = {0, 0};                    // to the first switch, and to the second
  std::vector<Nanoseconds> uplink_free_, downlink_free_;
  DeliveryQueue uplink_, downlink_;
};

// Makes a medium: `kind` is "bus" or "switch"; null for anything else.
std::unique_ptr<Medium> medium(const std::string& kind, Wire wire, int hosts, Faults faults = {},
                               Trunk trunk = {});

}  // namespace hockney::emulated
