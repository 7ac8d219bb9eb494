// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/collective_data.hpp"

namespace hockney {

void BcastBase::fill(const Payload& payload) {
  if (at_root())
    write_bytes(incoming_.upcoming(), payload, static_cast<std::uint64_t>(root_));
  else
    spoil(incoming_.upcoming(), payload);
}

Check BcastBase::verify(const Payload& payload) {
  return check_bytes(incoming_.current(), payload, static_cast<std::uint64_t>(root_), "the vector broadcast");
}

void GatherBase::fill(const Payload& payload) {
  write_bytes(outgoing_.upcoming(), payload.divided_among(ranks()), static_cast<std::uint64_t>(comm_.rank));
  spoil_all_blocks(incoming_.upcoming(), payload);
}

Check GatherBase::verify(const Payload& payload) {
  return at_root() ? check_all_blocks(incoming_.current(), payload, "a block gathered") : Check{};
}

void ScatterBase::fill(const Payload& payload) {
  spoil(incoming_.upcoming(), payload);
  if (!at_root()) return;
  for (std::size_t to = 0; to < ranks(); ++to)
    write_bytes(outgoing_.upcoming().subspan(to * block_.bytes, block_.bytes), payload, to);
}

Check ScatterBase::verify(const Payload& payload) {
  return check_bytes(incoming_.current(), payload, static_cast<std::uint64_t>(comm_.rank),
                     "the block scattered");
}

void AllgatherBase::fill(const Payload& payload) {
  write_bytes(outgoing_.upcoming(), payload.divided_among(ranks()), static_cast<std::uint64_t>(comm_.rank));
  spoil_all_blocks(incoming_.upcoming(), payload);
}

Check AllgatherBase::verify(const Payload& payload) {
  return check_all_blocks(incoming_.current(), payload, "a block gathered");
}

void AlltoallBase::fill(const Payload& payload) {
  const Payload part = payload.divided_among(ranks());
  for (std::size_t to = 0; to < ranks(); ++to)
    write_bytes(outgoing_.upcoming().subspan(to * block_.bytes, block_.bytes), part,
                channel(comm_, comm_.rank, static_cast<int>(to)));
  spoil_all_blocks(incoming_.upcoming(), payload);
}

Check AlltoallBase::verify(const Payload& payload) {
  Check all;
  const Payload part = payload.divided_among(ranks());
  for (std::size_t from = 0; from < ranks(); ++from)
    all += check_bytes(incoming_.current().subspan(from * block_.bytes, block_.bytes), part,
                       channel(comm_, static_cast<int>(from), comm_.rank), "a block exchanged");
  return all;
}

Check ReduceBase::verify(const Payload& payload) {
  return at_root() ? check_reduced(incoming_.current(), payload, 0, factor_sum(comm_.size), "the sum")
                   : Check{};
}

Check AllreduceBase::verify(const Payload& payload) {
  return check_reduced(incoming_.current(), payload, 0, factor_sum(comm_.size), "the sum");
}

Check ReduceScatterBlockBase::verify(const Payload& payload) {
  const std::size_t first = static_cast<std::size_t>(comm_.rank) * static_cast<std::size_t>(elements());
  return check_reduced(incoming_.current(), payload, first, factor_sum(comm_.size), "the block of the sum");
}

Check ScanBase::verify(const Payload& payload) {
  return check_reduced(incoming_.current(), payload, 0, factor_sum(comm_.rank + 1), "the partial sum");
}

// MPI leaves rank 0's result undefined.
Check ExscanBase::verify(const Payload& payload) {
  if (comm_.root()) return {};
  return check_reduced(incoming_.current(), payload, 0, factor_sum(comm_.rank),
                       "the sum of the ranks before");
}

}  // namespace hockney
