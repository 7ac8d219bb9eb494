// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/clock.hpp"
#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

// PRTT(n, d, s), the parametrised round trip of Hoefler, Lichei and Rehm (2007): n messages of s bytes with a
// pause d after each but the last, then one message of s bytes back. LogGP's o_s, g and G follow from
// differences of such times.
class ParametrisedRoundTrip final : public PairBase {
 public:
  ParametrisedRoundTrip(const Place& place, const Values& values)
      : PairBase(place, values), messages_(values.integer("messages")), delay_s_(values.real("delay")) {}

  void run() override {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    if (first()) {
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
      for (std::int64_t i = 1; i < messages_; ++i) {
        spin(delay_s_);
        MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
      }
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      for (std::int64_t i = 0; i < messages_; ++i)
        MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
    }
  }

  std::uint64_t bytes_moved() const override {
    return block_.bytes * static_cast<std::uint64_t>(messages_ + 1);
  }

 private:
  const std::int64_t messages_;
  const double delay_s_;
};

constexpr Parameter parameters[] = {
    parameters::bytes("bytes in each message (s)"),
    {"messages", Kind::integer, "", "1", 1, 1e6, "", "messages before the answer (n)"},
    {"delay", Kind::real, "s", "0", 0, 10, "", "pause between two messages (d)"},
};

}  // namespace

extern constinit const WorkloadInfo prtt{
    .name = "prtt",
    .role = "train",
    .operation = "isend",
    .size = "bytes",
    .help = "parametrised round trip PRTT(n, d, s), from which LogGP's parameters follow",
    .time = "the whole round trip",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = parameters,
    .make = make<ParametrisedRoundTrip>,
};

}  // namespace hockney::patterns
