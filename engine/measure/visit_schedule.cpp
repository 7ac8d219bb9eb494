// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/visit_schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/random.hpp"

namespace hockney {
namespace {

constexpr double longest_slice_s = 5e-3;
constexpr double shortest_slice_s = 0.5e-3;
// Draws from the cases within this many visits of the one that has advanced least.
constexpr double together = 0.75;
// If all visits are preempted, a case gets this many times its repetitions.
constexpr int preempted_factor = 2;

}  // namespace

void VisitSchedule::add(double seconds, int repetitions, double repetition_s) {
  cases_.push_back({seconds, seconds, repetition_s, 1, repetitions, repetitions});
}

void VisitSchedule::visited(int index, double seconds, int repetitions, double repetition_s, bool preempted,
                            bool precise) {
  Progress& progress = cases_[static_cast<std::size_t>(index)];
  progress.spent_s += seconds;
  progress.last_visit_s = seconds;
  progress.repetition_s = repetition_s;
  progress.all_repetitions += repetitions;
  if (!preempted) {
    ++progress.visits;
    progress.repetitions += repetitions;
  }
  progress.precise = precise;
}

bool VisitSchedule::complete(const Progress& progress) const {
  return progress.ended || progress.precise || progress.visits >= most_visits_ ||
         progress.repetitions >= most_repetitions_ ||
         progress.all_repetitions >= preempted_factor * most_repetitions_;
}

double VisitSchedule::advanced(const Progress& progress) const {
  return std::max(progress.spent_s / share_s_, static_cast<double>(progress.visits) / most_visits_);
}

std::optional<int> VisitSchedule::next(double left_s, int fewest_repetitions) {
  double least = std::numeric_limits<double>::infinity();
  for (const Progress& progress : cases_)
    if (!complete(progress) && progress.last_visit_s <= left_s) least = std::min(least, advanced(progress));
  std::vector<int> drawn;
  for (std::size_t i = 0; i < cases_.size(); ++i)
    if (!complete(cases_[i]) && cases_[i].last_visit_s <= left_s &&
        advanced(cases_[i]) <= least + together / most_visits_)
      drawn.push_back(static_cast<int>(i));
  if (drawn.empty())
    for (std::size_t i = 0; i < cases_.size(); ++i)
      if (!complete(cases_[i]) && cases_[i].all_repetitions < fewest_repetitions &&
          cases_[i].repetition_s < share_s_ && cases_[i].visits < fewest_repetitions)
        drawn.push_back(static_cast<int>(i));
  if (drawn.empty()) return std::nullopt;
  const auto place = static_cast<std::size_t>(uniform(seed_, draws_++) * static_cast<double>(drawn.size()));
  return drawn[place];
}

double VisitSchedule::slice_s() const {
  return std::clamp(share_s_ / most_visits_, shortest_slice_s, longest_slice_s);
}

int VisitSchedule::repetitions_in_a_visit() const {
  return std::max(1, (most_repetitions_ + most_visits_ - 1) / most_visits_);
}

int VisitSchedule::repetitions_left(int index) const {
  const Progress& progress = cases_[static_cast<std::size_t>(index)];
  return std::max(1, preempted_factor * most_repetitions_ - progress.all_repetitions);
}

const char* VisitSchedule::reason(int index) const {
  const Progress& progress = cases_[static_cast<std::size_t>(index)];
  if (progress.precise) return "precision";
  return complete(progress) && !progress.ended ? "repetitions" : "budget";
}

}  // namespace hockney
