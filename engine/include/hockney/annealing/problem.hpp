// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

#include "hockney/annealing/random.hpp"

namespace hockney::annealing {

// What is minimised: states with an energy, and moves from a state to a similar one. A State is movable. A
// problem is constant while it is annealed, and the same on all ranks. Its functions throw nothing: an
// exception on one rank would leave the others waiting for its messages.
//
//   initial   a random state
//   energy    of a state, computed from scratch: a finite number
//   propose   a random move; a move and its inverse have the same probability (Metropolis et al. 1953)
//   change    of the energy, if the move were accepted; infinity forbids the move
//   accept    carries the move out
//   bytes     the size of any saved state: states are saved to move walkers between ranks, and when a new
//   best
//             energy is found
//   save, load  copy a state to and from that many bytes; load() receives a state made by initial(). What is
//             loaded equals what was saved in every bit, also in sums that contain rounding errors
//
// The energy of a walker is that of its first state plus all changes; energy() is called for first states
// only.
//
// A problem may also have `double energy_bound() const`: no state's energy is beyond it in absolute value. In
// the sums of statistics, energies have a resolution relative to this bound (annealing.hpp); without it, to
// 64 times the largest energy of a first state.
template <class P>
concept Problem =
    std::movable<typename P::State> &&
    requires(const P& problem, typename P::State& state, const typename P::State& current,
             const typename P::Move& move, Random& random, std::byte* out, const std::byte* in) {
      { problem.initial(random) } -> std::same_as<typename P::State>;
      { problem.energy(current) } -> std::convertible_to<double>;
      { problem.propose(current, random) } -> std::same_as<typename P::Move>;
      { problem.change(current, move) } -> std::convertible_to<double>;
      problem.accept(state, move);
      { problem.bytes() } -> std::convertible_to<std::size_t>;
      problem.save(current, out);
      problem.load(state, in);
    };

template <class P>
concept BoundedProblem = Problem<P> && requires(const P& problem) {
  { problem.energy_bound() } -> std::convertible_to<double>;
};

}  // namespace hockney::annealing
