// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/pair_base.hpp"

#include "base/payload.hpp"

namespace hockney {

void PairBase::fill(const Payload& payload) {
  write_bytes(outgoing_.upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
  spoil(incoming_.upcoming(), payload);
}

Check PairBase::verify(const Payload& payload) {
  return receives() ? check_bytes(incoming_.current(), payload, static_cast<std::uint64_t>(partner_),
                                  "the message received")
                    : Check{};
}

}  // namespace hockney
