// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

// An Ethernet as a queue of frames in virtual time: no sockets and no clock, so that it can be tested
// exactly.
namespace hockney::emulated {

using Nanoseconds = std::int64_t;

inline constexpr int everyone = -1;
// The lowest rate in bits per second (as in hockney/machines/emulated/description.py); a frame then takes 12
// s.
inline constexpr double slowest = 1e3;

struct Frame {
  int from = 0;
  int to = everyone;
  Nanoseconds arrived = 0;  // when the host gave it to its network adapter
  std::vector<std::byte> bytes;
};

struct Delivery {
  Nanoseconds when = 0;
  Frame frame;
};

// How long a frame occupies the wire. IEEE 802.3, clauses 3 and 4: preamble and start delimiter have 8
// octets, the check sequence 4, a frame with it at least 64; the next frame follows after a gap of 12.
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
  // Frames of one host are offered in the order of their arrival.
  virtual void offer(Frame frame) = 0;
  // All deliveries up to `now`, in order. Only starts of frames up to `now` are decided, since later ones may
  // have to yield to frames that are still to come.
  virtual std::vector<Delivery> until(Nanoseconds now) = 0;
  // When `until` will have something to do; empty if nothing is under way.
  virtual std::optional<Nanoseconds> next() const = 0;
};

// A cable or hub: one frame at a time, in either direction. Hosts that wait take turns; collisions are not
// emulated.
class Bus : public Medium {
 public:
  Bus(Wire wire, int hosts) : wire_(wire), waiting_(static_cast<std::size_t>(hosts)) {}
  void offer(Frame frame) override;
  std::vector<Delivery> until(Nanoseconds now) override;
  std::optional<Nanoseconds> next() const override;

 private:
  std::optional<Nanoseconds> next_start() const;
  std::size_t turn(Nanoseconds start) const;

  Wire wire_;
  std::vector<std::deque<Frame>> waiting_;
  std::deque<Delivery> under_way_;
  Nanoseconds free_ = 0;
  std::size_t last_ = 0;
};

// Full duplex; each frame is received completely by the switch before it is sent on. Its queues have no
// limit.
class Switch : public Medium {
 public:
  Switch(Wire wire, int hosts)
      : wire_(wire), up_free_(static_cast<std::size_t>(hosts)), down_free_(static_cast<std::size_t>(hosts)) {}
  void offer(Frame frame) override;
  std::vector<Delivery> until(Nanoseconds now) override;
  std::optional<Nanoseconds> next() const override;

 private:
  struct Later {
    bool operator()(const Delivery& a, const Delivery& b) const { return a.when > b.when; }
  };
  using ByTime = std::priority_queue<Delivery, std::vector<Delivery>, Later>;
  void forward(const Delivery& received, int to);

  Wire wire_;
  std::vector<Nanoseconds> up_free_, down_free_;
  ByTime up_, down_;
};

// `kind` is "bus" or "switch"; null for anything else.
std::unique_ptr<Medium> medium(const std::string& kind, Wire wire, int hosts);

}  // namespace hockney::emulated
