// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"
#include "measure/collective_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

// Juurlink (1998), section on the bisection bandwidth: each rank i of the lower
// half sends to rank p - i - 1, so that all messages cross the middle of a line.
// With direction=both the upper half sends back at the same time.
class Bisection final : public CollectiveBase {
 public:
  Bisection(const Place& place, const Values& values)
      : CollectiveBase(place, require_even_ranks(place, values), 1, 1),
        both_(values.word("direction") == "both"),
        lower_(comm_.rank < comm_.size / 2),
        partner_(comm_.size - comm_.rank - 1) {}

  void run() override {
    std::byte* const out = outgoing_.next();
    std::byte* const incoming = incoming_.next();
    if (both_)
      MPI_Sendrecv(out, block_.count, block_.type, partner_, tag, incoming, block_.count, block_.type,
                   partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    else if (lower_)
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
    else
      MPI_Recv(incoming, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
  }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_.upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    spoil(incoming_.upcoming(), payload);
  }

  Check verify(const Payload& payload) override {
    if (lower_ && !both_) return {};
    return check_bytes(incoming_.current(), payload, static_cast<std::uint64_t>(partner_),
                       "the message over the middle");
  }

  // Counts all data that cross the middle.
  std::uint64_t bytes_moved() const override { return block_.bytes * (ranks() / 2) * (both_ ? 2 : 1); }

 private:
  static constexpr int tag = 1;

  // Returns `values`. Throws InvalidCase if a rank would have no partner; called before memory is allocated.
  static const Values& require_even_ranks(const Place& place, const Values& values) {
    if (place.comm.size % 2 != 0)
      throw InvalidCase("ranks=" + std::to_string(place.comm.size) +
                        " is odd (bisection needs two equal halves)");
    return values;
  }

  const bool both_;
  const bool lower_;
  const int partner_;
};

constexpr Parameter bisection_parameters[] = {
    parameters::bytes("bytes in each message"),
    parameters::buffers,
    {"direction", Kind::choice, "", "one", 0, 0, "one|both",
     "one: the lower half of the ranks sends; both: the upper half sends back at the same time"},
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo bisection{
    .name = "bisection",
    .role = "exchange",
    .operation = "bisection",
    .size = "bytes",
    .help = "each rank i of the lower half sends to rank p - i - 1, all at the same time",
    .time = "the maximum over the ranks",
    .min_ranks = 2,
    .timing = Timing::longest,
    .parameters = bisection_parameters,
    .make = make<Bisection>,
};

}  // namespace hockney::patterns
