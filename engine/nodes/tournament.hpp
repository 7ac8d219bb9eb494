// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace hockney::nodes {

// Partners of a round-robin tournament. In every round, each rank has one partner; during the size - 1 rounds
// of a tournament (size rounds if the number of ranks is odd: then one rank pauses in each round), each rank
// meets every other one exactly once.
// Rounds follow the circle method (Kirkman 1847): one player stays, all others move around a circle. Each
// tournament seats the ranks in a new random order, so the pairs that communicate at the same time differ
// between tournaments.
class Tournament {
 public:
  // `seed` must be the same on all ranks.
  Tournament(int rank, int size, std::uint64_t seed)
      : rank_(rank), size_(size), players_(size + size % 2), seed_(seed) {}

  int rounds() const { return players_ - 1; }

  // The partner in round number `round`, counted over all tournaments; the rank itself if it pauses.
  int partner(long round) {
    if (size_ == 1) return rank_;
    seat(round / rounds());
    const int partner = rank_of_seat_[static_cast<std::size_t>(opposite(seat_, round))];
    return partner < size_ ? partner : rank_;
  }

  // The lower ranks of all pairs of this round, in the order of the seats. The same on all ranks.
  std::vector<int> lower_ranks(long round) {
    std::vector<int> lower;
    if (size_ == 1) return lower;
    seat(round / rounds());
    for (int seat = 0; seat < players_; ++seat) {
      const int rank = rank_of_seat_[static_cast<std::size_t>(seat)];
      const int partner = rank_of_seat_[static_cast<std::size_t>(opposite(seat, round))];
      if (rank < partner && partner < size_) lower.push_back(rank);
    }
    return lower;
  }

 private:
  // The seat that a seat meets in this round.
  int opposite(int seat, long round) const {
    const int shift = static_cast<int>(round % rounds());
    const int circle = players_ - 1;
    if (seat == circle) return shift;
    if (seat == shift) return circle;  // the player that stays
    return (2 * shift - seat + 2 * circle) % circle;
  }

  // Draws the order of the players, the last of whom is a pause if the number of ranks is odd (Fisher,
  // Yates).
  void seat(long tournament) {
    if (tournament == tournament_) return;
    tournament_ = tournament;
    rank_of_seat_.resize(static_cast<std::size_t>(players_));
    std::iota(rank_of_seat_.begin(), rank_of_seat_.end(), 0);
    const std::uint64_t seed = mix(mix(seed_) + static_cast<std::uint64_t>(tournament));
    for (std::size_t last = rank_of_seat_.size() - 1; last > 0; --last)
      std::swap(rank_of_seat_[last],
                rank_of_seat_[static_cast<std::size_t>(uniform(seed, last) * static_cast<double>(last + 1))]);
    seat_ = 0;
    while (rank_of_seat_[static_cast<std::size_t>(seat_)] != rank_) ++seat_;
  }

  int rank_;
  int size_;
  int players_;
  std::uint64_t seed_;
  long tournament_ = -1;
  std::vector<int> rank_of_seat_;
  int seat_ = 0;  // this rank's
};

}  // namespace hockney::nodes
