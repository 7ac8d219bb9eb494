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

void Bus::offer(Frame frame) {
  waiting_[static_cast<std::size_t>(frame.from)].push_back(std::move(frame));
}

std::optional<Nanoseconds> Bus::next_start() const {
  std::optional<Nanoseconds> first;
  for (const auto& queue : waiting_)
    if (!queue.empty() && (!first || queue.front().arrived < *first)) first = queue.front().arrived;
  return first ? std::optional(std::max(*first, free_)) : std::nullopt;
}

// The next host after the last sender among those with a frame at `start`.
std::size_t Bus::turn(Nanoseconds start) const {
  for (std::size_t step = 1; step <= waiting_.size(); ++step) {
    const std::size_t host = (last_ + step) % waiting_.size();
    if (!waiting_[host].empty() && waiting_[host].front().arrived <= start) return host;
  }
  return last_;  // not reached: `start` is not before the first arrival
}

std::vector<Delivery> Bus::until(Nanoseconds now) {
  for (auto start = next_start(); start && *start <= now; start = next_start()) {
    last_ = turn(*start);
    Frame frame = std::move(waiting_[last_].front());
    waiting_[last_].pop_front();
    const Nanoseconds sent = *start + wire_.sending(frame.bytes.size());
    free_ = sent + wire_.gap();
    under_way_.push_back({sent + wire_.delay, std::move(frame)});
  }
  std::vector<Delivery> arrived;
  while (!under_way_.empty() && under_way_.front().when <= now) {
    arrived.push_back(std::move(under_way_.front()));
    under_way_.pop_front();
  }
  return arrived;
}

std::optional<Nanoseconds> Bus::next() const {
  const auto start = next_start();
  if (under_way_.empty()) return start;
  return start ? std::min(*start, under_way_.front().when) : under_way_.front().when;
}

void Switch::offer(Frame frame) {
  Nanoseconds& free = up_free_[static_cast<std::size_t>(frame.from)];
  const Nanoseconds sent = std::max(frame.arrived, free) + wire_.sending(frame.bytes.size());
  free = sent + wire_.gap();
  up_.push({sent + wire_.delay, std::move(frame)});
}

void Switch::forward(const Delivery& received, int to) {
  Nanoseconds& free = down_free_[static_cast<std::size_t>(to)];
  const Nanoseconds sent = std::max(received.when, free) + wire_.sending(received.frame.bytes.size());
  free = sent + wire_.gap();
  Delivery delivery{sent + wire_.delay, received.frame};
  delivery.frame.to = to;
  down_.push(std::move(delivery));
}

std::vector<Delivery> Switch::until(Nanoseconds now) {
  for (; !up_.empty() && up_.top().when <= now; up_.pop()) {
    const Delivery& received = up_.top();
    for (int host = 0; host < static_cast<int>(down_free_.size()); ++host)
      if (host == received.frame.to || (received.frame.to == everyone && host != received.frame.from))
        forward(received, host);
  }
  std::vector<Delivery> arrived;
  for (; !down_.empty() && down_.top().when <= now; down_.pop()) arrived.push_back(down_.top());
  return arrived;
}

std::optional<Nanoseconds> Switch::next() const {
  if (up_.empty() || down_.empty()) {
    return up_.empty() ? (down_.empty() ? std::nullopt : std::optional(down_.top().when))
                       : std::optional(up_.top().when);
  }
  return std::min(up_.top().when, down_.top().when);
}

std::unique_ptr<Medium> medium(const std::string& kind, Wire wire, int hosts) {
  if (kind == "bus") return std::make_unique<Bus>(wire, hosts);
  if (kind == "switch") return std::make_unique<Switch>(wire, hosts);
  return nullptr;
}

}  // namespace hockney::emulated
