// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measure/workload.hpp"

namespace hockney {

// A case that can be measured: its workload, all its parameters and its canonical line.
struct Case {
  const WorkloadInfo* info;
  Values values;
  std::string line;
};

// The case that `words` describe on `ranks` ranks; missing parameters get their defaults. Throws InvalidCase
// for unknown names, values out of range, and a number of ranks that the words or the workload do not allow.
Case look_up(const std::vector<std::string>& words, int ranks);

// The catalog as one line of JSON.
std::string catalog();

}  // namespace hockney
