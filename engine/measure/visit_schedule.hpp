// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hockney {

// Which case of a launch is visited next. A machine may change its speed every few seconds. Visiting every
// case many times during a launch, in random order, exposes all cases to the same mixture of speeds.
//
// Every case advances toward its share of the time, or its maximum number of visits, whichever comes first;
// the next case is one of those that have advanced least. No side effects: rank 0 decides with it, and
// reports how long visits took.
class VisitSchedule {
 public:
  // `share_s`: the time per case; the maximum visits and repetitions; the seed of the order.
  VisitSchedule(double share_s, int most_visits, int most_repetitions, std::uint64_t seed)
      : share_s_(share_s), most_visits_(most_visits), most_repetitions_(most_repetitions), seed_(seed) {}

  // Adds a case after its first visit. Cases are numbered from 0, in the order added.
  void add(double seconds, int repetitions, double repetition_s);
  // A case that failed gets no more visits.
  void drop(int index) { cases_[static_cast<std::size_t>(index)].ended = true; }
  // Records a visit that took `seconds`. A `preempted` one is repeated if there is time. `precise`: the case
  // needs no more.
  void visited(int index, double seconds, int repetitions, double repetition_s, bool preempted, bool precise);

  // The next case, with `left_s` until the launch's time is up; none if no visit fits. A case that has fewer
  // repetitions than required, each within its share, is completed even then.
  std::optional<int> next(double left_s, int fewest_repetitions);

  // The time one visit may take: the share divided by the visits, limited to some milliseconds, since a
  // longer visit would see the same conditions, but long enough that its fixed overhead does not use up the
  // time.
  double slice_s() const;
  int repetitions_in_a_visit() const;
  int repetitions_left(int index) const;
  // Why the case gets no more visits; null: the time is up.
  const char* reason(int index) const;

 private:
  struct Progress {
    double spent_s = 0;
    double last_visit_s = 0;
    double repetition_s = 0;
    int visits = 0;  // without preempted ones, and their repetitions
    int repetitions = 0;
    int all_repetitions = 0;  // including preempted visits
    bool precise = false;
    bool ended = false;  // failed
  };
  bool complete(const Progress& progress) const;
  double advanced(const Progress& progress) const;

  double share_s_;
  int most_visits_;
  int most_repetitions_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  std::vector<Progress> cases_;
};

}  // namespace hockney
