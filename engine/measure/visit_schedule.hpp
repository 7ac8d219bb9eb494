// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hockney {

// Selects the case of a launch that is visited next. A machine may change its speed every few seconds.
// Visiting every case many times during a launch, in random order, exposes all cases to the same mixture of
// speeds.
// Every case advances towards its share of the time or its maximum number of visits, whichever comes first;
// the next case is one of those that have advanced least. This class has no side effects: rank 0 uses it to
// decide, and reports the duration of each visit.
class VisitSchedule {
 public:
  // `share_s`: time per case; `seed` determines the order.
  VisitSchedule(double share_s, int max_visits, int max_repetitions, std::uint64_t seed)
      : share_s_(share_s), max_visits_(max_visits), max_repetitions_(max_repetitions), seed_(seed) {}

  // Adds a case after its first visit. Cases are numbered from 0, in the order added.
  void add(double seconds, int repetitions, double repetition_s);
  // Excludes a case that failed from further visits.
  void drop(int index) { cases_[static_cast<std::size_t>(index)].failed = true; }
  // Records a visit that took `seconds`. A `preemptions` visit is repeated if there is time. `precise`: the
  // case needs no more visits.
  void record_visit(int index, double seconds, int repetitions, double repetition_s, bool preempted,
                    bool precise);

  // The next case, or nothing if no visit fits into `remaining_s`, the launch's remaining time. A case with
  // fewer than `min_repetitions` repetitions, each within its share, is visited even then.
  std::optional<int> next(double remaining_s, int min_repetitions);

  // The time that one visit may take: the share divided by the number of visits. It is limited to some
  // milliseconds, since a longer visit would see the same conditions, but long enough to outweigh the visit's
  // fixed overhead.
  double slice_s() const;
  int repetitions_per_visit() const;
  int remaining_repetitions(int index) const;
  // The reason why the case gets no more visits; null if the time is up.
  const char* reason(int index) const;

 private:
  struct Progress {
    double spent_s = 0;
    double last_visit_s = 0;
    double repetition_s = 0;
    int visits = 0;  // excluding preempted ones, and their repetitions
    int repetitions = 0;
    int all_repetitions = 0;  // including preempted visits
    bool precise = false;
    bool failed = false;  // failed
  };
  bool complete(const Progress& progress) const;
  double advancement(const Progress& progress) const;

  double share_s_;
  int max_visits_;
  int max_repetitions_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  std::vector<Progress> cases_;
};

}  // namespace hockney
