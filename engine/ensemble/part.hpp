// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
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

// One rank's part of an annealing: its walkers, and the operations on them that all set-ups share.
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
  std::vector<Round> rounds;         // on rank 0
  std::vector<double> steps_made_s;  // time since the start at which the steps of each round were made
  double target_s = -1;
  std::int64_t steps = 0;
  std::int64_t estimated_steps = 0;  // number of steps with an estimated temperature
  int walkers_sent = 0;
  std::uint64_t schedule_digest = 0;  // must be added over the ranks

  Times times;

  // begin() starts the account on all ranks together; an initial state may already reach the target. end()
  // stops it.
  void begin();
  void end() { times = account.times(); }

  // Makes `count` steps of each of these walkers in a round, in pieces. Calls `progress` between pieces,
  // which returns the temperature to continue with.
  template <class Progress>
  void advance(std::size_t first, std::size_t walker_count, int round, int count, double temperature,
               Progress progress) {
    if (!options.propose) {
      pieces(static_cast<int>(walker_count) * count, temperature, progress, [](double, int) {});
      return;
    }
    for (std::size_t i = first; i < first + walker_count; ++i)
      pieces(count, temperature, progress,
             [&](double present, int piece) { walkers.advance(i, round, present, piece); });
  }

  // Exact sums over some of this rank's walkers; NaN if an energy is not finite.
  EnsembleSums sums(std::size_t first, std::size_t count) const;
  // Statistics of a completed round, for the master. Called once per round.
  Statistics statistics();

 private:
  template <class Progress, class Make>
  void pieces(int count, double& temperature, Progress progress, Make make) {
    const int test_every = options.test_every;
    for (int left = count; left > 0;) {
      const int piece = test_every > 0 ? std::min(left, test_every - since_test_) : left;
      make(temperature, piece);
      make_struct_type(piece);
      left -= piece;
      if (test_every == 0 || (since_test_ += piece) < test_every) continue;
      since_test_ = 0;
      temperature = progress();
    }
  }
  void make_struct_type(int count);

  const Quantum& quantum_;
  int since_test_ = 0;
  double computed_ = 0;        // seconds in previous rounds
  std::int64_t accepted_ = 0;  // moves in previous rounds
};

}  // namespace hockney::annealing
