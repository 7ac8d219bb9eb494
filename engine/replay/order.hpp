// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "replay/graph.hpp"

namespace hockney::replay {

constexpr std::uint32_t kNone = ~0u;

// Allocates numbers, and reuses released ones.
class Numbers {
 public:
  std::uint32_t take() {
    if (free_.empty()) return count_++;
    const std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void give(std::uint32_t number) { free_.push_back(number); }
  std::uint32_t count() const { return count_; }

 private:
  std::vector<std::uint32_t> free_;
  std::uint32_t count_ = 0;
};

struct MessageState {
  std::uint32_t place = kNone;  // where its times are while it is under way
  std::uint8_t seen = 0;
  std::uint8_t left = 0;   // operations to come
  std::uint8_t flags = 0;  // of its send
  bool late = false;       // MPI_Send, which pays its overhead when both sides are ready if the message waits
};
static_assert(sizeof(MessageState) == 8);

struct GroupState {
  std::uint32_t place = kNone;
  std::uint32_t to_enter = 0, left = 0;
  std::uint32_t waiting = kNone;  // the first of the ranks that wait, a list
  bool root = false;              // has entered
};

// Whether a rank can leave a group.
bool all_there(const GroupState& group, std::uint8_t flags);

// Checks the references of all operations, and counts the operations of each message and group.
Failure count(const Graph& graph, std::int64_t rows, std::vector<MessageState>& messages,
              std::vector<GroupState>& groups);

}  // namespace hockney::replay
