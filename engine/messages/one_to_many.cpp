// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "base/invalid_case.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::messages {
namespace {

// Rank 0 sends a window of messages to each of the ranks 1 to `receivers`, which post a receive for each and
// end the window with an empty answer.
class OneToMany final : public Workload {
 public:
  OneToMany(const Place& place, const Values& values)
      : comm_(place.comm),
        block_(values.bytes()),
        window_(static_cast<std::size_t>(values.integer("window"))),
        receivers_(receivers_of(place, values)),
        receives_(comm_.rank >= 1 && comm_.rank <= receivers_),
        messages_(window_ * static_cast<std::size_t>(receivers_)),
        memory_(place.arena,
                values.bytes() * (comm_.root() ? messages_
                                  : receives_  ? window_
                                               : 0),
                "hot"),
        requests_(comm_.root() ? messages_ : window_) {}

  void run() override {
    if (comm_.root()) {
      for (std::size_t i = 0; i < messages_; ++i)
        MPI_Isend(place(i), block_.count, block_.type, receiver_of(i), tag, comm_.handle, &requests_[i]);
      MPI_Waitall(static_cast<int>(messages_), requests_.data(), MPI_STATUSES_IGNORE);
      for (int receiver = 1; receiver <= receivers_; ++receiver)
        MPI_Recv(nullptr, 0, MPI_BYTE, receiver, answer_tag, comm_.handle, MPI_STATUS_IGNORE);
    } else if (receives_) {
      for (std::size_t i = 0; i < window_; ++i)
        MPI_Irecv(place(i), block_.count, block_.type, 0, tag, comm_.handle, &requests_[i]);
      MPI_Waitall(static_cast<int>(window_), requests_.data(), MPI_STATUSES_IGNORE);
      MPI_Send(nullptr, 0, MPI_BYTE, 0, answer_tag, comm_.handle);
    }
  }

  void fill(const Payload& payload) override {
    const Payload part = payload.shared_by(messages_);
    if (comm_.root())
      for (std::size_t i = 0; i < messages_; ++i) write_bytes(message(i), part, i);
    else if (receives_)
      for (std::size_t i = 0; i < window_; ++i) spoil(message(i), part);
  }

  Check verify(const Payload& payload) override {
    Check all;
    if (!receives_) return all;
    const Payload part = payload.shared_by(messages_);
    const std::size_t before = static_cast<std::size_t>(comm_.rank - 1) * window_;
    for (std::size_t i = 0; i < window_; ++i)
      all += check_bytes(message(i), part, before + i, "a message received");
    return all;
  }

  bool keeps_payload() const override { return true; }
  // All messages, so that the inverse of a time is the message rate.
  double operations() const override { return static_cast<double>(messages_); }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 private:
  static constexpr int tag = 1;
  static constexpr int answer_tag = 2;

  static int receivers_of(const Place& place, const Values& values) {
    const std::int64_t receivers = values.integer("receivers");
    const int most = place.comm.size - 1;
    if (receivers > most)
      throw InvalidCase("receivers=" + std::to_string(receivers) + " needs " + std::to_string(receivers + 1) +
                        " ranks, but there are " + std::to_string(place.comm.size));
    return receivers == 0 ? most : static_cast<int>(receivers);
  }
  int receiver_of(std::size_t message) const { return static_cast<int>(message / window_) + 1; }
  std::byte* place(std::size_t index) { return memory_.upcoming().data() + index * block_.bytes; }
  std::span<std::byte> message(std::size_t index) {
    return memory_.upcoming().subspan(index * block_.bytes, block_.bytes);
  }

  const Comm& comm_;
  const Block block_;
  const std::size_t window_;
  const int receivers_;
  const bool receives_;
  const std::size_t messages_;
  Buffer memory_;
  std::vector<MPI_Request> requests_;
};

constexpr Parameter one_to_many_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"receivers", Kind::integer, "", "0", 0, 1e7, "", "ranks 1 to this one receive (0: all but rank 0)"},
    {"window", Kind::integer, "", "16", 1, 4096, "", "concurrent messages to each receiver"}};

}  // namespace

extern constinit const WorkloadInfo one_to_many{
    .name = "one_to_many",
    .role = "messages",
    .operation = "one_to_many",
    .size = "bytes",
    .help = "rank 0 sends many concurrent messages to many ranks (MPI_Isend, MPI_Irecv)",
    .time = "divided by the messages to all receivers: its inverse is the message rate",
    .min_ranks = 2,
    .timing = Timing::root,
    .parameters = one_to_many_parameters,
    .make = make<OneToMany>,
};

}  // namespace hockney::messages
