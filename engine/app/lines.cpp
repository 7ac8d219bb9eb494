// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "app/lines.hpp"

#include <cstdio>

#include "base/json.hpp"
#include "comm/environment.hpp"

namespace hockney {
namespace {

constexpr int schema = 2;

// Dates need more digits than measured times.
std::string date_number(double unix_s) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3f", unix_s);
  return digits;
}

void optional_field(Json& json, const char* name, const std::optional<double>& value) {
  if (value)
    json.field(name, *value);
  else
    json.null(name);
}

std::string metrics_object(const std::vector<MetricSeries>& metrics) {
  Json object;
  for (const auto& [metric, values, counts] : metrics) {
    Json series;
    series.field("unit", metric->unit)
        .field("over_ranks", name_of(metric->over_ranks))
        .field("per", name_of(metric->per))
        .raw("phase", metric->phase ? "true" : "false")
        .field("values", values);
    if (metric->per == Per::event) series.field("counts", counts);
    object.raw(metric->name, series.str());
  }
  return object.str();
}

std::string labels_object(const std::map<std::string, std::string>& labels) {
  Json object;
  for (const auto& [name, text] : labels) object.field(name, text);
  return object.str();
}

// The visits: start in seconds after the record's date (to 0.1 ms), repetitions, and number of preemptions.
std::string visits_object(const std::vector<Visit>& visits, double started_s) {
  std::string starts;
  std::string repetitions;
  std::string preemption_list;
  char digits[32];
  for (const Visit& visit : visits) {
    std::snprintf(digits, sizeof digits, "%s%.4f", starts.empty() ? "" : ",", visit.started_s - started_s);
    starts += digits;
    preemption_list += (preemption_list.empty() ? "" : ",") + std::to_string(visit.preemptions);
    repetitions += (repetitions.empty() ? "" : ",") + std::to_string(visit.repetitions);
  }
  return Json()
      .raw("after_s", "[" + starts + "]")
      .raw("repetitions", "[" + repetitions + "]")
      .raw("preempted", "[" + preemption_list + "]")
      .str();
}

std::string list_of(const std::vector<int>& ranks) {
  std::string list;
  for (const int rank : ranks) list += (list.empty() ? "" : ",") + std::to_string(rank);
  return "[" + list + "]";
}

}  // namespace

std::string launch_line(const Options& options, const std::string& ranks, const ClockCost& clock,
                        double init_s) {
  const Library mpi = library();
  Json line;
  line.field("kind", "launch")
      .field("schema", schema)
      .field("launch", options.launch)
      .field("index", static_cast<std::int64_t>(options.index))
      .field("origin", options.origin)
      .raw("started_s", date_number(date()))
      .raw("ranks", ranks.empty() ? "[]" : ranks)
      .field("mpi_standard", mpi.standard)
      .field("library", mpi.version)
      .field("engine", HOCKNEY_VERSION)
      .field("compiler", HOCKNEY_COMPILER)
      .raw("clock",
           Json().field("overhead_s", clock.overhead_s).field("resolution_s", clock.resolution_s).str())
      .field("init_s", init_s);
  if (options.asleep) line.field("waits", "asleep");
  return line.str();
}

std::string start_line(const std::string& case_line, long position) {
  return Json()
      .field("kind", "start")
      .field("case", case_line)
      .field("position", static_cast<std::int64_t>(position))
      .str();
}

std::string visiting_line() {
  return Json().field("kind", "visiting").str();
}

std::string record_line(const Options& options, const std::string& case_line, long position, double started_s,
                        Synchroniser::Kind kind, double precision, const CaseLocation& where,
                        const Measurement& measurement) {
  Json sync;
  sync.field("kind", Synchroniser::name(kind));
  optional_field(sync, "error_s", measurement.clock_error_s);
  sync.field("late", static_cast<std::int64_t>(measurement.late_count));
  Json stop;
  stop.field("reason", measurement.stop_reason).field("precision", precision);
  optional_field(stop, "achieved", measurement.achieved_precision);
  const std::string verified = Json()
                                   .field("bytes", measurement.verified.bytes)
                                   .field("errors", measurement.verified.errors)
                                   .field("first", measurement.verified.first)
                                   .field("runs", measurement.verified_runs)
                                   .field("of_runs", measurement.runs)
                                   .field("seconds", measurement.verifying_s)
                                   .str();
  Json record;
  record.field("kind", "record")
      .field("schema", schema)
      .field("launch", options.launch)
      .field("origin", options.origin)
      .field("position", static_cast<std::int64_t>(position))
      .field("case", case_line)
      .raw("started_s", date_number(started_s))
      .field("times_s", measurement.times_s)
      .raw("visits", visits_object(measurement.visits, started_s))
      .field("batch", measurement.batch)
      .field("warmup_s", measurement.warmup_s)
      .field("bytes_moved", measurement.bytes_moved)
      .raw("sync", sync.str())
      .raw("stop", stop.str())
      .raw("verified", verified);
  if (!where.place.empty()) record.field("place", where.place);
  record.field("nodes", where.nodes);
  if (!where.members.empty()) record.raw("members", list_of(where.members));
  if (!measurement.metrics.empty()) record.raw("metrics", metrics_object(measurement.metrics));
  if (!measurement.labels.empty()) record.raw("labels", labels_object(measurement.labels));
  return record.str();
}

std::string failure_line(const Options& options, const std::string& case_line, const char* reason,
                         const std::string& message) {
  return Json()
      .field("kind", "failure")
      .field("schema", schema)
      .field("launch", options.launch)
      .field("case", case_line)
      .field("reason", reason)
      .field("message", message)
      .str();
}

std::string end_line(long cases) {
  return Json().field("kind", "end").field("cases", static_cast<std::int64_t>(cases)).str();
}

std::string hello_line(const Comm& comm) {
  const RankLocation location = locate(comm);
  return Json()
      .field("rank", comm.rank)
      .field("size", comm.size)
      .field("host", host_name())
      .field("node", location.node)
      .field("core", location.core.core)
      .field("cache", location.core.cache)
      .field("socket", location.core.socket)
      .field("library", library().version)
      .field("engine", engine_digest())
      .str();
}

}  // namespace hockney
