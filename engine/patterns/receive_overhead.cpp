// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "base/clock.hpp"
#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

// LogGP's o_r: MPI_Recv of a message that has already arrived. Rank 1 sends before the clock starts and then
// sends a last message as a marker. Some time after the marker has arrived, only rank 0's receive is timed.
class ReceiveOverhead final : public PairBase {
 public:
  ReceiveOverhead(const Place& place, const Values& values)
      : PairBase(place, values), delay_s_(values.real("delay")) {}
  ~ReceiveOverhead() override { finish_sends(); }

  void prepare(int count) override {
    if (first()) {
      MPI_Recv(incoming_.next(), block_.count, block_.type, partner_, end_tag, comm_.handle,
               MPI_STATUS_IGNORE);
      spin(delay_s_);
      return;
    }
    finish_sends();
    requests_.resize(static_cast<std::size_t>(count));
    std::byte* const out = outgoing_.next();
    for (MPI_Request& request : requests_)
      MPI_Isend(out, block_.count, block_.type, partner_, tag, comm_.handle, &request);
    MPI_Send(out, block_.count, block_.type, partner_, end_tag, comm_.handle);
  }

  void run() override {
    if (first())
      MPI_Recv(incoming_.next(), block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
  }

 private:
  static constexpr int end_tag = tag + 1;

  bool receives() const override { return first(); }

  void finish_sends() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

  const double delay_s_;
  std::vector<MPI_Request> requests_;
};

constexpr Parameter receive_overhead_parameters[] = {
    parameters::bytes("bytes in the message"),
    {"delay", Kind::real, "s", "1e-05", 0, 10, "",
     "time allowed for the message to arrive before it is received"},
    {"sync", Kind::choice, "", "barrier", 0, 0, "barrier", "a barrier between arrival and receive"},
};

}  // namespace

extern constinit const WorkloadInfo receive_overhead{
    .name = "receive_overhead",
    .role = "overhead",
    .operation = "recv",
    .size = "bytes",
    .help = "MPI_Recv of a message that has already arrived (LogGP's o_r)",
    .time = "the receive call",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = receive_overhead_parameters,
    .make = make<ReceiveOverhead>,
};

}  // namespace hockney::patterns
