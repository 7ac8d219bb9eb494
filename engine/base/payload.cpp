// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"

#include <algorithm>
#include <cstring>

namespace hockney {
namespace {

// The words of a payload are a Weyl sequence whose start depends on seed and source. All words of a payload
// differ, payloads of different ranks are unrelated, and generating eight bytes costs one addition, so that
// verification takes little of the measuring time.
std::uint64_t start_of(std::uint64_t seed, std::uint64_t source) {
  return mix(seed ^ mix(source));
}

std::size_t first_difference(const std::byte* actual, std::uint64_t word, std::size_t length) {
  std::byte wanted[8];
  std::memcpy(wanted, &word, sizeof wanted);
  std::size_t offset = 0;
  while (offset < length && actual[offset] == wanted[offset]) ++offset;
  return offset;
}

}  // namespace

void write_payload(std::span<std::byte> to, std::uint64_t seed, std::uint64_t source, std::size_t words) {
  std::uint64_t word = start_of(seed, source) + words * weyl_step;
  const std::size_t whole = to.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8, word += weyl_step) std::memcpy(to.data() + at, &word, 8);
  // An empty span may have a null address, which memcpy does not accept.
  if (whole < to.size()) std::memcpy(to.data() + whole, &word, to.size() - whole);
}

std::optional<std::size_t> check_payload(std::span<const std::byte> actual, std::uint64_t seed,
                                         std::uint64_t source, std::size_t words) {
  std::uint64_t word = start_of(seed, source) + words * weyl_step;
  const std::size_t whole = actual.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8, word += weyl_step) {
    std::uint64_t there = 0;
    std::memcpy(&there, actual.data() + at, 8);
    if (there != word) return at + first_difference(actual.data() + at, word, 8);
  }
  const std::size_t rest = actual.size() - whole;
  const std::size_t offset = first_difference(actual.data() + whole, word, rest);
  return offset < rest ? std::optional(whole + offset) : std::nullopt;
}

}  // namespace hockney
