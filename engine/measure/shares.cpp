// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/shares.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/invalid_case.hpp"
#include "base/random.hpp"
#include "base/words.hpp"

namespace hockney {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& padded_bytes) {
  throw InvalidCase("shares=" + text + " cannot be assigned to the ranks (" + padded_bytes + ")");
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> listed(const std::string& text, int ranks) {
  std::vector<double> values;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t colon = std::min(text.find(':', at), text.size());
    values.push_back(to_real(text.substr(at, colon - at), "shares"));
    if (values.back() <= 0) refuse(text, "every share must be above 0");
    at = colon + 1;
  }
  if (values.size() != static_cast<std::size_t>(ranks))
    refuse(text, "one number for each of " + std::to_string(ranks) + " ranks is required, " +
                     std::to_string(values.size()) + " are given");
  const double middle = mean(values);
  for (double& value : values) value /= middle;
  return values;
}

// A value with mean 0 and standard deviation 1.
double draw_share(const std::string& distribution, std::uint64_t seed, std::uint64_t rank) {
  const double first = uniform(seed, 2 * rank);
  if (distribution == "uniform") return std::sqrt(3.0) * (2 * first - 1);
  if (distribution == "exponential") return -std::log(first) - 1;
  // Method of Box and Muller (1958).
  return std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * uniform(seed, 2 * rank + 1));
}

}  // namespace

std::vector<double> shares(const std::string& text, std::uint64_t seed, int ranks) {
  std::vector<double> values(static_cast<std::size_t>(ranks), 1.0);
  if (text == "equal") return values;
  const std::size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  if (word != "uniform" && word != "normal" && word != "exponential") {
    if (colon == std::string::npos || word.find_first_not_of("0123456789.eE+-") != std::string::npos)
      refuse(text, "equal, numbers such as 3:1:1, uniform:0.2, normal:0.2 or exponential:0.2 is required");
    return listed(text, ranks);
  }
  const double spread = colon == std::string::npos ? 0 : to_real(text.substr(colon + 1), word);
  if (spread <= 0 || spread > 1)
    refuse(text, "a spread above 0 and at most 1 is required, such as " + word + ":0.2");
  for (std::size_t rank = 0; rank < values.size(); ++rank)
    values[rank] = std::max(min_share, 1 + spread * draw_share(word, seed, rank));
  // Rescales the excess above the minimum share, so that no value falls below the minimum.
  const double excess = mean(values) - min_share;
  if (excess <= 0) return std::vector<double>(values.size(), 1.0);
  for (double& value : values) value = min_share + (1 - min_share) * (value - min_share) / excess;
  return values;
}

}  // namespace hockney
