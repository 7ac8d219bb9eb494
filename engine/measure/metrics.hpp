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

// How the ranks' values are combined into one; `each` keeps one value per rank. `slowest`, for metrics per
// repetition, is the value of the rank whose phases add up to the most: the phases of a repetition whose time
// is the longest over the ranks then add up to that time, and other values belong to the same rank.
enum class OverRanks { max, min, mean, sum, root, each, slowest };
// superstep: a value for each superstep of an operation, per record. event: any number of values in each
// repetition, of each rank.
enum class Per { record, repetition, superstep, event };

// A quantity that a workload reports besides its time, as listed in the catalog. A phase is a part of the
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

// Thrown on every rank if a workload does not report what its descriptor declares: an error of the engine,
// not of the case.
struct BrokenWorkload : std::logic_error {
  using std::logic_error::logic_error;
};

// One rank's values for metrics of one kind, as its workload reports them.
class MetricValues {
 public:
  // Selects the metrics in `declared` that are per repetition or event, or those that are not.
  MetricValues(std::span<const Metric> declared, bool per_repetition);

  // Sets a value. If the metric is not declared, or the value is not finite, that becomes the problem.
  void set(std::string_view name, double value);
  // Sets the values of a metric per superstep, of which all ranks must report the same number, or per
  // event.
  void set_each(std::string_view name, std::span<const double> values);
  // Sets a text that belongs to the record, such as the name of the clock used. Only rank 0's text is used.
  void label(std::string_view name, std::string_view text);

  // Clears the values, but keeps the problem.
  void clear();
  // The first problem with the reported values, including missing ones; empty if there is none.
  std::string problem() const;

  std::span<const Metric* const> metrics() const { return metrics_; }
  // The values of each metric, in the order of metrics().
  std::span<const std::vector<double>> values() const { return values_; }
  const std::map<std::string, std::string>& labels() const { return labels_; }

 private:
  std::vector<const Metric*> metrics_;
  std::vector<std::vector<double>> values_;
  std::map<std::string, std::string> labels_;
  std::string problem_;
};

// A metric's values over a record, on rank 0. A combined metric has one value if it is per record, otherwise
// one for each repetition or superstep. With `each`, the rank is the fastest-varying index. `counts` has the
// number of values per event of each repetition and rank, in the same order.
struct MetricSeries {
  const Metric* metric;
  std::vector<double> values;
  std::vector<double> counts = {};
};

// The values per record. Its constructor is collective, and throws BrokenWorkload.
struct Report {
  std::vector<MetricSeries> metrics;
  std::map<std::string, std::string> labels;
};
Report record_report(Workload& workload, std::span<const Metric> declared, const Comm& control);

// Collects the metrics per repetition. Sampling only accesses this rank's memory; the ranks' values are
// combined after a chunk of repetitions. Does nothing if no metric is per repetition.
class MetricSamples {
 public:
  MetricSamples(std::span<const Metric> declared, const Comm& control);

  bool empty() const { return current_.metrics().empty(); }

  // Starts a chunk, outside the timed region: discards what the workload has accumulated since the last
  // sample.
  void start(Workload& workload, int count);
  // Takes a sample, outside the timed region, after each repetition of `operations` operations.
  void take(Workload& workload, double operations);
  // Ends a chunk; rank 0 keeps the repetitions for which `keep` is true. Collective. Throws BrokenWorkload.
  void finish(const std::vector<bool>& keep);

  // On rank 0: all values collected so far.
  std::vector<MetricSeries>& series() { return series_; }

 private:
  // Appends the events of the chunk to a series on rank 0.
  void finish_events(std::size_t index, const std::vector<bool>& keep);
  // On rank 0: for each repetition of the chunk, the rank with the largest sum of phases.
  std::vector<std::size_t> slowest() const;

  const Comm& control_;
  MetricValues current_;
  std::vector<std::vector<double>> chunk_;   // this rank's values for the repetitions of the chunk, by metric
  std::vector<std::vector<double>> counts_;  // their number in each repetition, for metrics per event
  std::string problem_;
  std::vector<MetricSeries> series_;
};

}  // namespace hockney
