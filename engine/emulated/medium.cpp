// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "emulated/medium.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hockney::emulated {

namespace {

constexpr std::size_t before_frame = 8;
constexpr std::size_t check_sequence = 4;
constexpr std::size_t smallest_frame = 64;
constexpr std::size_t between_frames = 12;

// SplitMix64 (Steele, Lea, Flood 2014): a number in (0, 1), and the next state.
double uniform(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

Nanoseconds scaled(Nanoseconds time, double factor) {
  return factor == 1 ? time : std::llround(static_cast<double>(time) * factor);
}

Nanoseconds octets(std::size_t count, double bits_per_second) {
  return std::llround(static_cast<double>(count) * 8e9 / bits_per_second);
}

}  // namespace

Nanoseconds Wire::sending(std::size_t bytes) const {
  return octets(before_frame + std::max(bytes + check_sequence, smallest_frame), bits_per_second);
}

Nanoseconds Wire::gap() const {
  return octets(between_frames, bits_per_second);
}

double Faults::slowdown(int host) const {
  double factor = 1;
  for (const Fault& fault : all)
    if (fault.hosts == std::vector{host}) factor *= fault.slowdown;
  return factor;
}

double Faults::slowdown(int from, int to) const {
  double factor = 1;
  for (const Fault& fault : all)
    if (fault.hosts == std::vector{from, to} || fault.hosts == std::vector{to, from})
      factor *= fault.slowdown;
  return factor;
}

bool Faults::loses(const Frame& frame, std::uint64_t& state) const {
  if (frame.to == broadcast_host) return false;
  for (const Fault& fault : all) {
    const bool concerned = std::all_of(fault.hosts.begin(), fault.hosts.end(),
                                       [&](int host) { return host == frame.from || host == frame.to; });
    if (fault.loss > 0 && concerned && uniform(state) < fault.loss) return true;
  }
  return false;
}

void Bus::offer(Frame frame) {
  if (faults_.loses(frame, losses_)) return;
  waiting_frames_[static_cast<std::size_t>(frame.from)].push_back(std::move(frame));
}

std::optional<Nanoseconds> Bus::next_start() const {
  std::optional<Nanoseconds> first;
  for (const auto& queue : waiting_frames_)
    if (!queue.empty() && (!first || queue.front().arrival < *first)) first = queue.front().arrival;
  return first ? std::optional(std::max(*first, free_)) : std::nullopt;
}

// The next host after the last sender among the hosts with a frame at `start`.
std::size_t Bus::next_host(Nanoseconds start) const {
  for (std::size_t step = 1; step <= waiting_frames_.size(); ++step) {
    const std::size_t host = (last_ + step) % waiting_frames_.size();
    if (!waiting_frames_[host].empty() && waiting_frames_[host].front().arrival <= start) return host;
  }
  return last_;  // not reached: `start` is not before the first arrival
}

std::vector<Delivery> Bus::advance_to(Nanoseconds now) {
  for (auto start = next_start(); start && *start <= now; start = next_start()) {
    last_ = next_host(*start);
    Frame frame = std::move(waiting_frames_[last_].front());
    waiting_frames_[last_].pop_front();
    double slowdown = faults_.slowdown(frame.from);
    if (frame.to != broadcast_host)
      slowdown *= faults_.slowdown(frame.to) * faults_.slowdown(frame.from, frame.to);
    const Nanoseconds sent = *start + scaled(wire_.sending(frame.bytes.size()), slowdown);
    free_ = sent + wire_.gap();
    in_flight_.push_back({sent + wire_.delay, std::move(frame)});
  }
  std::vector<Delivery> arrival;
  while (!in_flight_.empty() && in_flight_.front().when <= now) {
    arrival.push_back(std::move(in_flight_.front()));
    in_flight_.pop_front();
  }
  return arrival;
}

std::optional<Nanoseconds> Bus::next() const {
  const auto start = next_start();
  if (in_flight_.empty()) return start;
  return start ? std::min(*start, in_flight_.front().when) : in_flight_.front().when;
}

void Switch::offer(Frame frame) {
  if (faults_.loses(frame, losses_)) return;
  Nanoseconds& free = uplink_free_[static_cast<std::size_t>(frame.from)];
  const Nanoseconds sent =
      std::max(frame.arrival, free) + scaled(wire_.sending(frame.bytes.size()), faults_.slowdown(frame.from));
  free = sent + wire_.gap();
  uplink_.push({sent + wire_.delay, std::move(frame)});
}

void Switch::forward(const Delivery& received, int to) {
  Nanoseconds& free = downlink_free_[static_cast<std::size_t>(to)];
  const Nanoseconds sent = std::max(received.when, free) +
                           scaled(wire_.sending(received.frame.bytes.size()), faults_.slowdown(to));
  free = sent + wire_.gap();
  Delivery delivery{sent + wire_.delay, received.frame};
  delivery.frame.to = to;
  downlink_.push(std::move(delivery));
}

bool Switch::crosses_trunk(const Frame& frame) const {
  return trunk_.bits_per_second > 0 && (frame.from < trunk_.first_far) != (frame.to < trunk_.first_far);
}

// Keeps a frame on the trunk or on the slow path between its hosts, which carry one frame at a time.
bool Switch::hold(const Delivery& received) {
  const Frame& frame = received.frame;
  if (received.held || frame.to == broadcast_host) return false;
  const double slowdown = faults_.slowdown(frame.from, frame.to);
  if (crosses_trunk(frame)) {
    const Wire cable{trunk_.bits_per_second, wire_.delay};
    Nanoseconds& free = trunk_free_[frame.to < trunk_.first_far ? 0 : 1];
    const Nanoseconds sent =
        std::max(received.when, free) + scaled(cable.sending(frame.bytes.size()), slowdown);
    free = sent + cable.gap();
    uplink_.push({sent + cable.delay, frame, true});
    return true;
  }
  if (slowdown == 1) return false;
  const Nanoseconds sending = wire_.sending(frame.bytes.size());
  Nanoseconds& free = path_free_[{frame.from, frame.to}];
  free = std::max(received.when, free) + scaled(sending, slowdown);
  uplink_.push({free - sending, frame, true});
  return true;
}

std::vector<Delivery> Switch::advance_to(Nanoseconds now) {
  while (!uplink_.empty() && uplink_.top().when <= now) {
    const Delivery received = uplink_.top();
    uplink_.pop();
    if (hold(received)) continue;
    for (int host = 0; host < static_cast<int>(downlink_free_.size()); ++host)
      if (host == received.frame.to || (received.frame.to == broadcast_host && host != received.frame.from))
        forward(received, host);
  }
  std::vector<Delivery> arrival;
  for (; !downlink_.empty() && downlink_.top().when <= now; downlink_.pop())
    arrival.push_back(downlink_.top());
  return arrival;
}

std::optional<Nanoseconds> Switch::next() const {
  if (uplink_.empty() || downlink_.empty()) {
    return uplink_.empty() ? (downlink_.empty() ? std::nullopt : std::optional(downlink_.top().when))
                           : std::optional(uplink_.top().when);
  }
  return std::min(uplink_.top().when, downlink_.top().when);
}

std::unique_ptr<Medium> medium(const std::string& kind, Wire wire, int hosts, Faults faults, Trunk trunk) {
  if (kind == "bus") return std::make_unique<Bus>(wire, hosts, std::move(faults));
  if (kind == "switch") return std::make_unique<Switch>(wire, hosts, std::move(faults), trunk);
  return nullptr;
}

}  // namespace hockney::emulated
