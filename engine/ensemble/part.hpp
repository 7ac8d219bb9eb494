// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "comm/comm.hpp"
#include "comm/wait_policy.hpp"
#include "ensemble/account.hpp"
#include "ensemble/messages.hpp"
#include "ensemble/quantum.hpp"
#include "hockney/annealing/schedule.hpp"
#include "hockney/annealing/walkers.hpp"

namespace hockney::annealing {

// One rank's part of an annealing: its walkers, and what every set-up does with them.
class Part final {
 public:
  Part(Walkers& walkers, const Options& options, const Comm& comm, const WaitPolicy& wait_policy,
       const Quantum& quantum, double initial_temperature);

  Walkers& walkers;
  const Options& options;
  const Comm& comm;
  const WaitPolicy& wait_policy;
  const double initial_temperature;
  Account account;
  std::vector<Round> rounds;  // on rank 0
  double target_s = -1;
  std::int64_t steps = 0;
  std::int64_t estimated_steps = 0;  // of `steps`, with an estimated temperature
  int walkers_sent = 0;
  std::uint64_t schedule_digest = 0;  // to be added over the ranks

  Times times;

  // All ranks begin together: the account starts, an initial state may be the target. It ends with end().
  void begin();
  void end() { times = account.times(); }

  // Steps of one walker in a round, in chunks between calls of `progress`, which returns the temperature to
  // continue with.
  template <class Progress>
  void advance(std::size_t index, int round, int count, double& temperature, Progress progress) {
    for (int made = 0; made < count;) {
      const int left = count - made;
      const int chunk = options.test_every > 0 ? std::min(left, options.test_every - since_test_) : left;
      chunk_of(index, round, temperature, chunk);
      made += chunk;
      since_test_ += chunk;
      if (options.test_every > 0 && since_test_ >= options.test_every) {
        since_test_ = 0;
        temperature = progress();
      }
    }
  }

  // The sums over some of this rank's walkers, exact; not a number if an energy is not finite.
  EnsembleSums sums(std::size_t first, std::size_t count) const;
  // Of a round that has ended, for the master. Once in a round.
  Statistics statistics();

 private:
  void chunk_of(std::size_t index, int round, double temperature, int count);

  const Quantum& quantum_;
  int since_test_ = 0;
  double computed_ = 0;        // seconds, in former rounds
  std::int64_t accepted_ = 0;  // moves, in former rounds
};

}  // namespace hockney::annealing
