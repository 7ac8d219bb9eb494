// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "hockney/annealing/spin_glass.hpp"

#include <algorithm>

#include "ensemble/problems/generating.hpp"

namespace hockney::annealing {
namespace {

std::int8_t random_sign(Random& random) {
  return random.below(2) == 0 ? std::int8_t{-1} : std::int8_t{1};
}

std::int32_t sites_of(int dimensions, int edge) {
  check_generated(dimensions, 2, 3, "dimensions");
  check_generated(edge, SpinGlass::least_edge, SpinGlass::most_spins, "sites per edge");
  std::int64_t sites = 1;
  for (int d = 0; d < dimensions; ++d) {
    sites *= edge;
    check_generated(sites, 1, SpinGlass::most_spins, "spins");
  }
  return static_cast<std::int32_t>(sites);
}

// The bonds of a cell: 4 for a plaquette, 12 for a cube.
struct CellBond {
  unsigned from;  // bit d: offset by one in direction d
  unsigned to;
  int direction;
  int coupling;
};

std::vector<CellBond> random_cell(unsigned dimensions, Random& random) {
  std::vector<CellBond> cell;
  for (unsigned corner = 0; corner < 1U << dimensions; ++corner)
    for (unsigned d = 0; d < dimensions; ++d)
      if ((corner >> d & 1U) == 0)
        cell.push_back({corner, corner | 1U << d, static_cast<int>(d), random_sign(random)});
  return cell;
}

// Bit c of `up` is the spin at corner c.
int sign(unsigned up, const CellBond& bond) {
  return (up >> bond.from & 1U) == (up >> bond.to & 1U) ? 1 : -1;
}

// Returns all states with the lowest energy, and sets `lowest`.
std::vector<unsigned> ground_states(const std::vector<CellBond>& cell, unsigned corners, int& lowest) {
  std::vector<unsigned> states;
  lowest = static_cast<int>(cell.size()) + 1;
  for (unsigned up = 0; up < 1U << corners; ++up) {
    int energy = 0;
    for (const CellBond& bond : cell) energy -= bond.coupling * sign(up, bond);
    if (energy < lowest) states.clear();
    if (energy <= lowest) states.push_back(up);
    lowest = std::min(lowest, energy);
  }
  return states;
}

}  // namespace

SpinGlass::SpinGlass(Lattice /*bare*/, int dimensions, int edge)
    : dimensions_{dimensions}, edge_{edge}, sites_{sites_of(dimensions, edge)} {
  bonds_.reserve(index(sites_) * index(2 * dimensions));
  for (std::int32_t site = 0; site < sites_; ++site)
    for (int direction = 0; direction < 2 * dimensions; ++direction) bonds_.push_back({site, 0});
}

SpinGlass::SpinGlass(int dimensions, int edge, std::uint64_t seed, bool periodic)
    : SpinGlass(Lattice{}, dimensions, edge) {
  instance_ = {generated_name(periodic ? "spin_glass" : "spin_glass-free", {dimensions, edge}, seed),
               "random couplings of +1 and -1", std::nullopt};
  Random random(seed, 0, instance_stream);
  std::int32_t stride = 1;
  for (int d = 0; d < dimensions; ++d, stride *= edge)
    for (std::int32_t site = 0; site < sites_; ++site)
      if (periodic || site / stride % edge + 1 < edge) couple(site, d, random_sign(random));
}

SpinGlass SpinGlass::planted(int dimensions, int edge, std::uint64_t seed) {
  SpinGlass glass(Lattice{}, dimensions, edge);
  if (edge % 2 != 0)
    throw std::invalid_argument("a planted spin glass needs an even number of sites per edge, not " +
                                std::to_string(edge));
  Random random(seed, 0, instance_stream);
  // Each bond belongs to exactly one of the cells whose first corner has only even, or only odd, coordinates.
  int optimum = 0;
  for (std::int32_t site = 0; site < glass.sites_; ++site) {
    int odd = 0;
    std::int32_t remaining = site;
    for (int d = 0; d < dimensions; ++d, remaining /= edge) odd += remaining % edge % 2;
    if (odd == 0 || odd == dimensions) optimum += glass.plant(site, random);
  }
  // Up to here, the state with all spins up is a ground state; from here on, any state may be.
  State hidden = glass.initial(random);
  for (std::int32_t site = 0; site < glass.sites_; ++site)
    for (int direction = 0; direction < 2 * dimensions; ++direction) {
      Bond& bond = glass.bonds_[index(site) * index(2 * dimensions) + index(direction)];
      bond.coupling *= hidden.spin[index(site)] * hidden.spin[index(bond.site)];
    }
  glass.instance_ = {generated_name("planted", {dimensions, edge}, seed),
                     "couplings of +1 and -1 with a planted ground state (Hamze et al. 2018)", optimum};
  return glass;
}

int SpinGlass::plant(std::int32_t base, Random& random) {
  const auto dimensions = static_cast<unsigned>(dimensions_);
  const std::vector<CellBond> cell = random_cell(dimensions, random);
  int lowest = 0;
  const std::vector<unsigned> states = ground_states(cell, 1U << dimensions, lowest);
  const unsigned chosen_options = states[random.below(static_cast<std::uint32_t>(states.size()))];
  for (const CellBond& bond : cell)
    couple(corner(base, bond.from), bond.direction, bond.coupling * sign(chosen_options, bond));
  return lowest;
}

std::int32_t SpinGlass::corner(std::int32_t site, unsigned offset) const {
  std::int32_t stride = 1;
  std::int32_t result = site;
  for (int d = 0; d < dimensions_; ++d, stride *= edge_) {
    if ((offset >> static_cast<unsigned>(d) & 1U) == 0) continue;
    const bool last = site / stride % edge_ + 1 == edge_;
    result += last ? stride * (1 - edge_) : stride;
  }
  return result;
}

void SpinGlass::couple(std::int32_t site, int direction, std::int32_t coupling) {
  const std::int32_t other = corner(site, 1U << static_cast<unsigned>(direction));
  const std::size_t bonds = index(2 * dimensions_);
  bonds_[index(site) * bonds + index(direction)] = {other, coupling};
  bonds_[index(other) * bonds + index(direction + dimensions_)] = {site, coupling};
}

SpinGlass::State SpinGlass::initial(Random& random) const {
  State state;
  state.spin.reserve(index(sites_));
  for (std::int32_t site = 0; site < sites_; ++site) state.spin.push_back(random_sign(random));
  return state;
}

double SpinGlass::energy(const State& state) const {
  std::int64_t sum = 0;
  for (std::int32_t site = 0; site < sites_; ++site)
    for (int direction = 0; direction < dimensions_; ++direction) {
      const Bond& bond_there = bond(site, direction);
      sum -= bond_there.coupling * state.spin[index(site)] * state.spin[index(bond_there.site)];
    }
  return static_cast<double>(sum);
}

}  // namespace hockney::annealing
