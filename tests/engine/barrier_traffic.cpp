// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "sync/algorithm.hpp"

// The messages that every barrier declares, for comparison with the models, which count them separately:
// algorithm, ranks, messages, depth, busiest.
int main() {
  for (const hockney::BarrierAlgorithm* algorithm : hockney::all_barriers())
    for (int ranks = 1; ranks <= 33; ++ranks) {
      const hockney::Traffic said = algorithm->traffic(ranks);
      std::printf("%s %d %ld %d %d\n", algorithm->name, ranks, said.messages, said.depth, said.max_per_rank);
    }
  return 0;
}
