// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The Edwards-Anderson spin glass with couplings of +1 and -1 (S. F. Edwards, P. W. Anderson, Theory of spin
// glasses, J. Phys. F 5, 1975; G. Toulouse, Commun. Phys. 2, 1977) on a square or cubic lattice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "hockney/annealing/instance.hpp"
#include "hockney/annealing/random.hpp"

namespace hockney::annealing {

class SpinGlass final {
 public:
  /** Each spin is +1 or -1. */
  struct State {
    std::vector<std::int8_t> spin;
  };
  /** Flips one spin. */
  struct Move {
    std::int32_t site;
  };
  /** A site next to another one, and the coupling between them: 0 beyond a free boundary. */
  struct Bond {
    std::int32_t site;
    std::int32_t coupling;
  };

  static constexpr int least_edge = 2;
  static constexpr std::int64_t most_spins = 10'000'000;

  /** A lattice of `dimensions` (2 or 3) and this many sites per edge. Each coupling is +1 or -1 with equal
      probability. Throws std::invalid_argument. */
  SpinGlass(int dimensions, int edge, std::uint64_t seed, bool periodic = true);

  /** With a known optimum (`optimum()`): an even edge and periodic boundaries. The bonds are divided among
      cells (plaquettes or cubes that share no bond), each with random couplings; the couplings of a cell are
      transformed so that one random state of the lattice is a ground state of every cell. That state has the
      sum of the cells' lowest energies, which no state falls below. F. Hamze et al., From near to eternity:
      Spin-glass planting, tiling puzzles, and constraint-satisfaction problems, Phys. Rev. E 97, 2018. */
  static SpinGlass planted(int dimensions, int edge, std::uint64_t seed);

  [[nodiscard]] const Instance& instance() const { return instance_; }
  [[nodiscard]] const std::string& name() const { return instance_.name; }
  [[nodiscard]] const std::optional<double>& optimum() const { return instance_.optimum; }
  [[nodiscard]] int size() const { return sites_; }
  [[nodiscard]] int dimensions() const { return dimensions_; }
  [[nodiscard]] int edge() const { return edge_; }
  /** The bond from a site in direction 0 to dimensions - 1, or back from it: dimensions to 2 dimensions - 1.
   */
  [[nodiscard]] const Bond& bond(int site, int direction) const {
    return bonds_[index(site) * index(2 * dimensions_) + index(direction)];
  }

  /** Each spin at random. */
  State initial(Random& random) const;

  /** The sum over bonds of -coupling * spin * spin: a whole number. */
  [[nodiscard]] double energy(const State& state) const;

  /** With every bond satisfied, or none. */
  [[nodiscard]] double energy_bound() const { return static_cast<double>(dimensions_) * sites_; }

  /** Any spin, with equal probability. */
  Move propose(const State& /*state*/, Random& random) const {
    return {static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(sites_)))};
  }

  [[nodiscard]] double change(const State& state, const Move& move) const {
    const Bond* bond = &bonds_[index(move.site) * index(2 * dimensions_)];
    std::int32_t field = 0;
    for (int direction = 0; direction < 2 * dimensions_; ++direction, ++bond)
      field += bond->coupling * state.spin[index(bond->site)];
    return 2.0 * state.spin[index(move.site)] * field;
  }

  void accept(State& state, const Move& move) const {
    std::int8_t& spin = state.spin[index(move.site)];
    spin = static_cast<std::int8_t>(-spin);
  }

  [[nodiscard]] std::size_t bytes() const { return index(sites_); }
  void save(const State& state, std::byte* out) const { std::memcpy(out, state.spin.data(), bytes()); }
  void load(State& state, const std::byte* in) const {
    state.spin.resize(bytes());
    std::memcpy(state.spin.data(), in, bytes());
  }

 private:
  struct Lattice {};  // without couplings
  SpinGlass(Lattice bare, int dimensions, int edge);

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  // The site `offset` (bit d: one further in direction d) beyond `site`, around the boundary.
  [[nodiscard]] std::int32_t corner(std::int32_t site, unsigned offset) const;
  void couple(std::int32_t site, int direction, std::int32_t coupling);
  // Random couplings of a cell, of which a random ground state is all spins up; the cell's lowest energy.
  int plant(std::int32_t base, Random& random);

  Instance instance_;
  std::int32_t dimensions_;
  std::int32_t edge_;
  std::int32_t sites_;
  std::vector<Bond> bonds_;
};

}  // namespace hockney::annealing
