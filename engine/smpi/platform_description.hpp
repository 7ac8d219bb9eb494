// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <stdexcept>
#include <string>
#include <vector>

#include "smpi/core_detours.hpp"

namespace hockney::platform {

// An invalid machine description. The message gives the line.
class InvalidDescription : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A time that grows with a message's size.
struct Line {
  double seconds = 0;
  double per_byte = 0;

  double at(double size) const { return seconds + per_byte * size; }
};

// Costs of messages of `first` bytes and more.
struct Segment {
  double first = 0;
  Line send;
  Line isend;
  Line flight;
  Line receive;
  Line gap;
  Line exchange;
  Line processor;
};

struct NodeGroup {
  std::size_t count = 0;
  int cores = 1;
};

struct Noise {
  double relative = 0;
  std::uint64_t seed = 0;
};

// A node, the path between two nodes, or the uplink of a switch that is slower than described: messages spend
// `slowdown` times as long in the network, and each is lost with the probability `loss` and sent again after
// `resend` seconds.
struct Fault {
  std::vector<std::size_t> nodes;  // one, or two; or all nodes below the switch
  bool is_uplink = false;
  double slowdown = 1;
  double loss = 0;
  double resend = 0;
};

// At this rate or above, messages do not share bandwidth and no links are created.
inline constexpr double unlimited_rate = 1e12;

// A machine description with the terms of hockney/core/platform.py, in seconds and bytes.
struct Description {
  std::string shape = "switch";
  std::vector<std::size_t> dims;
  std::vector<std::size_t> down, up, cables;
  std::vector<std::size_t> dragonfly;
  std::vector<NodeGroup> nodes;
  double nic = unlimited_rate;
  bool half_duplex = false;
  double link = unlimited_rate;
  double hop = 0;
  Line medium;
  double eager = 65536;
  double flops = 1e9;
  double clock = 0;
  std::vector<Segment> between, on_node;
  Noise noise;
  std::vector<Fault> faults;
  std::uint64_t fault_seed = 0;
  std::vector<smpi::DetourPattern> detours;
  std::uint64_t events = 0;

  std::size_t node_count() const;
  // Whether messages between nodes take processor time.
  bool messages_use_processors() const;
};

// Parses one `key value ...` line each, as written by hockney/launch/smpi.py; '#' begins a comment.
Description read_description(std::istream& text);

}  // namespace hockney::platform
