// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/checking.hpp"

#include <cstring>

#include "base/payload.hpp"

namespace hockney {
namespace {

Check mismatch(std::uint64_t bytes, const char* what, std::size_t offset) {
  return {bytes, 1,
          std::string(what) + " differs at byte " + std::to_string(offset) + " of " + std::to_string(bytes)};
}

}  // namespace

void spoil(std::span<std::byte> place) {
  if (!place.empty()) std::memset(place.data(), 0xA5, place.size());
}

Check check_bytes(std::span<const std::byte> actual, std::uint64_t seed, std::uint64_t source,
                  const char* what) {
  const auto offset = check_payload(actual, seed, source);
  return offset ? mismatch(actual.size(), what, *offset) : Check{actual.size(), 0, ""};
}

Check check_reduced(std::span<const std::byte> actual, std::uint64_t seed, std::size_t first, double scale,
                    const char* what) {
  for (std::size_t i = 0; i < actual.size() / sizeof(double); ++i) {
    double element = 0;
    std::memcpy(&element, actual.data() + i * sizeof element, sizeof element);
    if (element != scale * reduction_element(seed, first + i))
      return mismatch(actual.size(), what, i * sizeof element);
  }
  return {actual.size(), 0, ""};
}

void write_reduction(std::span<std::byte> to, std::uint64_t seed, int rank) {
  for (std::size_t i = 0; i < to.size() / sizeof(double); ++i) {
    const double element = (rank + 1) * reduction_element(seed, i);
    std::memcpy(to.data() + i * sizeof element, &element, sizeof element);
  }
}

}  // namespace hockney
