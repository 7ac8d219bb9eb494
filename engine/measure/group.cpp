// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/group.hpp"

#include <climits>

namespace hockney {

Check Group::check_all_blocks(std::span<const std::byte> found, std::uint64_t seed, const char* what) const {
  Check all;
  for (std::size_t source = 0; source < ranks(); ++source)
    all += check_bytes(found.subspan(source * block_.bytes, block_.bytes), seed, source, what);
  return all;
}

Reduction::Reduction(const Place& place, const Values& values, std::size_t outgoing, std::size_t incoming)
    : Group(place, values, outgoing, incoming) {
  if (block_.bytes % sizeof(double) != 0)
    throw Refusal("bytes=" + std::to_string(block_.bytes) + " is no multiple of 8 (reductions sum doubles)");
  if (block_.bytes / sizeof(double) > INT_MAX)
    throw Refusal("bytes=" + std::to_string(block_.bytes) + " is more doubles than an MPI count can hold");
  elements_ = static_cast<int>(block_.bytes / sizeof(double));
}

void Reduction::fill(std::uint64_t seed) {
  write_reduction(outgoing_.upcoming(), seed, comm_.rank);
  spoil(incoming_.upcoming());
}

}  // namespace hockney
