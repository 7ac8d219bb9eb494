// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <queue>

#include "replay/links.hpp"

namespace hockney::replay {

// The resources of a machine that messages share.
struct Network {
  const std::uint32_t* node;        // of each rank
  const std::uint32_t* route;       // of each message, a row of `route_first`
  const std::int64_t* route_first;  // of each route and the end of the last, in `route_links`
  const std::uint32_t* route_links;
  const double* rates;       // of the links, bytes per second
  const double* work_first;  // the least bytes for which each row of `work` holds
  const double* work;        // seconds of both processors, and seconds per byte, of a message
  std::int64_t nodes, links, works;
  double slowest;                  // of the rates
  double medium, medium_per_byte;  // for which every message between nodes occupies the medium
};

namespace {

// Bytes that SimGrid's MPI adds to each message on a link.
constexpr double kEnvelope = 16;
constexpr double kMinLatency = 1e-12;

// A queue of events by time; simultaneous events keep the order in which they were added. Events at the
// current time have a separate queue. The others are in a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, J. ACM
// 37 (1990) 213), in the bucket of the highest bit in which their time differs from the last time that was
// taken.
class Events {
 public:
  enum What : std::uint32_t { kResume, kArrive, kEnterLinks, kDepart };

  struct Event {
    std::uint64_t time;  // the bits of a number that is not negative, in the order of these numbers
    std::uint32_t who;   // and what, in the first two bits

    What what() const { return static_cast<What>(who >> 30); }
    std::uint32_t subject() const { return who & kMost; }
  };
  static constexpr std::uint32_t kMost = (1u << 30) - 1;

  void add(double time, double now, What what, std::uint32_t subject) {
    const Event event{std::bit_cast<std::uint64_t>(time), static_cast<std::uint32_t>(what) << 30 | subject};
    if (time <= now) {
      present_.push_back(event);
      return;
    }
    if (filled_ == 0 || first_ != kNever) first_ = std::min(first_, event.time);
    put(event);
  }

  // The time of the next event; infinity if there is none.
  double next(double now) { return taken_ < present_.size() ? now : later(); }

  // Processes all events until `now`, including those that are added meanwhile.
  template <class Action>
  void take(double now, const Action& action) {
    if (later() <= now) {
      split();
      for (const Event& each : due_) action(each);
      due_.clear();
    }
    for (; taken_ < present_.size(); ++taken_) action(Event{present_[taken_]});
    present_.clear();
    taken_ = 0;
  }

 private:
  static constexpr std::uint64_t kNever =
      std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());

  void put(const Event& event) {
    const auto bucket = static_cast<std::size_t>(std::bit_width(event.time ^ last_)) & 63;  // the sign is 0
    buckets_[bucket].push_back(event);
    filled_ |= 1ull << bucket;
  }

  double later() {
    if (first_ == kNever && filled_ != 0)
      for (const Event& each : buckets_[static_cast<std::size_t>(std::countr_zero(filled_))])
        first_ = std::min(first_, each.time);
    return std::bit_cast<double>(first_);
  }

  // Takes the earliest events, which have equal times, out of their bucket. The others move to earlier
  // buckets.
  void split() {
    const auto bucket = static_cast<std::size_t>(std::countr_zero(filled_));
    last_ = first_;
    first_ = kNever;
    filled_ &= filled_ - 1;
    moving_.swap(buckets_[bucket]);
    for (const Event& each : moving_) {
      if (each.time == last_)
        due_.push_back(each);
      else
        put(each);
    }
    moving_.clear();
  }

  std::array<std::vector<Event>, 64> buckets_;
  std::vector<Event> moving_, due_, present_;
  std::size_t taken_ = 0;
  std::uint64_t filled_ = 0, last_ = 0, first_ = kNever;
};

// A node's work for its messages in addition to MPI calls, as in engine/smpi/processor.hpp.
class ProcessorWork {
 public:
  void add(double moment, double seconds) { coming_.push({moment, seconds}); }

  double free(double now) {
    while (!coming_.empty() && coming_.top().first <= std::max(now, free_)) {
      free_ = std::max(free_, coming_.top().first) + coming_.top().second;
      coming_.pop();
    }
    return std::max(now, free_);
  }

 private:
  using Item = std::pair<double, double>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> coming_;
  double free_ = 0;
};

// Runs the operations of each rank at their times, with the costs and the order of events of the simulator's
// plug-in (engine/smpi/platform_costs.cpp). A message first takes its latency, during which it uses no link,
// then crosses all links of its route at once.
class Simulation {
 public:
  Simulation(const Graph& graph, const Network& network, const Cost* costs, std::int64_t rows,
             const Computation& computation)
      : graph_(graph),
        network_(network),
        costs_(costs),
        rows_(rows),
        computation_(computation),
        links_({network.rates, static_cast<std::size_t>(network.links)}) {}

  Failure take(double* ends, std::int64_t* stuck) {
    Failure failure = count(graph_, rows_, messages_, groups_);
    if (failure.problem != kFine) return failure;
    if (std::max(graph_.ranks, graph_.messages_count) > Events::kMost) return {kTooLarge, 0};
    ranks_.resize(static_cast<std::size_t>(graph_.ranks));
    sending_until_.resize(static_cast<std::size_t>(network_.nodes));
    if (network_.works > 0) processors_.resize(static_cast<std::size_t>(network_.nodes));
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].at = graph_.first[rank];
      wake(rank);
    }
    run();
    for (std::int64_t rank = 0; rank < graph_.ranks; ++rank) {
      const Rank& self = ranks_[static_cast<std::size_t>(rank)];
      stuck[rank] = self.stage == kEnded ? -1 : stuck_at(self);
      if (stuck[rank] >= 0) failure = {kDeadlock, stuck[rank]};
      ends[rank] = self.free;
    }
    return failure;
  }

 private:
  static constexpr std::int64_t kAhead =
      8;  // operations, which are then in the cache for the rank's next event

  enum Stage : std::uint8_t { kBegin, kComputed, kBusy, kDone, kTail, kEnded };
  struct Item {
    double arrived;
    std::uint32_t place;  // in the wait
  };
  struct Rank {
    std::int64_t at = 0, last = 0;  // the operation, and the end of the wait
    double free = 0;                // when it may send again; in the end its end
    double sent_until = 0;
    std::uint32_t awaited = 0;   // messages of the wait that have not been taken
    std::uint32_t next = kNone;  // the next rank that waits for a group
    Stage stage = kBegin;
    bool waits = false;
    std::vector<Item> arrived;  // messages of the wait that are there, the first to arrive at the front
  };
  struct Live {
    double arrived, until;
    std::uint32_t slot, cost;
    std::uint32_t sender_waits, receiver_waits;  // its places in their waits
    bool departs, sent, awaited, paid, under_way, there, eager;
  };
  struct LiveGroup {
    double last = 0, root = 0;
  };

  void run() {
    for (;;) {
      const double next = std::min(events_.next(now_), links_.next_end(now_));
      if (next == std::numeric_limits<double>::infinity()) break;
      now_ = next;
      for (const std::uint32_t message : links_.ended(now_)) arrive(message);
      events_.take(now_, [&](const Events::Event event) {
        switch (event.what()) {
          case Events::kResume: advance(event.subject()); break;
          case Events::kArrive: arrive(event.subject()); break;
          case Events::kEnterLinks: enter_links(event.subject()); break;
          case Events::kDepart: send(event.subject()); break;
        }
      });
    }
  }

  std::int64_t stuck_at(const Rank& self) const {
    for (std::int64_t i = self.at; i < self.last; ++i) {
      const std::uint32_t place = messages_[graph_.ops[i].slot].place;
      if (place == kNone || live_[place].there) continue;
      if (graph_.ops[i].kind == kReceived || !live_[place].eager) return i;
    }
    return self.at;
  }

  // The operations of a rank

  void at(double time, Events::What what, std::uint32_t subject) { events_.add(time, now_, what, subject); }

  void wake(std::uint32_t rank) { at(now_, Events::kResume, rank); }

  double computed(std::uint32_t rank, std::int64_t i) const {
    const float own = computation_.seconds == nullptr ? graph_.ops[i].computed : computation_.seconds[i];
    double seconds = own;
    if (computation_.rank_factor != nullptr) seconds *= computation_.rank_factor[rank];
    if (computation_.place_factor != nullptr) seconds *= computation_.place_factor[graph_.ops[i].place];
    return seconds;
  }

  // Runs operations until the rank is busy or waits.
  void advance(std::uint32_t rank) {
    Rank& self = ranks_[rank];
    const std::int64_t end = graph_.first[rank + 1];
    __builtin_prefetch(graph_.ops + self.at + kAhead);
    while (self.at < end) {
      const std::int64_t i = self.at;
      if (self.stage == kBegin) {
        self.stage = kComputed;
        const double seconds = computed(rank, i);
        if (seconds > 0) {
          at(now_ + seconds, Events::kResume, rank);
          return;
        }
      }
      if (!step(rank, self, i, end)) return;
      self.stage = kBegin;
    }
    if (self.stage == kBegin) {
      self.stage = kTail;
      double tail = graph_.tail[rank];
      if (computation_.rank_factor != nullptr) tail *= computation_.rank_factor[rank];
      if (tail > 0) {
        at(now_ + tail, Events::kResume, rank);
        return;
      }
    }
    self.stage = kEnded;
    self.free = now_;
  }

  // Whether the operation is complete.
  bool step(std::uint32_t rank, Rank& self, std::int64_t i, std::int64_t end) {
    const Op& op = graph_.ops[i];
    switch (op.kind) {
      case kSend:
        if (!hand_over(rank, self, op)) return false;
        break;
      case kReceive: {
        const std::uint32_t message = live(op.slot);
        live_[message].awaited = true;
        depart(message);
        used(op.slot);
        break;
      }
      case kReceived:
      case kSent: return wait(rank, self, i, end);
      case kEnter: enter(op); break;
      case kLeave:
        if (!leave(rank, self, op)) return false;
        break;
      default: break;
    }
    ++self.at;
    return true;
  }

  // A send that returns before the message has arrived pays its overhead first, then the gap.
  bool hand_over(std::uint32_t rank, Rank& self, const Op& op) {
    const std::uint32_t message = live(op.slot);
    Live& sent = live_[message];
    const Cost& cost = costs_[op.cost];
    if (self.stage == kComputed) {
      sent.cost = op.cost;
      __builtin_prefetch(graph_.messages + op.slot);
      if (network_.links > 0) __builtin_prefetch(network_.route + op.slot);
      sent.eager = leaves_at_once(cost.eager != 0, op.flags);
      if (!sent.eager && messages_[op.slot].late) {
        send(message);
        used(op.slot);
        return true;
      }
      const double called = free(rank) + cost.overhead;
      double start = called;
      if (sent.eager || self.sent_until > now_) start = std::max(start, self.free);
      self.free = start + cost.gap;
      self.sent_until = sent.until = start + cost.latency + cost.transfer;
      sent.paid = true;
      if (cost.gap_holds == 0 && start > called) {
        sent.departs = true;
        at(start, Events::kDepart, message);
        self.stage = kDone;
        if (called > now_) {
          at(called, Events::kResume, rank);
          return false;
        }
      } else {
        self.stage = kBusy;
        if (start > now_) {
          at(start, Events::kResume, rank);
          return false;
        }
      }
    }
    if (self.stage == kBusy) {
      send(message);
      self.stage = kDone;
      wake(rank);  // ranks that send at the same moment take turns
      return false;
    }
    used(op.slot);
    return true;
  }

  // Ends a wait for more than one message. The rank pays its overhead for small ones in the order of arrival.
  bool wait(std::uint32_t rank, Rank& self, std::int64_t first, std::int64_t end) {
    if (self.stage == kComputed) {
      self.last = first;
      self.awaited = 0;
      double more = 0;
      do {
        if (self.last > first) more += computed(rank, self.last);
        expect(self, first, self.last);
        ++self.last;
      } while (continues(graph_.ops, self.last, end));
      std::make_heap(self.arrived.begin(), self.arrived.end(), arrives_later);
      self.stage = kBusy;
      if (more > 0) {
        at(now_ + more, Events::kResume, rank);
        return false;
      }
    }
    while (self.awaited > 0) {
      if (self.arrived.empty()) {
        self.waits = true;
        return false;
      }
      std::pop_heap(self.arrived.begin(), self.arrived.end(), arrives_later);
      const Op& op = graph_.ops[first + self.arrived.back().place];
      self.arrived.pop_back();
      --self.awaited;
      const Live& message = live_[messages_[op.slot].place];
      if (op.kind != kReceived || !message.eager) continue;
      const double busy = receive_s(rank, self, op, message);
      if (busy > 0) {
        at(now_ + busy, Events::kResume, rank);
        return false;
      }
    }
    for (std::int64_t i = first; i < self.last; ++i) used(graph_.ops[i].slot);
    self.at = self.last;
    return true;
  }

  void expect(Rank& self, std::int64_t first, std::int64_t i) {
    const Op& op = graph_.ops[i];
    Live& message = live_[live(op.slot)];
    if (op.kind == kSent && message.eager) return;
    ++self.awaited;
    const auto place = static_cast<std::uint32_t>(i - first);
    if (message.there)
      self.arrived.push_back({message.arrived, place});
    else
      (op.kind == kSent ? message.sender_waits : message.receiver_waits) = place;
  }

  static bool arrives_later(const Item& a, const Item& b) {
    return a.arrived > b.arrived || (a.arrived == b.arrived && a.place > b.place);
  }

  double receive_s(std::uint32_t rank, const Rank& self, const Op& op, const Live& message) {
    const Cost& cost = costs_[op.cost];
    double busy = free(rank) - now_ + cost.receive;
    if (cost.exchange > 0) {
      const double one_way =
          cost.overhead + cost.latency + cost.transfer + cost.receive + work_s(graph_.messages[op.slot].size);
      if (self.sent_until > now_ - one_way / 2 && message.until > now_ - one_way) busy += cost.exchange;
    }
    return busy;
  }

  void enter(const Op& op) {
    GroupState& group = groups_[op.slot];
    const bool root = (op.flags & kAtRoot) != 0;
    LiveGroup& times = live_group(group);
    times.last = now_;
    if (root) times.root = now_;
    --group.to_enter;
    group.root = group.root || root;
    if (group.to_enter == 0 || (root && (op.flags & kRootedFrom) != 0)) {
      woken_.clear();
      for (std::uint32_t rank = group.waiting; rank != kNone; rank = ranks_[rank].next)
        woken_.push_back(rank);
      group.waiting = kNone;
      std::sort(woken_.begin(), woken_.end());
      for (const std::uint32_t rank : woken_) wake(rank);
    }
    left(group);
  }

  bool leave(std::uint32_t rank, Rank& self, const Op& op) {
    GroupState& group = groups_[op.slot];
    const Cost& cost = costs_[op.cost];
    if (self.stage == kComputed) {
      if (!all_there(group, op.flags)) {
        self.next = group.waiting;
        group.waiting = rank;
        return false;
      }
      const bool root = (op.flags & kAtRoot) != 0;
      const bool from = (op.flags & kRootedFrom) != 0;
      self.stage = kBusy;
      const LiveGroup& times = live_group(group);
      const bool alone = (from && root) || ((op.flags & kRootedTo) != 0 && !root);
      const double over =
          alone ? now_ + cost.overhead : (from ? times.root : times.last) + cost.latency + cost.transfer;
      if (over > now_) {
        at(over, Events::kResume, rank);
        return false;
      }
    }
    left(group);
    return true;
  }

  LiveGroup& live_group(GroupState& group) {
    if (group.place == kNone) {
      group.place = group_numbers_.take();
      if (group.place == live_groups_.size()) live_groups_.emplace_back();
      live_groups_[group.place] = {now_, now_};
    }
    return live_groups_[group.place];
  }

  void left(GroupState& group) {
    if (--group.left == 0) group_numbers_.give(group.place);
  }

  // The route of a message

  std::uint32_t live(std::uint32_t slot) {
    MessageState& state = messages_[slot];
    if (state.place != kNone) return state.place;
    state.place = message_numbers_.take();
    if (state.place == live_.size()) live_.emplace_back();
    live_[state.place] = {0, 0, slot, 0, kNone, kNone, false, false, false, false, false, false, false};
    return state.place;
  }

  // Ends one operation of the message, which may still be in flight when all of them have ended.
  void used(std::uint32_t slot) {
    MessageState& state = messages_[slot];
    const Live& message = live_[state.place];
    if (--state.left == 0 && !message.departs && (message.there || !message.under_way)) forget(state);
  }

  void forget(MessageState& state) {
    message_numbers_.give(state.place);
    state.place = kNone;
  }

  void send(std::uint32_t message) {
    live_[message].departs = false;
    live_[message].sent = true;
    depart(message);
  }

  // A large message departs when both sides are ready, a small one when it is sent.
  void depart(std::uint32_t message) {
    Live& self = live_[message];
    if (self.under_way || !self.sent || !(self.eager || self.awaited)) return;
    self.under_way = true;
    const double time = way_s(self);
    if (network_.links == 0 || route(self).empty()) {
      at(now_ + time, Events::kArrive, message);
      return;
    }
    const double latency = std::max(time - bytes(self) / network_.slowest, kMinLatency);
    at(now_ + latency, Events::kEnterLinks, message);
  }

  double bytes(const Live& self) const {
    return static_cast<double>(graph_.messages[self.slot].size) + kEnvelope;
  }

  std::span<const std::uint32_t> route(const Live& self) const {
    const std::uint32_t row = network_.route[self.slot];
    const std::int64_t first = network_.route_first[row];
    return {network_.route_links + first, static_cast<std::size_t>(network_.route_first[row + 1] - first)};
  }

  // Seconds from departure to arrival without contention on links.
  double way_s(const Live& self) {
    const Cost& cost = costs_[self.cost];
    const Message& message = graph_.messages[self.slot];
    const std::uint32_t source = network_.node[message.source], target = network_.node[message.target];
    const auto size = static_cast<double>(message.size);
    double time = cost.latency + cost.transfer;
    if (!self.eager) {
      const double flight = time;
      time += cost.receive;
      if (!self.paid) time += cost.overhead;
      if (sending_until_[target] > now_ + flight / 2) time += cost.exchange;
      sending_until_[source] = std::max(sending_until_[source], now_ + flight);
    }
    if (source == target) return time;
    if (network_.medium > 0 || network_.medium_per_byte > 0) {
      medium_free_ = std::max(now_, medium_free_) + network_.medium + network_.medium_per_byte * size;
      time += medium_free_ - now_;
    }
    if (!processors_.empty()) {
      const double work = work_s(message.size);
      processors_[source].add(now_, work);
      processors_[target].add(now_ + time, work);
      time += work;
    }
    return time;
  }

  double work_s(std::uint64_t bytes) const {
    const auto size = static_cast<double>(bytes);
    std::int64_t row = network_.works - 1;
    if (row < 0) return 0;
    while (row > 0 && network_.work_first[row] > size) --row;
    return network_.work[2 * row] + network_.work[2 * row + 1] * size;
  }

  // When the processor of the node has finished its work for messages.
  double free(std::uint32_t rank) {
    return processors_.empty() ? now_ : processors_[network_.node[rank]].free(now_);
  }

  void enter_links(std::uint32_t message) {
    const Live& self = live_[message];
    links_.add(message, route(self), bytes(self), now_);
  }

  void arrive(std::uint32_t number) {
    Live& self = live_[number];
    self.there = true;
    self.arrived = now_;
    const Message& message = graph_.messages[self.slot];
    const bool upwards = message.source < message.target;
    if (self.sender_waits != kNone && upwards) taken(message.source, self.sender_waits);
    if (self.receiver_waits != kNone) taken(message.target, self.receiver_waits);
    if (self.sender_waits != kNone && !upwards) taken(message.source, self.sender_waits);
    if (messages_[self.slot].left == 0) forget(messages_[self.slot]);
  }

  void taken(std::uint32_t rank, std::uint32_t place) {
    Rank& self = ranks_[rank];
    self.arrived.push_back({now_, place});
    std::push_heap(self.arrived.begin(), self.arrived.end(), arrives_later);
    if (!self.waits) return;
    self.waits = false;
    wake(rank);
  }

  const Graph& graph_;
  const Network& network_;
  const Cost* costs_;
  std::int64_t rows_;
  Computation computation_;
  Links links_;
  Events events_;
  double now_ = 0, medium_free_ = 0;
  std::vector<Rank> ranks_;
  std::vector<MessageState> messages_;
  std::vector<GroupState> groups_;
  std::vector<Live> live_;
  std::vector<LiveGroup> live_groups_;
  Numbers message_numbers_, group_numbers_;
  std::vector<double> sending_until_;  // of each node
  std::vector<ProcessorWork> processors_;
  std::vector<std::uint32_t> woken_;
};

}  // namespace
}  // namespace hockney::replay

extern "C" {

// Computes the end time of each rank on a machine whose messages share the links, medium and processors of
// `network`. After a deadlock, `stuck` has the same contents as after hockney_replay_order.
void hockney_replay_network(const hockney::replay::Graph* graph, const hockney::replay::Network* network,
                            const hockney::replay::Cost* costs, std::int64_t rows,
                            const hockney::replay::Computation* computation, double* ends,
                            std::int64_t* stuck, hockney::replay::Failure* failure) {
  *failure = hockney::replay::Simulation(*graph, *network, costs, rows, *computation).take(ends, stuck);
}
}
