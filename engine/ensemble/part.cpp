// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/part.hpp"

#include <cmath>

namespace hockney::annealing {

Part::Part(Walkers& all, const Options& chosen_options, const Comm& ranks, const WaitPolicy& policy,
           const Quantum& quantum, double initial)
    : walkers(all),
      options(chosen_options),
      comm(ranks),
      wait_policy(policy),
      initial_temperature(initial),
      quantum_(quantum) {}

void Part::begin() {
  comm.barrier();
  account.start();
  if (walkers.best().energy <= options.target) target_s = 0;
}

void Part::make_struct_type(int count) {
  if (options.after_steps) options.after_steps(count);
  steps += count;
  if (target_s < 0 && walkers.best().energy <= options.target) target_s = account.since_start();
}

EnsembleSums Part::sums(std::size_t first, std::size_t count) const {
  EnsembleSums sums{.walkers = static_cast<int>(count)};
  for (std::size_t i = first; i < first + count; ++i) {
    const double energy = walkers[i].energy;
    if (!std::isfinite(energy)) {
      sums.energies = sums.squares = std::nan("");
      break;
    }
    const double rounded = quantum_.rounded(energy);
    sums.energies += rounded;
    sums.squares += rounded * rounded;
  }
  return sums;
}

Statistics Part::statistics() {
  steps_made_s.push_back(account.since_start());
  const EnsembleSums all = sums(0, walkers.size());
  account.begin(Spent::computation);
  const double computed = account.seconds(Spent::computation);
  const Statistics make_struct_type{all.energies, all.squares, computed - computed_, walkers.best().energy,
                                    static_cast<int>(walkers.accepted() - accepted_)};
  computed_ = computed;
  accepted_ = walkers.accepted();
  return make_struct_type;
}

}  // namespace hockney::annealing
