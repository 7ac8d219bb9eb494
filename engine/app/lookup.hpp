// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/placement.hpp"
#include "measure/workload.hpp"

namespace hockney {

// The places that a case asks for, with any workload: where its pairs of ranks meet, or over how many nodes
// they are spread; 0 for none. Then the launch may have more ranks than the case.
struct Places {
  std::optional<Level> pairs;
  int nodes = 0;

  bool any() const { return pairs || nodes > 0; }
};

// A case that can be measured: its workload, all its parameters and its canonical line.
struct Case {
  const WorkloadInfo* info;
  Values values;
  std::string line;
  int ranks;
  Places places;
};

// The case that `words` describe in a launch of `ranks` ranks; missing parameters get their defaults. Throws
// InvalidCase for unknown names, values out of range, and a number of ranks that the words or the workload do
// not allow.
Case look_up(const std::vector<std::string>& words, int ranks);

// The catalog as one line of JSON.
std::string catalog();

}  // namespace hockney
