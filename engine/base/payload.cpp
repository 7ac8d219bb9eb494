// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"

#include <algorithm>
#include <cstring>

namespace hockney {
namespace {

// First word of a payload. The words form a Weyl sequence that starts at a value depending on seed and
// source. All words of a payload differ, payloads of different ranks are unrelated, and generating eight
// bytes costs one addition, so that verification takes little of the measuring time.
std::uint64_t start_of(std::uint64_t seed, std::uint64_t source) {
  return mix(seed ^ mix(source));
}

std::size_t first_difference(const std::byte* actual, std::uint64_t word, std::size_t length) {
  std::byte expected_bytes[8];
  std::memcpy(expected_bytes, &word, sizeof expected_bytes);
  std::size_t offset = 0;
  while (offset < length && actual[offset] == expected_bytes[offset]) ++offset;
  return offset;
}

}  // namespace

void write_payload(std::span<std::byte> to, std::uint64_t seed, std::uint64_t source, std::size_t words) {
  std::uint64_t word = start_of(seed, source) + words * weyl_step;
  const std::size_t whole_bytes = to.size() / 8 * 8;
  for (std::size_t offset = 0; offset < whole_bytes; offset += 8, word += weyl_step)
    std::memcpy(to.data() + offset, &word, 8);
  // An empty span may have a null address, which memcpy does not accept.
  if (whole_bytes < to.size()) std::memcpy(to.data() + whole_bytes, &word, to.size() - whole_bytes);
}

std::optional<std::size_t> check_payload(std::span<const std::byte> actual, std::uint64_t seed,
                                         std::uint64_t source, std::size_t words) {
  std::uint64_t word = start_of(seed, source) + words * weyl_step;
  const std::size_t whole_bytes = actual.size() / 8 * 8;
  for (std::size_t offset = 0; offset < whole_bytes; offset += 8, word += weyl_step) {
    std::uint64_t actual_word = 0;
    std::memcpy(&actual_word, actual.data() + offset, 8);
    if (actual_word != word) return offset + first_difference(actual.data() + offset, word, 8);
  }
  const std::size_t remaining_bytes = actual.size() - whole_bytes;
  const std::size_t offset = first_difference(actual.data() + whole_bytes, word, remaining_bytes);
  return offset < remaining_bytes ? std::optional(whole_bytes + offset) : std::nullopt;
}

}  // namespace hockney
