// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Stream final : public PairBase {
 public:
  Stream(const Place& place, const Values& values, std::size_t window)
      : PairBase(place, values, window), requests_(window) {}

  // Sends `window` concurrent messages, then receives an empty reply, so that the clock stops after the last
  // message has arrived.
  void run() override {
    const int window = static_cast<int>(requests_.size());
    if (first()) {
      std::byte* const out = outgoing_.next();
      for (int i = 0; i < window; ++i)
        MPI_Isend(out + i * block_.bytes, block_.count, block_.type, partner_, tag, comm_.handle,
                  &requests_[i]);
      MPI_Waitall(window, requests_.data(), MPI_STATUSES_IGNORE);
      MPI_Recv(nullptr, 0, MPI_BYTE, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      std::byte* const in = incoming_.next();
      for (int i = 0; i < window; ++i)
        MPI_Irecv(in + i * block_.bytes, block_.count, block_.type, partner_, tag, comm_.handle,
                  &requests_[i]);
      MPI_Waitall(window, requests_.data(), MPI_STATUSES_IGNORE);
      MPI_Send(nullptr, 0, MPI_BYTE, partner_, tag, comm_.handle);
    }
  }

  double operations() const override { return static_cast<double>(requests_.size()); }

 private:
  bool receives() const override { return !first(); }

  std::vector<MPI_Request> requests_;
};

constexpr Parameter stream_parameters[] = {parameters::bytes("bytes in each message"), parameters::buffers,
                                           parameters::window};

}  // namespace

extern constinit const WorkloadInfo stream{
    .name = "stream",
    .role = "stream",
    .operation = "isend",
    .size = "bytes",
    .help = "many concurrent messages in one direction (MPI_Isend, MPI_Irecv), then an empty reply",
    .time = "one message of the window",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = stream_parameters,
    .make = [](const Place& place, const Values& values) -> std::unique_ptr<Workload> {
      return std::make_unique<Stream>(place, values, static_cast<std::size_t>(values.integer("window")));
    },
};

}  // namespace hockney::patterns
