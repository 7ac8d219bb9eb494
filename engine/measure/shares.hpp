// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hockney {

// Each rank's share of the parallel work relative to the mean, as described by `text`:
//
//   equal             1 for every rank
//   3:1:1             in these proportions, one positive number for each rank
//   uniform:S         drawn for each rank with mean 1 and standard deviation S: from an interval,
//   normal:S          from the normal distribution,
//   exponential:S     as 1 - S and an exponential of mean S
//
// S is above 0 and at most 1. Drawn values depend on `seed` and the rank only, are at least `min_share`,
// and are scaled to a mean of exactly 1. Throws InvalidCase.
std::vector<double> shares(const std::string& text, std::uint64_t seed, int ranks);

inline constexpr double min_share = 0.01;

}  // namespace hockney
