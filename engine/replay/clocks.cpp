// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "replay/clocks.hpp"

using hockney::replay::BeginWatch;
using hockney::replay::Clocks;
using hockney::replay::Computation;
using hockney::replay::Cost;
using hockney::replay::Graph;
using hockney::replay::NoWatch;
using hockney::replay::Order;
using hockney::replay::RecordedWatch;
using hockney::replay::rows_of;
using hockney::replay::Sloped;

extern "C" {

// Computes the end time of each rank.
void hockney_replay_ends(const Graph* graph, const Order* order, const Cost* costs, std::int64_t rows,
                         const Computation* computation, double* ends) {
  NoWatch watch;
  const auto table = rows_of<double>(costs, nullptr, 0, rows);
  const std::vector<double> times =
      Clocks<double, NoWatch>(*graph, *order, table, *computation, watch).take();
  std::copy(times.begin(), times.end(), ends);
}

// Likewise, with calls that begin as recorded. Also computes how much this adds to the computation of each
// operation.
void hockney_replay_recorded(const Graph* graph, const Order* order, const Cost* costs, std::int64_t rows,
                             const double* begins, float* unexplained, double* ends) {
  RecordedWatch watch{begins, unexplained};
  const auto table = rows_of<double>(costs, nullptr, 0, rows);
  const std::vector<double> times =
      Clocks<double, RecordedWatch>(*graph, *order, table, Computation{}, watch).take();
  std::copy(times.begin(), times.end(), ends);
}

// Computes when each operation begins.
void hockney_replay_begins(const Graph* graph, const Order* order, const Cost* costs, std::int64_t rows,
                           double* begins) {
  BeginWatch watch{begins};
  const auto table = rows_of<double>(costs, nullptr, 0, rows);
  Clocks<double, BeginWatch>(*graph, *order, table, Computation{}, watch).take();
}

// Computes the end times with `at` times `change` added to the costs, and their derivatives by `at`.
void hockney_replay_slopes(const Graph* graph, const Order* order, const Cost* costs, const Cost* change,
                           double at, std::int64_t rows, const Computation* computation, double* ends,
                           double* slopes) {
  NoWatch watch;
  const auto table = rows_of<Sloped>(costs, change, at, rows);
  const std::vector<Sloped> times =
      Clocks<Sloped, NoWatch>(*graph, *order, table, *computation, watch).take();
  for (const Sloped& time : times) {
    *ends++ = time.seconds;
    *slopes++ = time.slope;
  }
}
}
