// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "hockney/barrier.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/invalid_case.hpp"
#include "base/statistics.hpp"
#include "library/candidates.hpp"
#include "library/choice_cache.hpp"
#include "library/trial.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

struct BarrierNaming {
  static std::unique_ptr<Barrier> with_name(std::unique_ptr<Barrier> barrier,
                                            const BarrierAlgorithm& algorithm) {
    barrier->name_ = algorithm.name;
    return barrier;
  }
};

namespace {

constexpr double limit_s = 0.050;

const BarrierAlgorithm* find(std::string_view name) {
  for (const BarrierAlgorithm* each : all_barriers())
    if (name == each->name) return each;
  return nullptr;
}

void require_intracommunicator(MPI_Comm comm) {
  int is_inter = 0;
  if (comm == MPI_COMM_NULL || MPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS)
    throw std::invalid_argument("a barrier is for a communicator (this is none)");
  if (is_inter)
    throw std::invalid_argument("a barrier is for an intracommunicator (this one has two groups)");
}

std::unique_ptr<Barrier> made(const BarrierAlgorithm& algorithm, MPI_Comm comm) {
  return BarrierNaming::with_name(algorithm.make(comm), algorithm);
}

}  // namespace

std::vector<std::string> barrier_names() {
  std::vector<std::string> names;
  for (const BarrierAlgorithm* each : all_barriers()) names.emplace_back(each->name);
  std::sort(names.begin(), names.end());
  return names;
}

std::unique_ptr<Barrier> make_barrier(std::string_view name, MPI_Comm comm) {
  const BarrierAlgorithm* algorithm = find(name);
  if (!algorithm) {
    std::string find_known;
    for (const std::string& each : barrier_names()) find_known += (find_known.empty() ? "" : ", ") + each;
    throw std::invalid_argument("unknown barrier '" + std::string(name) +
                                "' (there is no such name here) known: " + find_known);
  }
  require_intracommunicator(comm);
  try {
    return made(*algorithm, comm);
  } catch (const InvalidCase& invalid) {
    throw std::runtime_error("there is no barrier '" + std::string(name) + "' for this communicator (" +
                             invalid.what() + ") best_barrier() takes one that works");
  }
}

std::unique_ptr<Barrier> best_barrier(MPI_Comm comm, BarrierChoice* choice) {
  require_intracommunicator(comm);
  // The clock starts when all ranks have arrived, so that a late rank does not use up the time limit.
  std::vector<double> nothing(1);
  reduce_max(comm, WaitPolicy(true), nothing);
  const double start_s = MPI_Wtime();

  const NodeLayout layout = local_node_layout(comm);
  const WaitPolicy wait_policy(layout.oversubscribed);
  const Situation situation = make_situation(comm, layout);
  if (choice) *choice = {};
  if (const BarrierAlgorithm* find_known = remembered_choice(situation, comm, wait_policy))
    return made(*find_known, comm);

  const auto tried_candidates = candidates(all_barriers(), order_for(layout, situation.size));
  std::vector<Trial> trials = run_trials(comm, wait_policy, tried_candidates, start_s, limit_s);
  if (trials.empty()) throw std::runtime_error("no barrier can be made for this communicator");
  std::unique_ptr<Barrier> best =
      BarrierNaming::with_name(std::move(trials[0].barrier), *trials[0].algorithm);
  // A candidate chosen untimed, because time was up, is tried again at the next call.
  if (tried_candidates.size() == 1 || !trials[0].rounds.empty())
    remember_choice(situation, *trials[0].algorithm);
  for (Trial& trial : trials) trial.barrier.reset();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<double> elapsed_s{rank == 0 ? MPI_Wtime() - start_s : 0.0};
  reduce_max(comm, wait_policy, elapsed_s);
  if (choice) {
    for (const Trial& trial : trials)
      if (!trial.rounds.empty()) choice->trials.push_back({trial.algorithm->name, median(trial.rounds)});
    choice->seconds = elapsed_s[0];
  }
  return best;
}

}  // namespace hockney
