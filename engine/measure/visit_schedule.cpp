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
// The next case is drawn from all cases within this many visits of the least advanced one.
constexpr double selection_range = 0.75;
// If all visits are preempted, a case gets at most this many times its repetitions.
constexpr int preempted_factor = 2;

}  // namespace

void VisitSchedule::add(double seconds, int repetitions, double repetition_s) {
  cases_.push_back({seconds, seconds, repetition_s, 1, repetitions, repetitions});
}

void VisitSchedule::record_visit(int index, double seconds, int repetitions, double repetition_s,
                                 bool preempted, bool precise) {
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
  return progress.failed || progress.precise || progress.visits >= max_visits_ ||
         progress.repetitions >= max_repetitions_ ||
         progress.all_repetitions >= preempted_factor * max_repetitions_;
}

double VisitSchedule::advancement(const Progress& progress) const {
  return std::max(progress.spent_s / share_s_, static_cast<double>(progress.visits) / max_visits_);
}

std::optional<int> VisitSchedule::next(double remaining_s, int min_repetitions) {
  double min_advancement = std::numeric_limits<double>::infinity();
  for (const Progress& progress : cases_)
    if (!complete(progress) && progress.last_visit_s <= remaining_s)
      min_advancement = std::min(min_advancement, advancement(progress));
  std::vector<int> draw_share;
  for (std::size_t i = 0; i < cases_.size(); ++i)
    if (!complete(cases_[i]) && cases_[i].last_visit_s <= remaining_s &&
        advancement(cases_[i]) <= min_advancement + selection_range / max_visits_)
      draw_share.push_back(static_cast<int>(i));
  if (draw_share.empty())
    for (std::size_t i = 0; i < cases_.size(); ++i)
      if (!complete(cases_[i]) && cases_[i].all_repetitions < min_repetitions &&
          cases_[i].repetition_s < share_s_ && cases_[i].visits < min_repetitions)
        draw_share.push_back(static_cast<int>(i));
  if (draw_share.empty()) return std::nullopt;
  const auto place =
      static_cast<std::size_t>(uniform(seed_, draws_++) * static_cast<double>(draw_share.size()));
  return draw_share[place];
}

double VisitSchedule::slice_s() const {
  return std::clamp(share_s_ / max_visits_, shortest_slice_s, longest_slice_s);
}

int VisitSchedule::repetitions_per_visit() const {
  return std::max(1, (max_repetitions_ + max_visits_ - 1) / max_visits_);
}

int VisitSchedule::remaining_repetitions(int index) const {
  const Progress& progress = cases_[static_cast<std::size_t>(index)];
  return std::max(1, preempted_factor * max_repetitions_ - progress.all_repetitions);
}

const char* VisitSchedule::reason(int index) const {
  const Progress& progress = cases_[static_cast<std::size_t>(index)];
  if (progress.precise) return "precision";
  return complete(progress) && !progress.failed ? "repetitions" : "budget";
}

}  // namespace hockney
