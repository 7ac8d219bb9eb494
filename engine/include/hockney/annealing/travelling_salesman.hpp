// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The symmetric travelling salesman problem: the shortest tour of all cities. A move reverses a part of the
// tour, which exchanges two of its edges (2-opt: G. A. Croes, A Method for Solving Traveling-Salesman
// Problems, Operations Research 6, 1958).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hockney/annealing/distances.hpp"
#include "hockney/annealing/instance.hpp"
#include "hockney/annealing/random.hpp"

namespace hockney::annealing {

class TravellingSalesman final {
 public:
  /** A tour: the city at each position, and the position of each city. */
  struct State {
    std::vector<std::int32_t> city;
    std::vector<std::int32_t> position;
  };
  /** Reverses the tour from position `first` forward to position `last`, both included. */
  struct Move {
    std::int32_t first;
    std::int32_t last;
  };

  static constexpr int least_cities = 3;
  static constexpr int most_cities = 20000;  ///< the pairs of near cities take a quadratic time
  static constexpr int most_matrix_cities = Distances::most_in_matrix;

  TravellingSalesman(Instance instance, Distances distances);

  /** An instance that comes with the library, by name, or a TSPLIB file, by path. Throws InstanceError. */
  static TravellingSalesman load(const std::string& instance);
  /** Cities at random, whole-numbered places in a square of side 1000000, as the class E of D. S. Johnson,
      L. A. McGeoch, Experimental Analysis of Heuristics for the STSP, 2002. */
  static TravellingSalesman uniform(int cities, std::uint64_t seed);
  /** Cities on a rectangular grid, 100 apart, whose optimum is known. */
  static TravellingSalesman grid(int rows, int columns);
  /** Cities at equal distances on a circle of radius 100000, whose optimum is known. */
  static TravellingSalesman circle(int cities);

  [[nodiscard]] const Instance& instance() const { return instance_; }
  [[nodiscard]] const std::string& name() const { return instance_.name; }
  [[nodiscard]] const std::optional<double>& optimum() const { return instance_.optimum; }
  [[nodiscard]] int size() const { return cities_; }
  [[nodiscard]] const Distances& distances() const { return distances_; }

  /** A random tour. */
  State initial(Random& random) const;

  /** The length of the tour: a whole number below 2^53, so that sums of changes are exact. */
  [[nodiscard]] double energy(const State& state) const;

  /** No tour is longer. */
  [[nodiscard]] double energy_bound() const { return static_cast<double>(longest_) * cities_; }

  /** Chooses two cities and reverses the path from one to the other. Most of these pairs are near each other,
      since reversals between distant cities are hardly ever accepted at low temperatures; the others are
      any cities, so that every tour can be reached.
      The choice is symmetric, as Metropolis' rule requires. Whether a pair is proposed does not depend on
      the tour, both directions of a pair are equally likely, and the reversed path has the same two cities
      at its ends: so the same pair undoes the move, with the same probability. (To propose near cities as
      neighbors in the new tour would not be symmetric.) */
  Move propose(const State& state, Random& random) const {
    Move move{};
    const std::uint32_t choice = random.below(choices_);
    if (choice < near_.size()) {
      const std::array<std::int32_t, 2>& pair = near_[choice];
      move = {state.position[index(pair[0])], state.position[index(pair[1])]};
    } else {
      const auto cities = static_cast<std::uint32_t>(cities_);
      const auto first = static_cast<std::int32_t>(random.below(cities));
      const std::int32_t last = first + 1 + static_cast<std::int32_t>(random.below(cities - 1));
      move = {first, last < cities_ ? last : last - cities_};
    }
    // To reverse the whole tour, or all but one city, would change nothing: the path of the other direction.
    for (const std::int32_t rest : {1, 0})
      if (length(move) + rest == cities_) std::swap(move.first, move.last);
    return move;
  }

  /** Two edges leave the tour and two enter it, whatever the length of the path. */
  [[nodiscard]] double change(const State& state, const Move& move) const {
    const std::int32_t first = state.city[index(move.first)];
    const std::int32_t last = state.city[index(move.last)];
    const std::int32_t before = state.city[index(move.first > 0 ? move.first - 1 : cities_ - 1)];
    const std::int32_t after = state.city[index(next(move.last))];
    const std::int64_t entering = std::int64_t{distances_(last, before)} + distances_(first, after);
    const std::int64_t leaving = std::int64_t{distances_(first, before)} + distances_(last, after);
    return static_cast<double>(entering - leaving);
  }

  /** Reverses the path or the rest of the tour, whichever is shorter: both give the same cycle. */
  void accept(State& state, const Move& move) const {
    std::int32_t left = move.first;
    std::int32_t right = move.last;
    std::int32_t cities = length(move);
    if (2 * cities > cities_) {
      left = next(move.last);
      right = move.first > 0 ? move.first - 1 : cities_ - 1;
      cities = cities_ - cities;
    }
    // In parts without a jump between the two ends of the array.
    for (std::int32_t swaps = cities / 2; swaps > 0;) {
      const std::int32_t part = std::min({swaps, cities_ - left, right + 1});
      for (std::int32_t i = 0; i < part; ++i) exchange(state, left + i, right - i);
      swaps -= part;
      left = left + part < cities_ ? left + part : 0;
      right = right >= part ? right - part : cities_ - 1;
    }
  }

  [[nodiscard]] std::size_t bytes() const { return index(cities_) * sizeof(std::int32_t); }
  void save(const State& state, std::byte* out) const { std::memcpy(out, state.city.data(), bytes()); }
  void load(State& state, const std::byte* in) const;

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::int32_t next(std::int32_t position) const {
    return position + 1 < cities_ ? position + 1 : 0;
  }
  static void exchange(State& state, std::int32_t left, std::int32_t right) {
    const std::int32_t a = state.city[index(left)];
    const std::int32_t b = state.city[index(right)];
    state.city[index(left)] = b;
    state.city[index(right)] = a;
    state.position[index(b)] = left;
    state.position[index(a)] = right;
  }
  // Cities on the path.
  [[nodiscard]] std::int32_t length(const Move& move) const {
    return move.last - move.first + 1 + (move.last < move.first ? cities_ : 0);
  }

  Instance instance_;
  Distances distances_;
  std::int32_t cities_;
  std::vector<std::array<std::int32_t, 2>> near_;  // each pair in both directions
  std::int32_t longest_ = 0;                       // of all distances
  std::uint32_t choices_;                          // those of near_, and some for any two cities
};

/** A TSPLIB file of TYPE TSP. `name` names it in errors. Throws InstanceError. */
TravellingSalesman read_tsplib(std::istream& in, const std::string& name);

}  // namespace hockney::annealing
