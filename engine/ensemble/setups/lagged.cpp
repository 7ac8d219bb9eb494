// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/conversation.hpp"
#include "ensemble/point_to_point.hpp"

namespace hockney::annealing {
namespace {

constexpr int min_lag = 1;

}  // namespace

extern constinit const SetupInfo lagged{
    .name = "lagged",
    .help = "nonblocking messages; statistics take effect a fixed number of rounds later",
    .has_lag = true,
    .make = [](Part& part) -> std::unique_ptr<Rounds> {
      const Timetable timetable{.lag = part.options.lag > 0 ? part.options.lag : min_lag};
      return std::make_unique<Conversation>(part, point_to_point(part, depth(timetable)), timetable);
    }};

}  // namespace hockney::annealing
