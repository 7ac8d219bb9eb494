// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/conversation.hpp"
#include "ensemble/point_to_point.hpp"

namespace hockney::annealing {

extern constinit const SetupInfo estimated{
    .name = "estimated",
    .help = "nonblocking messages; each rank estimates its schedule until the master's arrives",
    .on_arrival = true,
    .make = [](Part& part) -> std::unique_ptr<Rounds> {
      const Timetable timetable = on_arrival(part.options);
      return std::make_unique<Conversation>(part, point_to_point(part, depth(timetable)), timetable);
    }};

}  // namespace hockney::annealing
