// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/collective_base.hpp"

#include <climits>

namespace hockney {

Check CollectiveBase::check_all_blocks(std::span<const std::byte> actual, std::uint64_t seed,
                                       const char* what) const {
  Check all;
  for (std::size_t source = 0; source < ranks(); ++source)
    all += check_bytes(actual.subspan(source * block_.bytes, block_.bytes), seed, source, what);
  return all;
}

Reduction::Reduction(const Place& place, const Values& values, std::size_t outgoing, std::size_t incoming)
    : CollectiveBase(place, reducible(values), outgoing, incoming),
      elements_(static_cast<int>(block_.bytes / sizeof(double))) {}

const Values& Reduction::reducible(const Values& values) {
  const std::uint64_t bytes = values.bytes();
  if (bytes % sizeof(double) != 0)
    throw InvalidCase("bytes=" + std::to_string(bytes) + " is no multiple of 8 (reductions sum doubles)");
  if (bytes / sizeof(double) > INT_MAX)
    throw InvalidCase("bytes=" + std::to_string(bytes) + " is more doubles than an MPI count can hold");
  return values;
}

void Reduction::fill(std::uint64_t seed) {
  write_reduction(outgoing_.upcoming(), seed, comm_.rank);
  spoil(incoming_.upcoming());
}

}  // namespace hockney
