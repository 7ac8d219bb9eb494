// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/placement.hpp"
#include "measure/workload.hpp"

namespace hockney {

// The locations that a case of any workload may request: where its pairs of ranks meet, or the number of
// nodes over which they are spread (0: not requested). The launch may then have more ranks than the case.
struct Places {
  std::optional<Level> pairs;
  int nodes = 0;

  bool any() const { return pairs || nodes > 0; }
};

// A case that can be measured: its workload, the values of all its parameters, and its canonical line.
struct Case {
  const WorkloadInfo* info;
  Values values;
  std::string line;
  int ranks;
  Places places;
};

// Parses the case that `arguments` describe in a launch of `ranks` ranks. Missing parameters get their
// defaults. Throws InvalidCase for unknown names, values out of range, and a number of ranks that the
// arguments or the workload do not allow.
Case look_up(const std::vector<std::string>& arguments, int ranks);

// The catalog as one line of JSON.
std::string catalog();

}  // namespace hockney
