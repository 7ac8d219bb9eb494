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
// Every case advances toward its share of the time, or its most visits, whichever comes first; next is one of
// those that have advanced least. Pure: rank 0 decides by it, and tells it how long visits took.
class VisitSchedule {
 public:
  // The time that a case has, `share_s`; visits and repetitions at most; what draws the order.
  VisitSchedule(double share_s, int most_visits, int most_repetitions, std::uint64_t seed)
      : share_s_(share_s), most_visits_(most_visits), most_repetitions_(most_repetitions), seed_(seed) {}

  // A case more, after its first visit. Cases have numbers from 0, in the order added.
  void add(double seconds, int repetitions, double repetition_s);
  // A case that broke off has no visits any more.
  void drop(int index) { cases_[static_cast<std::size_t>(index)].ended = true; }
  // After a visit that took `seconds`. One that was `disturbed` is repeated while there is time. `precise`:
  // the case needs no more.
  void visited(int index, double seconds, int repetitions, double repetition_s, bool disturbed, bool precise);

  // The case whose turn it is, with `left_s` until the launch's time is up; none where no visit fits any
  // more. A case that has fewer repetitions than it should, each within its share, is completed even then.
  std::optional<int> next(double left_s, int fewest_repetitions);

  // What one visit may take: the share over the visits, but some milliseconds at most, since more would see
  // the same, and at least so much that what a visit costs by itself does not use up the time.
  double slice_s() const;
  int repetitions_in_a_visit() const;
  int repetitions_left(int index) const;
  // Why the case has no more visits; null: the time is up.
  const char* reason(int index) const;

 private:
  struct Progress {
    double spent_s = 0;
    double last_visit_s = 0;
    double repetition_s = 0;
    int visits = 0;  // undisturbed, and their
    int repetitions = 0;
    int all_repetitions = 0;  // of disturbed visits too
    bool precise = false;
    bool ended = false;  // broke off
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
