// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/metrics.hpp"

// Phases of workloads that execute a described program.
namespace hockney::phases {

constexpr Metric phase(const char* name, const char* help) {
  return {.name = name,
          .unit = "s",
          .over_ranks = OverRanks::mean,
          .per = Per::repetition,
          .phase = true,
          .help = help};
}

inline constexpr Metric computation = phase("computation", "computation");
inline constexpr Metric messages = phase("messages", "messages between two ranks, and waiting for them");
inline constexpr Metric collectives = phase("collectives", "collective operations, and waiting in them");

}  // namespace hockney::phases
