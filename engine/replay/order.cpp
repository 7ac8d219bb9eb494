// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "replay/order.hpp"

#include <algorithm>
#include <deque>
#include <memory>

namespace hockney::replay {
namespace {

constexpr std::uint64_t kNothing = ~0ull;

enum Seen : std::uint8_t {
  kHasSend = 1,
  kHasReceive = 2,
  kHasReceived = 4,
  kHasSent = 8,
  kIsSent = 16,
  kIsPosted = 32
};

class Ordering {
 public:
  // `eager` of each row of costs. Null: every message waits for its receive unless it is buffered.
  Ordering(const Graph& graph, const Cost* costs, std::int64_t rows, bool waits)
      : graph_(graph), costs_(costs), rows_(rows), waits_(waits) {}

  Failure take(Order& order, std::int64_t* stuck) {
    Failure failure = count(graph_, rows_, messages_, groups_);
    if (failure.problem != kFine) return failure;
    const std::int64_t ranks = graph_.ranks;
    order.where.resize(static_cast<std::size_t>(graph_.first[ranks]));
    order_ = &order;
    at_.assign(graph_.first, graph_.first + ranks);
    seen_until_ = at_;
    blocked_.assign(static_cast<std::size_t>(ranks), kNothing);
    next_.assign(static_cast<std::size_t>(ranks), kNone);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) ready_.push_back(rank);
    while (!ready_.empty()) {
      const std::uint32_t rank = ready_.front();
      ready_.pop_front();
      blocked_[rank] = kNothing;
      advance(rank);
    }
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const bool ended = at_[rank] == graph_.first[rank + 1];
      if (!ended) failure = {kDeadlock, at_[rank]};
      stuck[rank] = ended ? -1 : seen_until_[rank];
    }
    order.message_registers = message_registers_.count();
    order.group_registers = group_registers_.count();
    if (std::max(order.message_registers, order.group_registers) > kRegister) return {kTooLarge, 0};
    return failure;
  }

 private:
  void advance(std::uint32_t rank) {
    const std::int64_t begin = at_[rank], end = graph_.first[rank + 1];
    std::int64_t i = begin;
    while (i < end) {
      const Op& op = graph_.ops[i];
      std::int64_t last = i + 1;
      if (is_end(op)) {
        last = std::max(seen_until_[rank], i);
        for (bool first = last == i; last < end && (first || continues(graph_.ops, last, end)); ++last) {
          first = false;
          if (!over(graph_.ops[last])) {
            blocked_[rank] = graph_.ops[last].slot;
            break;
          }
        }
      } else if (op.kind == kLeave && !leaves(op, rank)) {
        blocked_[rank] = kNothing - 1;
      }
      seen_until_[rank] = last;
      if (blocked_[rank] != kNothing) {
        if (!is_end(op)) seen_until_[rank] = i;
        break;
      }
      std::int64_t received = 0;
      for (; i < last; ++i) {
        received += graph_.ops[i].kind == kReceived;
        commit(i);
      }
      order_->most_received = std::max(order_->most_received, received);
    }
    at_[rank] = i;
    std::vector<Run>& runs = order_->runs;
    for (std::int64_t count = i - begin; count > 0;) {
      if (!runs.empty() && runs.back().rank == rank && runs.back().count < kNone - count) {
        runs.back().count += static_cast<std::uint32_t>(count);
        break;
      }
      const auto part = static_cast<std::uint32_t>(std::min<std::int64_t>(count, kNone - 1));
      runs.push_back({rank, part});
      count -= part;
    }
  }

  // Whether a send or receive can end.
  bool over(const Op& op) const {
    const MessageState& message = messages_[op.slot];
    if ((message.seen & kIsSent) == 0) return false;
    if (op.kind == kSent && (message.seen & kIsPosted) == 0) {
      const bool buffered = leaves_at_once(false, message.flags);
      return buffered || (!waits_ && leaves_at_once(costs_[op.cost].eager != 0, message.flags));
    }
    return op.kind == kSent || (message.seen & kIsPosted) != 0;
  }

  // If the rank cannot leave a group, it is added to the ranks that wait for the group.
  bool leaves(const Op& op, std::uint32_t rank) {
    GroupState& group = groups_[op.slot];
    if (all_there(group, op.flags)) return true;
    next_[rank] = group.waiting;
    group.waiting = rank;
    return false;
  }

  void commit(std::int64_t i) {
    const Op& op = graph_.ops[i];
    if (op.kind == kCompute) {
      order_->where[i] = 0;
    } else if (op.kind == kEnter || op.kind == kLeave) {
      order_->where[i] = in_group(op);
    } else {
      order_->where[i] = in_message(op);
    }
  }

  std::uint32_t in_group(const Op& op) {
    GroupState& group = groups_[op.slot];
    std::uint32_t bits = 0;
    if (group.place == kNone) {
      group.place = group_registers_.take();
      bits = kFirst;
    }
    bits |= group.place;
    if (op.kind == kEnter) {
      --group.to_enter;
      const bool root = (op.flags & kAtRoot) != 0;
      group.root = group.root || root;
      if (group.to_enter == 0 || (root && (op.flags & kRootedFrom) != 0)) {
        for (std::uint32_t rank = group.waiting; rank != kNone; rank = next_[rank]) ready_.push_back(rank);
        group.waiting = kNone;
      }
    }
    if (--group.left == 0) group_registers_.give(group.place);
    return bits;
  }

  std::uint32_t in_message(const Op& op) {
    MessageState& message = messages_[op.slot];
    if (message.place == kNone) message.place = message_registers_.take();
    std::uint32_t bits = message.place;
    if (op.kind == kSend) {
      message.seen |= kIsSent;
      wake(graph_.messages[op.slot].target, op.slot);
    } else if (op.kind == kReceive) {
      message.seen |= kIsPosted;
      wake(graph_.messages[op.slot].source, op.slot);
    }
    if ((message.flags & kSynchronous) != 0)
      bits |= kWaits;
    else if ((message.flags & kBuffered) != 0)
      bits |= kLeaves;
    if (message.late) bits |= kLate;
    if (--message.left == 0) message_registers_.give(message.place);
    return bits;
  }

  void wake(std::uint32_t rank, std::uint32_t slot) {
    if (blocked_[rank] != slot) return;
    blocked_[rank] = kNothing;
    ready_.push_back(rank);
  }

  const Graph& graph_;
  const Cost* costs_;
  std::int64_t rows_;
  bool waits_;
  Order* order_ = nullptr;
  std::vector<MessageState> messages_;
  std::vector<GroupState> groups_;
  Numbers message_registers_, group_registers_;
  std::vector<std::int64_t> at_, seen_until_;
  std::vector<std::uint64_t> blocked_;  // the message that a rank waits for
  std::vector<std::uint32_t> next_;
  std::deque<std::uint32_t> ready_;
};

}  // namespace

bool all_there(const GroupState& group, std::uint8_t flags) {
  const bool root = (flags & kAtRoot) != 0;
  if (group.to_enter == 0) return true;
  if ((flags & kRootedFrom) != 0 && (root || group.root)) return true;
  return (flags & kRootedTo) != 0 && !root;
}

Failure count(const Graph& graph, std::int64_t rows, std::vector<MessageState>& messages,
              std::vector<GroupState>& groups) {
  messages.resize(static_cast<std::size_t>(graph.messages_count));
  groups.resize(static_cast<std::size_t>(graph.groups_count));
  for (std::int64_t rank = 0; rank < graph.ranks; ++rank)
    for (std::int64_t i = graph.first[rank]; i < graph.first[rank + 1]; ++i) {
      const Op& op = graph.ops[i];
      if (op.kind >= kKinds || op.place >= graph.places) return {kBadIndex, i};
      if (op.kind == kCompute) continue;
      const bool grouped = op.kind == kEnter || op.kind == kLeave;
      if (op.cost >= rows || op.slot >= (grouped ? graph.groups_count : graph.messages_count))
        return {kBadIndex, i};
      if (grouped) {
        GroupState& group = groups[op.slot];
        ++group.left;
        if (op.kind == kEnter) ++group.to_enter;
        continue;
      }
      MessageState& message = messages[op.slot];
      const bool sender = op.kind == kSend || op.kind == kSent;
      const Message& data = graph.messages[op.slot];
      if (data.source >= graph.ranks || data.target >= graph.ranks) return {kBadIndex, i};
      const auto bit = static_cast<std::uint8_t>(1u << (op.kind - kSend));
      if (rank != (sender ? data.source : data.target) || (message.seen & bit) != 0) return {kBadMessage, i};
      message.seen |= bit;
      ++message.left;
      if (op.kind == kSend) {
        message.flags = op.flags;
        message.late = sends_and_waits(graph.ops, i, graph.first[rank + 1]);
      }
    }
  return {kFine, 0};
}

}  // namespace hockney::replay

using hockney::replay::Cost;
using hockney::replay::Failure;
using hockney::replay::Graph;
using hockney::replay::Order;

extern "C" {

// Returns the order, or null with the reason. If ranks deadlock, `stuck` contains for each rank the operation
// that cannot end, or -1. With `waits`, every message waits for its receive.
Order* hockney_replay_order(const Graph* graph, const Cost* costs, std::int64_t rows, int waits,
                            std::int64_t* stuck, Failure* failure) {
  auto order = std::make_unique<Order>();
  hockney::replay::Ordering ordering(*graph, costs, rows, waits != 0);
  *failure = ordering.take(*order, stuck);
  if (failure->problem != hockney::replay::kFine) return nullptr;
  order->runs.shrink_to_fit();
  return order.release();
}

void hockney_replay_order_free(Order* order) {
  delete order;
}

std::int64_t hockney_replay_order_most_received(const Order* order) {
  return order->most_received;
}
}
