// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/choice_cache.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "library/trial.hpp"

namespace hockney {
namespace {

// Contains no MPI objects, so it may outlive MPI. Its mutex is never held during an MPI call.
struct Memory {
  std::mutex mutex;
  std::map<Situation, int> places;  // index in the table of all algorithms
};

Memory& memory() {
  static Memory all;
  return all;
}

}  // namespace

Situation make_situation(MPI_Comm comm, const NodeLayout& layout) {
  Situation found{1, {}, layout.oversubscribed};
  MPI_Comm_size(comm, &found.size);
  if (layout.on_one_node) return found;
  MPI_Comm node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int lowest = 0;
  MPI_Comm_rank(comm, &lowest);
  MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, node);
  MPI_Comm_free(&node);
  found.nodes.resize(static_cast<std::size_t>(found.size));
  MPI_Allgather(&lowest, 1, MPI_INT, found.nodes.data(), 1, MPI_INT, comm);
  return found;
}

const BarrierAlgorithm* remembered_choice(const Situation& situation, MPI_Comm comm,
                                          const WaitPolicy& wait_policy) {
  int place = -1;
  {
    Memory& all = memory();
    const std::lock_guard lock(all.mutex);
    const auto there = all.places.find(situation);
    if (there != all.places.end()) place = there->second;
  }
  // Ranks that chose in different communicators may remember different algorithms: take the one that is first
  // in the table.
  std::vector<double> agreed{place < 0 ? 1.0 : 0.0, -static_cast<double>(place)};
  reduce_max(comm, wait_policy, agreed);
  if (agreed[0] != 0.0) return nullptr;
  return all_barriers()[static_cast<std::size_t>(-agreed[1])];
}

void remember_choice(const Situation& situation, const BarrierAlgorithm& algorithm) {
  const auto table = all_barriers();
  const auto place = std::find(table.begin(), table.end(), &algorithm) - table.begin();
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  all.places.insert_or_assign(situation, static_cast<int>(place));
}

}  // namespace hockney
