// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/expect.hpp"
#include "measure/workload.hpp"

namespace hockney {
namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

// Combines `values` over the ranks, in place. With `each` and `slowest`, the result on rank 0 contains the
// values of all ranks.
void combine(OverRanks over_ranks, std::vector<double>& values, const Comm& control) {
  const auto count = static_cast<int>(values.size());
  switch (over_ranks) {
    case OverRanks::root: break;
    case OverRanks::max: control.reduce_max(values.data(), count); break;
    case OverRanks::min: control.reduce_min(values.data(), count); break;
    case OverRanks::sum: control.reduce_sum(values.data(), count); break;
    case OverRanks::mean:
      control.reduce_sum(values.data(), count);
      for (double& value : values) value /= control.size;
      break;
    case OverRanks::each:
    case OverRanks::slowest: values = control.gather(values); break;
  }
}

// All ranks throw together, with the lowest rank's problem.
void throw_problems(const std::string& problem, const Comm& control) {
  if (control.all(problem.empty())) return;
  const int reporter = control.reduce_min(problem.empty() ? control.size : control.rank);
  throw BrokenWorkload(control.allgather_text(control.rank == reporter ? problem : ""));
}

}  // namespace

const char* name_of(OverRanks over_ranks) {
  switch (over_ranks) {
    case OverRanks::max: return "max";
    case OverRanks::min: return "min";
    case OverRanks::mean: return "mean";
    case OverRanks::sum: return "sum";
    case OverRanks::root: return "root";
    case OverRanks::each: return "each";
    case OverRanks::slowest: return "slowest";
  }
  return "max";
}

const char* name_of(Per per) {
  switch (per) {
    case Per::record: return "record";
    case Per::repetition: return "repetition";
    case Per::superstep: return "superstep";
    case Per::event: return "event";
  }
  return "record";
}

MetricValues::MetricValues(std::span<const Metric> declared, bool per_repetition) {
  for (const Metric& metric : declared)
    if ((metric.per == Per::repetition || metric.per == Per::event) == per_repetition)
      metrics_.push_back(&metric);
  clear();
}

void MetricValues::clear() {
  values_.resize(metrics_.size());
  for (std::vector<double>& values : values_) values.assign(1, missing_value);
}

void MetricValues::set(std::string_view name, double value) {
  set_each(name, std::span(&value, 1));
}

void MetricValues::set_each(std::string_view name, std::span<const double> values) {
  const auto at = std::find_if(metrics_.begin(), metrics_.end(),
                               [name](const Metric* metric) { return name == metric->name; });
  if (at == metrics_.end()) {
    if (problem_.empty()) problem_ = "metric '" + std::string(name) + "' is reported but not declared here";
    return;
  }
  const bool is_finite =
      std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  if (!is_finite && problem_.empty()) problem_ = "metric '" + std::string(name) + "' is not a finite number";
  if (values.size() != 1 && (*at)->per != Per::superstep && (*at)->per != Per::event && problem_.empty())
    problem_ = "metric '" + std::string(name) + "' has several values, but is not per superstep or event";
  values_[static_cast<std::size_t>(at - metrics_.begin())].assign(values.begin(), values.end());
}

void MetricValues::label(std::string_view name, std::string_view text) {
  labels_.insert_or_assign(std::string(name), std::string(text));
}

std::string MetricValues::problem() const {
  if (!problem_.empty()) return problem_;
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    if (!values_[i].empty() && std::isnan(values_[i].front()))
      return "metric '" + std::string(metrics_[i]->name) + "' is declared but not reported";
  return "";
}

Report record_report(Workload& workload, std::span<const Metric> declared, const Comm& control) {
  Report report;
  if (declared.empty()) return report;
  MetricValues values(declared, false);
  workload.report(values);
  throw_problems(values.problem(), control);
  for (std::size_t i = 0; i < values.metrics().size(); ++i) {
    MetricSeries series{values.metrics()[i], values.values()[i]};
    combine(series.metric->over_ranks, series.values, control);
    report.metrics.push_back(std::move(series));
  }
  report.labels = values.labels();
  return report;
}

MetricSamples::MetricSamples(std::span<const Metric> declared, const Comm& control)
    : control_(control),
      current_(declared, true),
      chunk_(current_.metrics().size()),
      counts_(current_.metrics().size()) {
  for (const Metric* metric : current_.metrics()) series_.push_back({metric, {}});
}

void MetricSamples::start(Workload& workload, int count) {
  if (empty()) return;
  current_.clear();
  workload.sample(current_);
  for (std::vector<double>& values : chunk_) {
    values.clear();
    values.reserve(static_cast<std::size_t>(count));
  }
  for (std::vector<double>& counts : counts_) counts.clear();
}

void MetricSamples::take(Workload& workload, double operations) {
  if (empty()) return;
  current_.clear();
  workload.sample(current_);
  for (std::size_t i = 0; i < chunk_.size(); ++i) {
    const std::vector<double>& values = current_.values()[i];
    if (current_.metrics()[i]->per == Per::event) {
      chunk_[i].insert(chunk_[i].end(), values.begin(), values.end());
      counts_[i].push_back(static_cast<double>(values.size()));
    } else {
      chunk_[i].push_back(values.front() / (current_.metrics()[i]->phase ? operations : 1.0));
    }
  }
  if (problem_.empty()) problem_ = current_.problem();
}

void MetricSamples::finish(const std::vector<bool>& keep) {
  if (empty()) return;
  throw_problems(problem_, control_);
  const std::vector<std::size_t> slowest_ranks = slowest();
  for (std::size_t i = 0; i < chunk_.size(); ++i) {
    if (series_[i].metric->per == Per::event) {
      finish_events(i, keep);
      continue;
    }
    HOCKNEY_EXPECT(chunk_[i].size() == keep.size());
    const OverRanks over_ranks = series_[i].metric->over_ranks;
    combine(over_ranks, chunk_[i], control_);
    if (!control_.root()) continue;
    // Gathered values are ordered by rank; a record orders them by repetition.
    const std::size_t ranks = over_ranks == OverRanks::each ? static_cast<std::size_t>(control_.size) : 1;
    for (std::size_t repetition = 0; repetition < keep.size(); ++repetition) {
      const std::size_t first = over_ranks == OverRanks::slowest ? slowest_ranks[repetition] : 0;
      for (std::size_t rank = first; keep[repetition] && rank < first + ranks; ++rank)
        series_[i].values.push_back(chunk_[i][rank * keep.size() + repetition]);
    }
  }
}

// Ranks have different numbers of events: all send as many values as the rank with the most.
void MetricSamples::finish_events(std::size_t index, const std::vector<bool>& keep) {
  HOCKNEY_EXPECT(counts_[index].size() == keep.size());
  double longest = control_.reduce_max(static_cast<double>(chunk_[index].size()));
  control_.broadcast(longest);
  const auto width = static_cast<std::size_t>(longest);
  chunk_[index].resize(width);
  const std::vector<double> counts = control_.gather(counts_[index]);
  const std::vector<double> values = control_.gather(chunk_[index]);
  if (!control_.root()) return;
  const auto ranks = static_cast<std::size_t>(control_.size);
  std::vector<std::size_t> next(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) next[rank] = rank * width;
  for (std::size_t repetition = 0; repetition < keep.size(); ++repetition)
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const double count = counts[rank * keep.size() + repetition];
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(next[rank]);
      next[rank] += static_cast<std::size_t>(count);
      if (!keep[repetition]) continue;
      series_[index].values.insert(series_[index].values.end(), begin,
                                   begin + static_cast<std::ptrdiff_t>(count));
      series_[index].counts.push_back(count);
    }
}

std::vector<std::size_t> MetricSamples::slowest() const {
  const auto count_of = [this](std::size_t i) {
    return series_[i].metric->per == Per::event ? counts_[i].size() : chunk_[i].size();
  };
  const std::size_t count = count_of(0);
  std::vector<std::size_t> slowest(count, 0);
  const bool has_slowest = std::any_of(series_.begin(), series_.end(), [](const MetricSeries& series) {
    return series.metric->over_ranks == OverRanks::slowest;
  });
  if (!has_slowest) return slowest;
  std::vector<double> sums(count, 0.0);
  for (std::size_t i = 0; i < chunk_.size(); ++i)
    for (std::size_t at = 0; series_[i].metric->phase && at < count; ++at) sums[at] += chunk_[i][at];
  const std::vector<double> all = control_.gather(sums);
  if (!control_.root()) return slowest;
  for (std::size_t at = 0; at < count; ++at)
    for (std::size_t rank = 1; rank < static_cast<std::size_t>(control_.size); ++rank)
      if (all[rank * count + at] > all[slowest[at] * count + at]) slowest[at] = rank;
  return slowest;
}

}  // namespace hockney
