// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The walkers of one rank: the only part that depends on the problem's type, so that its functions are
// inlined in the loop over steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "hockney/annealing/options.hpp"
#include "hockney/annealing/problem.hpp"
#include "hockney/annealing/result.hpp"

namespace hockney::annealing {

// A walker without its state. It travels as bytes when walkers move between ranks.
struct WalkerData {
  std::uint64_t steps = 0;  // since the start
  double energy = 0;        // not a number: stopped, because energy() or change() returned such a value
  std::uint32_t number = 0;
  std::uint32_t unused = 0;  // so that no byte is undefined
};

// The lowest energy so far: in which round, by which walker. Equal energies are ordered by these, so that the
// best state does not depend on which rank found it.
struct Best {
  double energy = std::numeric_limits<double>::infinity();
  int round = -1;
  std::uint32_t walker = 0;
};

// The walkers as the set-ups see them, in the order of their numbers.
class Walkers {
 public:
  virtual ~Walkers() = default;
  Walkers() = default;
  Walkers(const Walkers&) = delete;
  Walkers& operator=(const Walkers&) = delete;

  std::size_t size() const { return data_.size(); }
  const WalkerData& operator[](std::size_t index) const { return data_[index]; }
  const Best& best() const { return best_; }
  std::int64_t accepted() const { return accepted_; }
  const std::vector<std::byte>& best_state() const { return best_state_; }

  // This many walkers in their initial states.
  virtual void create(std::uint32_t first, std::size_t count) = 0;
  // Metropolis steps of one walker; not without proposals.
  virtual void advance(std::size_t index, int round, double temperature, int steps) = 0;
  // The walkers become these, in increasing order: those that are here stay, the others are to be loaded.
  virtual void reshape(const std::vector<std::uint32_t>& numbers) = 0;
  // Of a saved walker.
  virtual std::size_t bytes() const = 0;
  virtual void save(std::size_t index, std::byte* out) const = 0;
  virtual void load(std::size_t index, const std::byte* in) = 0;
  // An initial temperature from a sample of moves; the same on all ranks, without communication.
  virtual double sampled_temperature() const = 0;
  // Upper limit of absolute energies, if the problem states one.
  virtual std::optional<double> energy_bound() const = 0;

 protected:
  std::vector<WalkerData> data_;
  Best best_;
  std::vector<std::byte> best_state_;
  std::int64_t accepted_ = 0;
};

// Whether a move is accepted that raises the energy by `change` > 0, after Metropolis et al. (1953): with
// probability exp(-change / temperature). In most cases bounds of the exponential function decide.
inline bool accepts(double change, double inverse_temperature, Random& random) {
  const double x = change * inverse_temperature;
  // The smallest number of uniform() is 2^-33, whose logarithm is -22.87.
  if (!(x < 23)) return false;
  const double u = random.uniform();
  if (u <= 1 - x) return true;                      // exp(-x) >= 1 - x
  if (u * (1 + x + 0.5 * x * x) > 1) return false;  // exp(x) >= 1 + x + x^2/2
  return u < std::exp(-x);
}

// The mean of the changes of the energy that raise it, in a walk that accepts every move, divided by ln 2: at
// this temperature the mean rise is accepted with a probability of one half. (Initial temperatures from the
// mean rise and an acceptance ratio: Kirkpatrick, Gelatt, Vecchi 1983; Johnson, Aragon, McGeoch, Schevon
// 1989.)
inline constexpr int sampled_moves = 1000;

template <Problem P>
class WalkersOf final : public Walkers {
 public:
  using State = typename P::State;

  WalkersOf(const P& problem, const Options& options)
      : problem_(problem), seed_(options.seed), propose_(options.propose) {}

  void create(std::uint32_t first, std::size_t count) override {
    states_.clear();
    data_.clear();
    for (std::size_t i = 0; i < count; ++i) append(first + static_cast<std::uint32_t>(i));
    if (!propose_ && count > 0) best_ = {0, 0, first};  // as all energies
    for (std::size_t i = 0; i < states_.size(); ++i) {
      data_[i].energy = problem_.energy(states_[i]);
      note_best(i, 0);
    }
  }

  void advance(std::size_t index, int round, double temperature, int steps) override {
    WalkerData& walker = data_[index];
    if (std::isnan(walker.energy)) {
      walker.steps += static_cast<std::uint64_t>(steps);
      return;
    }
    State& state = states_[index];
    const double inverse = 1 / temperature;
    Random random(seed_, walker.number, move_stream);
    double energy = walker.energy;
    std::int64_t accepted = 0;
    std::uint64_t step = walker.steps;
    for (const std::uint64_t end = step + static_cast<std::uint64_t>(steps); step < end; ++step) {
      random.seek(step);
      const auto move = problem_.propose(std::as_const(state), random);
      const double change = problem_.change(std::as_const(state), move);
      if (change <= 0 || accepts(change, inverse, random)) {
        problem_.accept(state, move);
        energy += change;
        ++accepted;
        if (energy < best_.energy) note_best_of(state, energy, round, walker.number);
      } else if (change != change) {  // not a number
        energy = change;
        break;
      }
    }
    walker.steps += static_cast<std::uint64_t>(steps);
    walker.energy = energy;
    accepted_ += accepted;
  }

  void reshape(const std::vector<std::uint32_t>& numbers) override {
    std::vector<State> states;
    std::vector<WalkerData> data;
    states.swap(states_);
    data.swap(data_);
    std::size_t old = 0;
    for (const std::uint32_t number : numbers) {
      while (old < data.size() && data[old].number < number) ++old;
      if (old == data.size() || data[old].number != number) {
        append(number);
        continue;
      }
      data_.push_back(data[old]);
      if (propose_) states_.push_back(std::move(states[old]));
    }
  }

  std::size_t bytes() const override { return sizeof(WalkerData) + problem_.bytes(); }
  void save(std::size_t index, std::byte* out) const override {
    std::memcpy(out, &data_[index], sizeof(WalkerData));
    if (propose_) problem_.save(states_[index], out + sizeof(WalkerData));
  }
  void load(std::size_t index, const std::byte* in) override {
    std::memcpy(&data_[index], in, sizeof(WalkerData));
    if (propose_) problem_.load(states_[index], in + sizeof(WalkerData));
  }

  double sampled_temperature() const override {
    if (!propose_) return 1;
    Random random(seed_, 0, sample_stream);
    State state = problem_.initial(random);
    double rises = 0;
    int count = 0;
    for (int i = 1; i <= sampled_moves; ++i) {
      random.seek(static_cast<std::uint64_t>(i));
      const auto move = problem_.propose(std::as_const(state), random);
      const double change = problem_.change(std::as_const(state), move);
      if (change > 0 && std::isfinite(change)) {
        rises += change;
        ++count;
      }
      if (std::isfinite(change)) problem_.accept(state, move);
    }
    return count > 0 ? rises / count / std::log(2.0) : 0;
  }

  std::optional<double> energy_bound() const override {
    if constexpr (BoundedProblem<P>) return problem_.energy_bound();
    return std::nullopt;
  }

  // The final states; this object has none afterwards.
  std::vector<FinalWalker<State>> release() {
    std::vector<FinalWalker<State>> walkers;
    for (std::size_t i = 0; i < states_.size(); ++i)
      walkers.push_back({data_[i].number, data_[i].energy, std::move(states_[i])});
    states_.clear();
    return walkers;
  }

  State state_from(const std::vector<std::byte>& saved) const {
    Random random(seed_, 0, initial_stream);
    State state = problem_.initial(random);
    problem_.load(state, saved.data());
    return state;
  }

 private:
  void append(std::uint32_t number) {
    data_.push_back({.number = number});
    if (!propose_) return;
    Random random(seed_, number, initial_stream);
    states_.push_back(problem_.initial(random));
  }

  void note_best(std::size_t index, int round) {
    if (data_[index].energy < best_.energy)
      note_best_of(states_[index], data_[index].energy, round, data_[index].number);
  }
  void note_best_of(const State& state, double energy, int round, std::uint32_t number) {
    best_ = {energy, round, number};
    best_state_.resize(problem_.bytes());
    problem_.save(state, best_state_.data());
  }

  const P& problem_;
  const std::uint64_t seed_;
  const bool propose_;
  std::vector<State> states_;
};

}  // namespace hockney::annealing
