// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The quadratic assignment problem (T. C. Koopmans, M. Beckmann, Assignment Problems and the Location of
// Economic Activities, Econometrica 25, 1957): n facilities at n locations, so that the sum of flows times
// distances is least. A move exchanges two facilities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "hockney/annealing/instance.hpp"
#include "hockney/annealing/random.hpp"

namespace hockney::annealing {

class QuadraticAssignment final {
 public:
  /** The location of each facility. */
  struct State {
    std::vector<std::int32_t> location;
  };
  /** Exchanges the locations of two facilities. */
  struct Move {
    std::int32_t first;
    std::int32_t second;
  };

  static constexpr int least_size = 2;
  static constexpr int most_size = 5000;

  /** `flows` and `distances` have size * size elements, row by row, none of them negative. Throws
      std::invalid_argument if the energy could exceed 2^53, beyond which sums of changes are not exact. */
  QuadraticAssignment(Instance instance, int size, std::vector<std::int32_t> flows,
                      std::vector<std::int32_t> distances);

  /** An instance that comes with the library, by name, or a QAPLIB file, by path. Throws InstanceError. */
  static QuadraticAssignment load(const std::string& instance);
  /** Symmetric, with flows and distances from 0 to 99 at random, as in E. D. Taillard, Robust taboo search
     for the quadratic assignment problem, Parallel Computing 17, 1991. */
  static QuadraticAssignment uniform(int size, std::uint64_t seed);

  [[nodiscard]] const Instance& instance() const { return instance_; }
  [[nodiscard]] const std::string& name() const { return instance_.name; }
  [[nodiscard]] const std::optional<double>& optimum() const { return instance_.optimum; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool symmetric() const { return symmetric_; }

  /** A random assignment. */
  State initial(Random& random) const;

  /** The sum over all pairs of facilities, each direction, of flow times distance: a whole number. */
  [[nodiscard]] double energy(const State& state) const;

  /** With every flow over the longest distance. */
  [[nodiscard]] double energy_bound() const { return energy_bound_; }

  /** Any two facilities, with equal probability. */
  Move propose(const State& /*state*/, Random& random) const {
    const auto size = static_cast<std::uint32_t>(size_);
    const auto first = static_cast<std::int32_t>(random.below(size));
    const auto second = static_cast<std::int32_t>(random.below(size - 1));
    return {first, second < first ? second : second + 1};
  }

  /** In O(n): R. E. Burkard, F. Rendl, A thermodynamically motivated simulation procedure for combinatorial
      optimization problems, EJOR 17, 1984, and for asymmetric matrices Taillard (1991), equation 1. */
  [[nodiscard]] double change(const State& state, const Move& move) const {
    const std::int32_t* const location = state.location.data();
    const std::int32_t from = location[move.first];
    const std::int32_t to = location[move.second];
    std::int64_t change = half_change(flows_, distances_, location, move, from, to);
    change += symmetric_ ? change : half_change(flows_back_, distances_back_, location, move, from, to);
    const std::int64_t loops = flow(move.first, move.first) - flow(move.second, move.second);
    change += loops * (distance(to, to) - distance(from, from));
    const std::int64_t pair = flow(move.first, move.second) - flow(move.second, move.first);
    change += pair * (distance(to, from) - distance(from, to));
    return static_cast<double>(change);
  }

  void accept(State& state, const Move& move) const {
    std::swap(state.location[index(move.first)], state.location[index(move.second)]);
  }

  [[nodiscard]] std::size_t bytes() const { return index(size_) * sizeof(std::int32_t); }
  void save(const State& state, std::byte* out) const { std::memcpy(out, state.location.data(), bytes()); }
  void load(State& state, const std::byte* in) const {
    state.location.resize(index(size_));
    std::memcpy(state.location.data(), in, bytes());
  }

 private:
  using Matrix = std::vector<std::int32_t>;

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] const std::int32_t* row(const Matrix& matrix, std::int32_t i) const {
    return matrix.data() + index(i) * index(size_);
  }
  [[nodiscard]] std::int64_t flow(std::int32_t from, std::int32_t to) const { return row(flows_, from)[to]; }
  [[nodiscard]] std::int64_t distance(std::int32_t from, std::int32_t to) const {
    return row(distances_, from)[to];
  }

  // What changes between the two facilities and all others, in the direction of the matrices' rows.
  [[nodiscard]] std::int64_t half_change(const Matrix& flows, const Matrix& distances,
                                         const std::int32_t* location, const Move& move, std::int32_t from,
                                         std::int32_t to) const {
    const std::int32_t* const flow_first = row(flows, move.first);
    const std::int32_t* const flow_second = row(flows, move.second);
    const std::int32_t* const near = row(distances, from);
    const std::int32_t* const far = row(distances, to);
    const auto term = [&](std::int32_t k) {
      return std::int64_t{flow_first[k] - flow_second[k]} * (far[location[k]] - near[location[k]]);
    };
    std::int64_t sum = 0;
    for (std::int32_t k = 0; k < size_; ++k) sum += term(k);
    return sum - term(move.first) - term(move.second);
  }

  Instance instance_;
  std::int32_t size_;
  bool symmetric_;
  double energy_bound_;
  Matrix flows_;
  Matrix distances_;
  Matrix flows_back_;  // transposed, unless both are symmetric
  Matrix distances_back_;
};

/** A QAPLIB file: n, the flows, the distances. `name` names it in errors. Throws InstanceError. */
QuadraticAssignment read_qaplib(std::istream& in, const std::string& name);

}  // namespace hockney::annealing
