// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/pair_base.hpp"

#include "base/payload.hpp"

namespace hockney {

void PairBase::fill(std::uint64_t seed) {
  write_payload(outgoing_.upcoming(), seed, static_cast<std::uint64_t>(comm_.rank));
  spoil(incoming_.upcoming());
}

Check PairBase::verify(std::uint64_t seed) {
  return receives() ? check_bytes(incoming_.taken(), seed, static_cast<std::uint64_t>(partner_),
                                  "the message received")
                    : Check{};
}

}  // namespace hockney
