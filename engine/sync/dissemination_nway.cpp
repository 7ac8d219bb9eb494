// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

int rounds_with(int ways, int ranks) {
  int rounds = 0;
  for (long reached_ranks = 1; reached_ranks < ranks; reached_ranks *= ways + 1) ++rounds;
  return rounds;
}

// The number of signals per round. A round takes about a message's latency, plus a quarter of that for each
// additional message (LogGP's g compared with L + 2 o, as on the networks measured in hockney's surveys).
int best_ways(int ranks) {
  int best = 1;
  for (int ways = 2; ways < ranks && ways <= 15; ++ways)
    if (rounds_with(ways, ranks) * (3 + ways) < rounds_with(best, ranks) * (3 + best)) best = ways;
  return best;
}

// Dissemination in which each rank signals to n other ranks per round: fewer rounds with more messages each.
class DisseminationNway final : public Barrier {
 public:
  explicit DisseminationNway(MPI_Comm comm)
      : signals_(comm), ways_(best_ways(signals_.size())), requests_(2 * static_cast<std::size_t>(ways_)) {}

  void wait() override {
    const long rank = signals_.rank(), size = signals_.size();
    int round = 0;
    for (long step = 1; step < size; step *= ways_ + 1, ++round) {
      const long limit = std::min(ways_ * step, size - 1);
      std::size_t count = 0;
      for (long distance = step; distance <= limit; distance += step)
        requests_[count++] = signals_.expect(static_cast<int>((rank + size - distance) % size), round);
      for (long distance = step; distance <= limit; distance += step)
        requests_[count++] = signals_.start(static_cast<int>((rank + distance) % size), round);
      signals_.finish_all({requests_.data(), count});
    }
  }

 private:
  const Signals signals_;
  const int ways_;
  std::vector<MPI_Request> requests_;
};

Traffic traffic(int ranks) {
  Traffic traffic;
  const int ways = best_ways(ranks);
  for (long step = 1; step < ranks; step *= ways + 1) {
    const int messages = static_cast<int>(std::min(ways * step, ranks - 1L) / step);
    traffic.messages += static_cast<long>(ranks) * messages;
    traffic.max_per_rank += 2 * messages;
    ++traffic.depth;
  }
  return traffic;
}

}  // namespace

extern constinit const BarrierAlgorithm dissemination_nway{
    "dissemination_nway",
    "dissemination to n ranks a round, n chosen for the number of ranks",
    "Hoefler, Mehlan, Mietke, Rehm, Fast Barrier Synchronization for InfiniBand (2006)",
    Signalling::messages,
    traffic,
    make_barrier_of<DisseminationNway>,
    TrialOrder{.single_rank = 0, .one_node = 0, .oversubscribed = 0, .multiple_nodes = 4}};

}  // namespace hockney::sync
