// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "replay/graph.hpp"

// Evaluates a graph in a static order of its operations: the clock of each rank, message by message.
namespace hockney::replay {

// A time and its derivative with respect to a parameter of the costs. Of two equal times the one that grows
// faster is the later one.
struct Sloped {
  double seconds, slope;
};

inline double seconds(double time) {
  return time;
}
inline double seconds(Sloped time) {
  return time.seconds;
}
inline Sloped operator+(Sloped a, Sloped b) {
  return {a.seconds + b.seconds, a.slope + b.slope};
}
inline Sloped operator+(Sloped a, double b) {
  return {a.seconds + b, a.slope};
}
inline double later(double a, double b) {
  return a > b ? a : b;
}
inline Sloped later(Sloped a, Sloped b) {
  const bool second = b.seconds > a.seconds || (b.seconds == a.seconds && b.slope > a.slope);
  return second ? b : a;
}

template <class Time>
struct Row {
  Time overhead, flight, receive, gap, exchange;
  double one_way;
  bool eager, gap_holds, exchanges;
};

// The rows of a table of costs, to which `at` times `change` is added. `change` may be null if no slope is
// needed.
template <class Time>
std::vector<Row<Time>> rows_of(const Cost* costs, const Cost* change, double at, std::int64_t count) {
  std::vector<Row<Time>> rows(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const Cost& base = costs[i];
    const auto time = [&](double Cost::* part) -> Time {
      if constexpr (std::is_same_v<Time, double>)
        return base.*part;
      else
        return {base.*part + at * change[i].*part, change[i].*part};
    };
    Row<Time>& row = rows[static_cast<std::size_t>(i)];
    row.overhead = time(&Cost::overhead);
    row.flight = time(&Cost::latency) + time(&Cost::transfer);
    row.receive = time(&Cost::receive);
    row.gap = time(&Cost::gap);
    row.exchange = time(&Cost::exchange);
    row.one_way = seconds(row.overhead) + seconds(row.flight) + seconds(row.receive);
    row.eager = base.eager != 0;
    row.gap_holds = base.gap_holds != 0;
    row.exchanges = seconds(row.exchange) != 0;
  }
  return rows;
}

// Ignores all events of an evaluation. The members are those of `PathWatch`.
struct NoWatch {
  static constexpr bool kOn = false, kRecorded = false;
};

// Sets the clocks to the recorded beginnings of calls. `begins` contains that time for the first operation of
// each call, and NaN for all other operations. `unexplained` receives the difference from the evaluated time,
// for which the previous calls began as recorded.
struct RecordedWatch {
  static constexpr bool kOn = false, kRecorded = true;
  const double* begins;
  float* unexplained;

  double begun(std::int64_t i, double clock) const {
    if (std::isnan(begins[i])) return clock;
    unexplained[i] = static_cast<float>(begins[i] - clock);
    return begins[i];
  }
};

// Notes when each operation begins, after the computation before it. Further ends of one wait have no time.
struct BeginWatch {
  static constexpr bool kOn = false, kRecorded = true;
  double* begins;

  double begun(std::int64_t i, double clock) const {
    begins[i] = clock;
    return clock;
  }
};

template <class Time>
struct Arrival {
  Time time;
  std::int64_t op;
};

template <class Time, class Watch>
class Clocks {
 public:
  Clocks(const Graph& graph, const Order& order, const std::vector<Row<Time>>& rows,
         const Computation& computation, Watch& watch)
      : graph_(graph), order_(order), rows_(rows.data()), computation_(computation), watch_(watch) {
    const bool replaced = computation.seconds != nullptr;
    base_ = reinterpret_cast<const char*>(replaced ? computation.seconds : &graph.ops->computed);
    stride_ = replaced ? sizeof(float) : sizeof(Op);
  }

  // The end time of each rank.
  std::vector<Time> take() {
    ranks_.resize(static_cast<std::size_t>(graph_.ranks));
    for (std::int64_t rank = 0; rank < graph_.ranks; ++rank) {
      Rank& self = ranks_[static_cast<std::size_t>(rank)];
      self = {Time{}, Time{}, Time{}, graph_.first[rank], 1.0};
      self.way = self.way + -1e300;
      if (computation_.rank_factor != nullptr) self.factor = computation_.rank_factor[rank];
    }
    messages_.resize(order_.message_registers);
    groups_.resize(order_.group_registers);
    if (computation_.place_factor != nullptr)
      runs<true>();
    else
      runs<false>();
    std::vector<Time> ends(ranks_.size());
    for (std::size_t rank = 0; rank < ends.size(); ++rank)
      ends[rank] = ranks_[rank].clock + graph_.tail[rank] * ranks_[rank].factor;
    return ends;
  }

 private:
  struct Rank {
    Time clock, free, way;  // `way`: when its last message arrives
    std::int64_t at;
    double factor;
  };
  struct Pair {
    Time sent, posted;  // of an eager message `sent` is when it arrives
  };
  struct Group {
    Time last, root;
  };

  template <bool kPlaces>
  void runs() {
    constexpr std::size_t kAhead = 12;
    const Run* all = order_.runs.data();
    const std::size_t count = order_.runs.size();
    for (std::size_t number = 0; number < count; ++number) {
      if (number + kAhead < count) {
        const std::int64_t next = ranks_[all[number + kAhead].rank].at;
        const char* ops = reinterpret_cast<const char*>(graph_.ops + next);
        const std::int64_t lines =
            1 + static_cast<std::int64_t>(std::min(all[number + kAhead].count, 16u)) / 4;
        for (std::int64_t line = 0; line < lines; ++line) __builtin_prefetch(ops + 64 * line);
        __builtin_prefetch(order_.where.data() + next);
      }
      Rank& self = ranks_[all[number].rank];
      const std::int64_t end = self.at + all[number].count;
      part<kPlaces>(self, self.at, end, graph_.first[all[number].rank + 1]);
      self.at = end;
    }
  }

  template <bool kPlaces>
  double computed(const Rank& self, std::int64_t i) const {
    const auto* seconds = reinterpret_cast<const float*>(base_ + static_cast<std::size_t>(i) * stride_);
    const double scaled = static_cast<double>(*seconds) * self.factor;
    return kPlaces ? scaled * computation_.place_factor[graph_.ops[i].place] : scaled;
  }

  // Whether a message leaves at once, given an operation on it.
  static bool eager(std::uint32_t where, const Row<Time>& cost) {
    return (where & (kWaits | kLeaves)) == 0 ? cost.eager : (where & kLeaves) != 0;
  }

  template <bool kPlaces>
  void part(Rank& self, std::int64_t i, const std::int64_t end, const std::int64_t rank_end) {
    const Op* ops = graph_.ops;
    const std::uint32_t* where = order_.where.data();
    Time clock = self.clock;
    while (i < end) {
      const Op& op = ops[i];
      const std::uint32_t place = where[i];
      clock = clock + computed<kPlaces>(self, i);
      if constexpr (Watch::kRecorded) clock = watch_.begun(i, clock);
      switch (op.kind) {
        case kCompute: break;
        case kSend: {
          const Row<Time>& cost = rows_[op.cost];
          Pair& message = messages_[place & kRegister];
          const bool now = eager(place, cost);
          if (!now && (place & kLate) != 0) {
            message.sent = clock;
            if constexpr (Watch::kOn) watch_.sent(i, false);
            break;
          }
          const Time called = clock + cost.overhead;
          const Time start = later(called, self.free);
          if constexpr (Watch::kOn) watch_.sent(i, seconds(self.free) > seconds(called));
          clock = cost.gap_holds ? start : called;
          self.free = start + cost.gap;
          self.way = start + cost.flight;
          message.sent = now ? self.way : start;
          break;
        }
        case kReceive:
          messages_[place & kRegister].posted = clock;
          if constexpr (Watch::kOn) watch_.posted(i);
          break;
        case kEnter: {
          Group& group = groups_[place & kRegister];
          const bool first = (place & kFirst) != 0;
          if (first || seconds(clock) > seconds(group.last)) {
            if constexpr (Watch::kOn) watch_.entered(i, false);
          }
          group.last = first ? clock : later(group.last, clock);
          if (first || (op.flags & kAtRoot) != 0) {
            group.root = clock;
            if constexpr (Watch::kOn) watch_.entered(i, true);
          }
          break;
        }
        case kLeave: {
          const Row<Time>& cost = rows_[op.cost];
          const bool root = (op.flags & kAtRoot) != 0;
          if (((op.flags & kRootedFrom) != 0 && root) || ((op.flags & kRootedTo) != 0 && !root)) {
            clock = clock + cost.overhead;
            if constexpr (Watch::kOn) watch_.left(i, false, false, 0);
            break;
          }
          const Group& group = groups_[place & kRegister];
          const bool from_root = (op.flags & kRootedFrom) != 0;
          const Time begin = from_root ? group.root : group.last;
          const Time over = begin + cost.flight;
          if constexpr (Watch::kOn)
            watch_.left(i, seconds(over) > seconds(clock), from_root, seconds(begin) - seconds(clock));
          clock = later(clock, over);
          break;
        }
        default: {
          std::int64_t last = i + 1;
          for (; continues(ops, last, rank_end); ++last) clock = clock + computed<kPlaces>(self, last);
          clock = ended(self, clock, i, last);
          i = last;
          continue;
        }
      }
      ++i;
    }
    self.clock = clock;
  }

  // The clock after a wait for the ends [first, last). The receiver pays its overhead for small messages in
  // the order of their arrival.
  Time ended(const Rank& self, Time clock, std::int64_t first, std::int64_t last) {
    arrivals_.clear();
    Time over = clock;
    std::int64_t bound = -1;
    bool by_posted = false;
    double late = 0;
    for (std::int64_t i = first; i < last; ++i) {
      const Op& op = graph_.ops[i];
      const std::uint32_t place = order_.where[static_cast<std::size_t>(i)];
      const Row<Time>& cost = rows_[op.cost];
      const Pair& message = messages_[place & kRegister];
      if (eager(place, cost)) {
        if (op.kind == kReceived) arrivals_.push_back({message.sent, i});
        continue;
      }
      const Time begin = later(message.sent, message.posted);
      Time end = begin + cost.flight + cost.receive;
      if ((place & kLate) != 0) end = end + cost.overhead;
      if (cost.exchanges && op.kind == kReceived &&
          seconds(self.way) > seconds(begin) + seconds(cost.flight) / 2) {
        end = end + cost.exchange;
        if constexpr (Watch::kOn) watch_.exchanged(i);
      }
      if constexpr (Watch::kOn) {
        if (seconds(end) > seconds(over)) {
          bound = i;
          by_posted = seconds(message.posted) > seconds(message.sent);
          late = op.kind == kReceived ? seconds(message.sent) : seconds(message.posted);
        }
      }
      over = later(over, end);
    }
    sort();
    std::size_t from = 0;  // the first arrival after which the clock only counts overheads
    bool waited = false;
    for (std::size_t k = 0; k < arrivals_.size(); ++k) {
      const Arrival<Time>& arrival = arrivals_[k];
      const Row<Time>& cost = rows_[graph_.ops[arrival.op].cost];
      if constexpr (Watch::kOn) {
        if (seconds(arrival.time) > seconds(clock)) {
          from = k;
          waited = true;
          watch_.waited(arrival.op, seconds(arrival.time) - seconds(cost.flight) - seconds(clock));
        }
      }
      clock = later(clock, arrival.time);
      if (cost.exchanges && seconds(self.way) > seconds(clock) - cost.one_way / 2 &&
          seconds(arrival.time) > seconds(clock) - cost.one_way) {
        clock = clock + cost.exchange;
        if constexpr (Watch::kOn) watch_.exchanged(arrival.op);
      }
      clock = clock + cost.receive;
    }
    if constexpr (Watch::kOn) {
      if (bound >= 0 && seconds(over) > seconds(clock)) {
        watch_.waited(bound, late - seconds(clock));
        watch_.bound(bound, by_posted);
      } else {
        for (std::size_t k = from; k < arrivals_.size(); ++k) watch_.paid(arrivals_[k].op);
        if (waited) watch_.bound(arrivals_[from].op, false);
      }
    }
    return later(clock, over);
  }

  // Messages that arrive at the same time keep the order of the call.
  void sort() {
    constexpr std::size_t kFew = 16;
    const auto before = [](const Arrival<Time>& a, const Arrival<Time>& b) {
      return seconds(a.time) < seconds(b.time);
    };
    if (arrivals_.size() > kFew) {
      std::stable_sort(arrivals_.begin(), arrivals_.end(), before);
      return;
    }
    for (std::size_t i = 1; i < arrivals_.size(); ++i) {
      const Arrival<Time> arrival = arrivals_[i];
      std::size_t k = i;
      for (; k > 0 && before(arrival, arrivals_[k - 1]); --k) arrivals_[k] = arrivals_[k - 1];
      arrivals_[k] = arrival;
    }
  }

  const Graph& graph_;
  const Order& order_;
  const Row<Time>* rows_;
  Computation computation_;
  Watch& watch_;
  const char* base_ = nullptr;
  std::size_t stride_ = 0;
  std::vector<Rank> ranks_;
  std::vector<Pair> messages_;
  std::vector<Group> groups_;
  std::vector<Arrival<Time>> arrivals_;
};

}  // namespace hockney::replay
