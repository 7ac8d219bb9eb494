// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/checking.hpp"

#include <algorithm>
#include <cstring>

#include "base/payload.hpp"
#include "base/random.hpp"

namespace hockney {
namespace {

// Payloads and sums consist of words of eight bytes.
constexpr std::size_t word = 8;

// The part of a message of `bytes` bytes that is written and compared. It begins at a whole word.
struct Part {
  std::size_t begin;
  std::size_t bytes;
};

Part part_of(std::size_t bytes, const Payload& payload) {
  if (bytes <= payload.most) return {0, bytes};
  const std::size_t written = std::max(payload.most / word, std::size_t{1}) * word;
  if (bytes <= written) return {0, bytes};
  // The last position includes the bytes after the last whole word.
  const std::size_t places = (bytes - written) / word + 1;
  const std::size_t place = mix(payload.seed) % places;
  return {place * word, place + 1 == places ? bytes - place * word : written};
}

Check mismatch(const Part& part, const char* what, std::size_t offset, std::size_t bytes) {
  return {part.bytes, 1,
          std::string(what) + " differs at byte " + std::to_string(offset) + " of " + std::to_string(bytes)};
}

}  // namespace

Payload Payload::shared_by(std::size_t messages) const {
  return {seed, most / std::max<std::size_t>(messages, 1)};
}

void write_bytes(std::span<std::byte> to, const Payload& payload, std::uint64_t source) {
  const Part part = part_of(to.size(), payload);
  write_payload(to.subspan(part.begin, part.bytes), payload.seed, source, part.begin / word);
}

void spoil(std::span<std::byte> place, const Payload& payload) {
  const Part part = part_of(place.size(), payload);
  if (part.bytes) std::memset(place.data() + part.begin, 0xA5, part.bytes);
}

Check check_bytes(std::span<const std::byte> actual, const Payload& payload, std::uint64_t source,
                  const char* what) {
  const Part part = part_of(actual.size(), payload);
  const auto offset =
      check_payload(actual.subspan(part.begin, part.bytes), payload.seed, source, part.begin / word);
  return offset ? mismatch(part, what, part.begin + *offset, actual.size()) : Check{part.bytes, 0, ""};
}

Check check_reduced(std::span<const std::byte> actual, const Payload& payload, std::size_t first,
                    double scale, const char* what) {
  const Part part = part_of(actual.size(), payload);
  for (std::size_t at = part.begin; at + word <= part.begin + part.bytes; at += word) {
    double element = 0;
    std::memcpy(&element, actual.data() + at, sizeof element);
    if (element != scale * reduction_element(payload.seed, first + at / word))
      return mismatch(part, what, at, actual.size());
  }
  return {part.bytes, 0, ""};
}

void write_reduction(std::span<std::byte> to, std::uint64_t seed, int rank) {
  for (std::size_t i = 0; i < to.size() / sizeof(double); ++i) {
    const double element = (rank + 1) * reduction_element(seed, i);
    std::memcpy(to.data() + i * sizeof element, &element, sizeof element);
  }
}

}  // namespace hockney
