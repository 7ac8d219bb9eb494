// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <unordered_map>

#include "replay/clocks.hpp"

namespace hockney::replay {
namespace {

enum Mark : std::uint8_t {
  kBound = 1,      // the other side of a message, or another rank of a collective, decides when this ends
  kPaid = 2,       // the overhead of this receive is part of the time since then
  kExchanged = 4,  // and the additional time of an exchange
  kByPosted = 8,   // a message that was sent before its receive was posted
  kHeld = 16,      // the gap after the rank's last message decides when this one starts
  kFromRoot = 32,
};

enum Wait : std::uint8_t { kLateSender, kLateReceiver, kCollective };

}  // namespace

// Seconds for which operations at a place waited for the operation at `by_place` of `by_rank`.
struct Waited {
  std::uint32_t kind, place, by_place, by_rank;
  std::uint64_t count;
  double seconds;
};

// Records for each operation what determines its clock, and which ranks wait for which.
class PathWatch {
 public:
  static constexpr bool kOn = true, kRecorded = false;

  explicit PathWatch(const Graph& graph)
      : graph_(graph),
        marks(static_cast<std::size_t>(graph.first[graph.ranks])),
        sends(static_cast<std::size_t>(graph.messages_count)),
        receives(static_cast<std::size_t>(graph.messages_count)),
        last_enter(static_cast<std::size_t>(graph.groups_count)),
        root_enter(static_cast<std::size_t>(graph.groups_count)) {}

  void sent(std::int64_t i, bool held) {
    sends[graph_.ops[i].slot] = i;
    if (held) mark(i, kHeld);
  }
  void posted(std::int64_t i) { receives[graph_.ops[i].slot] = i; }
  void entered(std::int64_t i, bool root) { (root ? root_enter : last_enter)[graph_.ops[i].slot] = i; }

  void left(std::int64_t i, bool waited_for, bool from_root, double late) {
    if (waited_for) mark(i, from_root ? kBound | kFromRoot : kBound);
    if (late > 0) add(kCollective, i, (from_root ? root_enter : last_enter)[graph_.ops[i].slot], late);
  }

  void waited(std::int64_t i, double late) {
    if (late <= 0) return;
    const bool receives_it = graph_.ops[i].kind == kReceived;
    add(receives_it ? kLateSender : kLateReceiver, i, (receives_it ? sends : receives)[graph_.ops[i].slot],
        late);
  }

  void bound(std::int64_t i, bool by_posted) { mark(i, by_posted ? kBound | kByPosted : kBound); }
  void paid(std::int64_t i) { mark(i, kPaid); }
  void exchanged(std::int64_t i) { mark(i, kExchanged); }

  std::int64_t rank_of(std::int64_t i) const {
    return std::upper_bound(graph_.first, graph_.first + graph_.ranks + 1, i) - graph_.first - 1;
  }

  std::vector<Waited> waits() const {
    std::vector<Waited> all;
    all.reserve(waits_.size());
    for (const auto& [key, value] : waits_) all.push_back(value);
    return all;
  }

 private:
  void mark(std::int64_t i, int bits) {
    std::uint8_t& bits_of_op = marks[static_cast<std::size_t>(i)];
    bits_of_op = static_cast<std::uint8_t>(bits_of_op | bits);
  }

  void add(Wait kind, std::int64_t i, std::int64_t by, double late) {
    const Op& op = graph_.ops[by];
    const auto rank = static_cast<std::uint64_t>(by_rank(by));
    const std::uint64_t key = ((rank << 2 | kind) << 16 | graph_.ops[i].place) << 16 | op.place;
    Waited& sum = waits_
                      .try_emplace(key, Waited{kind, graph_.ops[i].place, op.place,
                                               static_cast<std::uint32_t>(rank), 0, 0.0})
                      .first->second;
    ++sum.count;
    sum.seconds += late;
  }

  std::int64_t by_rank(std::int64_t by) const {
    const Op& op = graph_.ops[by];
    if (op.kind == kSend) return graph_.messages[op.slot].source;
    if (op.kind == kReceive) return graph_.messages[op.slot].target;
    return rank_of(by);
  }

  const Graph& graph_;
  std::unordered_map<std::uint64_t, Waited> waits_;

 public:
  std::vector<std::uint8_t> marks;
  std::vector<std::int64_t> sends, receives;         // the operation of each message
  std::vector<std::int64_t> last_enter, root_enter;  // of each group
};

namespace {

enum Part {
  kComputed,
  kOverhead,
  kLatency,
  kTransfer,
  kReceivePart,
  kGap,
  kExchange,
  kGroup,
  kUnexplained,
  kParts
};

}  // namespace

// The longest chain of operations in which each waits for the previous one, and all waiting. `by_place` and
// `by_rank` contain the seconds of each Part; the last row of `by_place` is the time after all operations.
// `messages` and `bytes` count the messages on the path by level, with a collective as one message.
// `unexplained` contains the part of the computation before each operation that belongs to the previous call;
// it may be null.
struct Path {
  const float* unexplained;
  double* by_place;
  double* by_rank;
  double* ends;
  double messages[kLevels], bytes[kLevels], overheads;
  std::int64_t last_rank;
  const Waited* waits;
  std::int64_t waits_count;
  std::vector<Waited>* owned;
};

namespace {

class Walk {
 public:
  Walk(const Graph& graph, const Order& order, const Cost* costs, const Computation& computation,
       const PathWatch& watch, Path& path)
      : graph_(graph), order_(order), costs_(costs), computation_(computation), watch_(watch), path_(path) {}

  void from(std::int64_t rank) {
    rank_ = rank;
    add(graph_.places, kComputed, graph_.tail[rank] * rank_factor());
    at_ = graph_.first[rank + 1] - 1;
    while (at_ >= graph_.first[rank_]) step();
  }

 private:
  double rank_factor() const {
    return computation_.rank_factor == nullptr ? 1.0 : computation_.rank_factor[rank_];
  }

  void compute(std::int64_t i) {
    const Op& op = graph_.ops[i];
    const float seconds = computation_.seconds == nullptr ? op.computed : computation_.seconds[i];
    const double place = computation_.place_factor == nullptr ? 1.0 : computation_.place_factor[op.place];
    const double computed = static_cast<double>(seconds) * rank_factor() * place;
    const double unexplained = path_.unexplained == nullptr ? 0.0 : path_.unexplained[i];
    add(op.place, kComputed, computed - unexplained);
    if (unexplained != 0.0)
      add(i > graph_.first[rank_] ? graph_.ops[i - 1].place : op.place, kUnexplained, unexplained);
  }

  void add(std::int64_t place, Part part, double seconds) {
    path_.by_place[place * kParts + part] += seconds;
    path_.by_rank[rank_ * kParts + part] += seconds;
  }

  bool marked(std::int64_t i, Mark mark) const {
    return (watch_.marks[static_cast<std::size_t>(i)] & mark) != 0;
  }

  bool eager(std::int64_t i) const {
    const std::uint32_t where = order_.where[static_cast<std::size_t>(i)];
    if ((where & (kWaits | kLeaves)) != 0) return (where & kLeaves) != 0;
    return costs_[graph_.ops[i].cost].eager != 0;
  }

  bool late(std::int64_t i) const {
    return (order_.where[static_cast<std::size_t>(i)] & kLate) != 0 && !eager(i);
  }

  void overhead(std::int64_t i) {
    add(graph_.ops[i].place, kOverhead, costs_[graph_.ops[i].cost].overhead);
    ++path_.overheads;
  }

  void received(std::int64_t i) {
    const Op& op = graph_.ops[i];
    add(op.place, kReceivePart, costs_[op.cost].receive);
    ++path_.overheads;
    if (marked(i, kExchanged)) add(op.place, kExchange, costs_[op.cost].exchange);
  }

  void flight(std::int64_t i) {
    const Op& op = graph_.ops[i];
    const Cost& cost = costs_[op.cost];
    add(op.place, kLatency, cost.latency);
    add(op.place, kTransfer, cost.transfer);
    const int level = std::min<int>(cost.level, kLevels - 1);
    ++path_.messages[level];
    path_.bytes[level] += static_cast<double>(graph_.messages[op.slot].size);
  }

  void jump(std::int64_t i, std::int64_t rank, bool start) {
    at_ = i;
    rank_ = rank;
    start_ = start;
  }

  void step() {
    const std::int64_t i = at_;
    const Op& op = graph_.ops[i];
    const bool start = start_;
    start_ = false;
    --at_;
    if (op.kind == kSend) {
      send(i, start);
    } else if (is_end(op)) {
      ends(i);
    } else if (op.kind == kLeave) {
      const Cost& cost = costs_[op.cost];
      const bool root = (op.flags & kAtRoot) != 0;
      if (marked(i, kBound)) {
        add(op.place, kGroup, cost.latency + cost.transfer);
        ++path_.messages[std::min<int>(cost.level, kLevels - 1)];
        const std::int64_t by = (marked(i, kFromRoot) ? watch_.root_enter : watch_.last_enter)[op.slot];
        jump(by, watch_.rank_of(by), false);
        return;
      }
      if (((op.flags & kRootedFrom) != 0 && root) || ((op.flags & kRootedTo) != 0 && !root)) {
        add(op.place, kGroup, cost.overhead);
      }
      compute(i);
    } else {
      compute(i);
    }
  }

  void send(std::int64_t i, bool start) {
    const Op& op = graph_.ops[i];
    if (late(i)) {
      compute(i);
      return;
    }
    if (marked(i, kHeld) && (start || costs_[op.cost].gap_holds != 0)) {
      std::int64_t before = i - 1;
      while (graph_.ops[before].kind != kSend || late(before)) --before;
      add(graph_.ops[before].place, kGap, costs_[graph_.ops[before].cost].gap);
      jump(before, rank_, true);
      return;
    }
    overhead(i);
    compute(i);
  }

  void ends(std::int64_t i) {
    const Op* ops = graph_.ops;
    std::int64_t first = i;
    while (first > graph_.first[rank_] && continues(ops, first, i + 1) && is_end(ops[first - 1])) --first;
    std::int64_t bound = -1;
    for (std::int64_t k = first; k <= i; ++k) {
      if (marked(k, kPaid)) received(k);
      if (marked(k, kBound)) bound = k;
    }
    if (bound < 0) {
      for (std::int64_t k = first; k <= i; ++k) compute(k);
      at_ = first - 1;
      return;
    }
    const std::uint32_t slot = ops[bound].slot;
    const Message& message = graph_.messages[slot];
    flight(bound);
    if (!eager(bound)) {
      received(bound);
      if (late(bound)) overhead(bound);
    }
    if (marked(bound, kByPosted))
      jump(watch_.receives[slot], message.target, false);
    else
      jump(watch_.sends[slot], message.source, true);
  }

  const Graph& graph_;
  const Order& order_;
  const Cost* costs_;
  const Computation& computation_;
  const PathWatch& watch_;
  Path& path_;
  std::int64_t rank_ = 0, at_ = 0;
  bool start_ = false;  // the path comes from the departure of the message that `at_` sends
};

}  // namespace
}  // namespace hockney::replay

using hockney::replay::Clocks;
using hockney::replay::Computation;
using hockney::replay::Cost;
using hockney::replay::Graph;
using hockney::replay::Order;
using hockney::replay::Path;
using hockney::replay::PathWatch;

extern "C" {

// Fills the arrays that Python provides in `path`, and its numbers. The caller frees its waits.
void hockney_replay_path(const Graph* graph, const Order* order, const Cost* costs, std::int64_t rows,
                         const Computation* computation, Path* path) {
  PathWatch watch(*graph);
  const auto table = hockney::replay::rows_of<double>(costs, nullptr, 0, rows);
  const std::vector<double> ends =
      Clocks<double, PathWatch>(*graph, *order, table, *computation, watch).take();
  std::copy(ends.begin(), ends.end(), path->ends);
  path->owned = std::make_unique<std::vector<hockney::replay::Waited>>(watch.waits()).release();
  path->waits = path->owned->data();
  path->waits_count = static_cast<std::int64_t>(path->owned->size());
  path->last_rank = std::max_element(ends.begin(), ends.end()) - ends.begin();
  if (!ends.empty())
    hockney::replay::Walk(*graph, *order, costs, *computation, watch, *path).from(path->last_rank);
}

void hockney_replay_path_free(Path* path) {
  delete path->owned;
  path->owned = nullptr;
}
}
