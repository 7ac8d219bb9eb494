// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/collective_base.hpp"

#include <climits>

namespace hockney {

void CollectiveBase::spoil_all_blocks(std::span<std::byte> place, const Payload& payload) const {
  if (place.empty()) return;  // not the root
  const Payload part = payload.divided_among(ranks());
  for (std::size_t source = 0; source < ranks(); ++source)
    spoil(place.subspan(source * block_.bytes, block_.bytes), part);
}

Check CollectiveBase::check_all_blocks(std::span<const std::byte> actual, const Payload& payload,
                                       const char* what) const {
  Check all;
  const Payload part = payload.divided_among(ranks());
  for (std::size_t source = 0; source < ranks(); ++source)
    all += check_bytes(actual.subspan(source * block_.bytes, block_.bytes), part, source, what);
  return all;
}

Reduction::Reduction(const Place& place, const Values& values, std::size_t outgoing, std::size_t incoming)
    : CollectiveBase(place, require_reducible(values), outgoing, incoming),
      elements_(static_cast<int>(block_.bytes / sizeof(double))) {}

const Values& Reduction::require_reducible(const Values& values) {
  const std::uint64_t bytes = values.bytes();
  if (bytes % sizeof(double) != 0)
    throw InvalidCase("bytes=" + std::to_string(bytes) + " is not a multiple of 8 (reductions sum doubles)");
  if (bytes / sizeof(double) > INT_MAX)
    throw InvalidCase("bytes=" + std::to_string(bytes) + " is more doubles than an MPI count can hold");
  return values;
}

void Reduction::fill(const Payload& payload) {
  write_reduction(outgoing_.upcoming(), payload.seed, comm_.rank);
  spoil(incoming_.upcoming(), payload);
}

}  // namespace hockney
