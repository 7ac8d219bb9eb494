// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.hpp"

namespace hockney {

class Workload;

// How the ranks' values become one; `each` keeps one value per rank.
enum class OverRanks { max, min, mean, sum, root, each };
enum class Per { record, repetition };

// A quantity that a workload reports besides its time, as the catalog shows it. A phase is a part of the
// operation's time, in seconds per operation.
struct Metric {
  const char* name = "";
  const char* unit = "";
  OverRanks over_ranks = OverRanks::max;
  Per per = Per::record;
  bool phase = false;
  const char* help = "";
};

const char* name_of(OverRanks over_ranks);
const char* name_of(Per per);

// A workload that does not report what its descriptor declares: an error of the engine, not of the case.
// Thrown alike on every rank.
struct BrokenWorkload : std::logic_error {
  using std::logic_error::logic_error;
};

// One rank's values of the metrics of one kind, while its workload reports them.
class MetricValues {
 public:
  // Of `declared` those per record, or those per repetition.
  MetricValues(std::span<const Metric> declared, Per per);

  // A metric that is not declared, or a value that is not finite, is remembered as the problem.
  void set(std::string_view name, double value);
  // A word that belongs to the record, such as the clock that a value was taken with. Rank 0's counts.
  void label(std::string_view name, std::string_view word);

  // Forget the values, not the problem.
  void clear();
  // The first thing that is wrong with what was reported, a missing value among them; empty if nothing is.
  std::string problem() const;

  std::span<const Metric* const> metrics() const { return metrics_; }
  // In the order of metrics().
  std::span<const double> values() const { return values_; }
  const std::map<std::string, std::string>& labels() const { return labels_; }

 private:
  std::vector<const Metric*> metrics_;
  std::vector<double> values_;
  std::map<std::string, std::string> labels_;
  std::string problem_;
};

// A metric's values over a record. On rank 0: one where it is per record and combined, one for each
// repetition where it is per repetition; of `each`, the ranks vary fastest.
struct MetricSeries {
  const Metric* metric;
  std::vector<double> values;
};

// Collective: the values per record. Throws BrokenWorkload.
struct Report {
  std::vector<MetricSeries> metrics;
  std::map<std::string, std::string> labels;
};
Report record_report(Workload& workload, std::span<const Metric> declared, const Comm& control);

// Collects the metrics per repetition. Sampling touches this rank's memory only; the ranks' values are
// combined after a chunk of repetitions. All of it does nothing where no metric is per repetition.
class MetricSamples {
 public:
  MetricSamples(std::span<const Metric> declared, const Comm& control);

  bool empty() const { return current_.metrics().empty(); }

  // Outside the timed region, before the chunk: drops what the
  // workload has accumulated since the last sample.
  void start(Workload& workload, int count);
  // Outside the timed region, after each repetition of `operations` operations.
  void take(Workload& workload, double operations);
  // Collective: after the chunk, of which rank 0 keeps the repetitions that `keep` is true for. Throws
  // BrokenWorkload.
  void finish(const std::vector<bool>& keep);

  // On rank 0: everything kept so far.
  std::vector<MetricSeries>& series() { return series_; }

 private:
  const Comm& control_;
  MetricValues current_;
  std::vector<std::vector<double>> chunk_;  // for each metric this rank's values of the chunk's repetitions
  std::string problem_;
  std::vector<MetricSeries> series_;
};

}  // namespace hockney
