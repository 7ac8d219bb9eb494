// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/checking.hpp"

#include <algorithm>
#include <cstring>

#include "base/payload.hpp"
#include "base/random.hpp"

namespace hockney {
namespace {

// Payloads and sums consist of eight-byte words.
constexpr std::size_t word_bytes = 8;

// The part of a message of `bytes` bytes that is written and compared. It begins at a whole word.
struct Part {
  std::size_t begin;
  std::size_t bytes;
};

Part part_of(std::size_t bytes, const Payload& payload) {
  if (bytes <= payload.max_bytes) return {0, bytes};
  const std::size_t written = std::max(payload.max_bytes / word_bytes, std::size_t{1}) * word_bytes;
  if (bytes <= written) return {0, bytes};
  // The last position includes the bytes after the last whole word.
  const std::size_t slots = (bytes - written) / word_bytes + 1;
  const std::size_t target = mix(payload.seed) % slots;
  return {target * word_bytes, target + 1 == slots ? bytes - target * word_bytes : written};
}

Check mismatch(const Part& part, const char* description, std::size_t offset, std::size_t bytes) {
  return {part.bytes, 1,
          std::string(description) + " differs at byte " + std::to_string(offset) + " of " +
              std::to_string(bytes)};
}

}  // namespace

Payload Payload::divided_among(std::size_t messages) const {
  return {seed, max_bytes / std::max<std::size_t>(messages, 1)};
}

void write_bytes(std::span<std::byte> target, const Payload& payload, std::uint64_t source) {
  const Part part = part_of(target.size(), payload);
  write_payload(target.subspan(part.begin, part.bytes), payload.seed, source, part.begin / word_bytes);
}

void spoil(std::span<std::byte> target, const Payload& payload) {
  const Part part = part_of(target.size(), payload);
  if (part.bytes) std::memset(target.data() + part.begin, 0xA5, part.bytes);
}

Check check_bytes(std::span<const std::byte> actual, const Payload& payload, std::uint64_t source,
                  const char* description) {
  const Part part = part_of(actual.size(), payload);
  const auto offset =
      check_payload(actual.subspan(part.begin, part.bytes), payload.seed, source, part.begin / word_bytes);
  return offset ? mismatch(part, description, part.begin + *offset, actual.size()) : Check{part.bytes, 0, ""};
}

Check check_reduced(std::span<const std::byte> actual, const Payload& payload, std::size_t first,
                    double scale, const char* description) {
  const Part part = part_of(actual.size(), payload);
  for (std::size_t at = part.begin; at + word_bytes <= part.begin + part.bytes; at += word_bytes) {
    double element = 0;
    std::memcpy(&element, actual.data() + at, sizeof element);
    if (element != scale * reduction_element(payload.seed, first + at / word_bytes))
      return mismatch(part, description, at, actual.size());
  }
  return {part.bytes, 0, ""};
}

void write_reduction(std::span<std::byte> target, std::uint64_t seed, int rank) {
  for (std::size_t i = 0; i < target.size() / sizeof(double); ++i) {
    const double element = (rank + 1) * reduction_element(seed, i);
    std::memcpy(target.data() + i * sizeof element, &element, sizeof element);
  }
}

}  // namespace hockney
