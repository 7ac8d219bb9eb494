// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "hockney/annealing/problem.hpp"

// Small problems with known properties.
namespace toy {

using hockney::annealing::Random;

// A number partition: which of the numbers sqrt(1), sqrt(2), ... are counted negative, so that their sum is
// near 0. Energies are not integers, so that sums of unrounded ones would depend on their order.
struct Partition {
  struct State {
    std::vector<std::int8_t> signs;
    double sum;
  };
  using Move = std::uint32_t;

  std::uint32_t numbers = 40;

  State initial(Random& random) const {
    State state{std::vector<std::int8_t>(numbers), 0};
    for (std::int8_t& sign : state.signs) sign = random() & 1U ? 1 : -1;
    state.sum = sum(state);
    return state;
  }
  double sum(const State& state) const {
    double total = 0;
    for (std::uint32_t i = 0; i < numbers; ++i) total += state.signs[i] * std::sqrt(i + 1.0);
    return total;
  }
  double energy(const State& state) const { return std::abs(sum(state)); }
  Move propose(const State&, Random& random) const { return random.below(numbers); }
  double moved(const State& state, Move move) const {
    return state.sum - 2 * state.signs[move] * std::sqrt(move + 1.0);
  }
  double change(const State& state, Move move) const {
    return std::abs(moved(state, move)) - std::abs(state.sum);
  }
  void accept(State& state, Move move) const {
    state.sum = moved(state, move);
    state.signs[move] = static_cast<std::int8_t>(-state.signs[move]);
  }
  // The sum with its rounding errors belongs to the state.
  std::size_t bytes() const { return sizeof(double) + numbers; }
  void save(const State& state, std::byte* out) const {
    std::memcpy(out, &state.sum, sizeof state.sum);
    std::memcpy(out + sizeof state.sum, state.signs.data(), numbers);
  }
  void load(State& state, const std::byte* in) const {
    std::memcpy(&state.sum, in, sizeof state.sum);
    std::memcpy(state.signs.data(), in + sizeof state.sum, numbers);
  }
};

}  // namespace toy
