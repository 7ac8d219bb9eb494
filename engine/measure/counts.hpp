// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstdint>
#include <string>
#include <vector>

#include "base/invalid_case.hpp"
#include "comm/comm.hpp"
#include "measure/values.hpp"

namespace hockney {

// The size of each rank's block: `counts` distributes P blocks of `bytes` bytes among P ranks:
//
//   even     `bytes` for every rank
//   skewed   a ramp: rank r has 2 r / (P - 1) of `bytes`, so that the first has nothing and the last twice
//            the mean
//   single   the last rank has everything
//
// The sum is the same for all three. MPI's counts and displacements are int, so beyond 2 GiB they count units
// of several bytes, and every block must be a multiple of the unit.
class Counts {
 public:
  // `blocks`: the receive buffer must hold at least this many blocks of the maximum size. `unit`: size in
  // bytes of the smallest unit, whose datatype is `type`.
  Counts(const Values& values, int ranks, int blocks = 1, std::uint64_t unit = 1,
         MPI_Datatype type = MPI_BYTE)
      : unit_(unit), type_(type) {
    const std::uint64_t mean = values.bytes();
    const std::string& distribution = values.word("counts");
    widen(static_cast<double>(mean) *
              (distribution == "single"   ? ranks
               : distribution == "skewed" ? 2
                                          : 1) *
              blocks,
          static_cast<double>(mean) * ranks);
    if (mean % unit_ != 0)
      throw InvalidCase("bytes=" + std::to_string(mean) + " is no multiple of " + std::to_string(unit_) +
                        (unit_ == unit ? " (reductions sum doubles)"
                                       : " (MPI's displacements are int, so blocks of that size are counted "
                                         "in units of so many bytes)"));
    counts_.reserve(static_cast<std::size_t>(ranks));
    displacements_.reserve(counts_.capacity());
    std::uint64_t before = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::uint64_t units = share(distribution, mean / unit_, static_cast<std::uint64_t>(rank),
                                        static_cast<std::uint64_t>(ranks));
      counts_.push_back(static_cast<int>(units));
      displacements_.push_back(static_cast<int>(before));
      before += units;
    }
    total_ = before * unit_;
    if (unit_ == unit) return;
    MPI_Type_contiguous(static_cast<int>(unit_ / unit), type, &type_);
    MPI_Type_commit(&type_);
    owns_type_ = true;
  }
  ~Counts() {
    if (owns_type_) MPI_Type_free(&type_);
  }
  Counts(const Counts&) = delete;
  Counts& operator=(const Counts&) = delete;

  MPI_Datatype type() const { return type_; }
  // Size of `type()` in bytes.
  std::size_t unit() const { return unit_; }
  const int* counts() const { return counts_.data(); }
  const int* displacements() const { return displacements_.data(); }
  int count(int rank) const { return counts_[static_cast<std::size_t>(rank)]; }

  std::size_t bytes(int rank) const { return static_cast<std::size_t>(count(rank)) * unit_; }
  std::size_t offset(int rank) const {
    return static_cast<std::size_t>(displacements_[static_cast<std::size_t>(rank)]) * unit_;
  }
  std::size_t total() const { return total_; }
  int ranks() const { return static_cast<int>(counts_.size()); }

 private:
  // Doubles the unit until both sizes can be counted with an int.
  void widen(double longest_bytes, double all) {
    const double most = longest_bytes > all ? longest_bytes : all;
    while (most / static_cast<double>(unit_) > INT_MAX) unit_ *= 2;
  }

  // In the ramp, ranks r and P - 1 - r together have exactly twice the mean, despite rounding.
  static std::uint64_t share(const std::string& distribution, std::uint64_t mean, std::uint64_t rank,
                             std::uint64_t ranks) {
    if (distribution == "even" || ranks == 1) return mean;
    if (distribution == "single") return rank + 1 == ranks ? mean * ranks : 0;
    const std::uint64_t mirrored = ranks - 1 - rank;
    if (rank == mirrored) return mean;
    const std::uint64_t lower = rank < mirrored ? rank : mirrored;
    const std::uint64_t lower_share =
        2 * lower * (mean / (ranks - 1)) + 2 * lower * (mean % (ranks - 1)) / (ranks - 1);
    return rank < mirrored ? lower_share : 2 * mean - lower_share;
  }

  std::uint64_t unit_;
  MPI_Datatype type_;
  bool owns_type_ = false;
  std::vector<int> counts_;
  std::vector<int> displacements_;
  std::size_t total_ = 0;
};

inline constexpr Parameter counts_parameter{
    "counts",
    Kind::choice,
    "",
    "even",
    0,
    0,
    "even|skewed|single",
    "block sizes with the same total: even: all equal; skewed: from 0 for the first rank "
    "to twice the mean for the last; single: everything on the last rank"};

}  // namespace hockney
