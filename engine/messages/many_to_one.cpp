// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "base/invalid_case.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"
#include "messages/pairs.hpp"

namespace hockney::messages {
namespace {

// Ranks 1 to `senders` send windows of messages to rank 0, which posts one receive per message and ends each
// window with an empty reply. With source=any, a receive matches the next message from any sender.
class ManyToOne final : public Workload {
 public:
  ManyToOne(const Place& place, const Values& values)
      : comm_(place.comm),
        block_(values.bytes()),
        any_(values.word("source") == "any"),
        window_(static_cast<std::size_t>(values.integer("window"))),
        senders_(senders_of(place, values)),
        sends_(comm_.rank >= 1 && comm_.rank <= senders_),
        messages_(window_ * static_cast<std::size_t>(senders_)),
        memory_(place.arena,
                values.bytes() * (comm_.root() ? messages_
                                  : sends_     ? window_
                                               : 0),
                "hot"),
        requests_(comm_.root() ? messages_ : window_),
        statuses_(requests_.size()) {}

  void run() override {
    if (comm_.root()) {
      for (std::size_t i = 0; i < messages_; ++i)
        MPI_Irecv(place(i), block_.count, block_.type, any_ ? MPI_ANY_SOURCE : sender_of(i), tag,
                  comm_.handle, &requests_[i]);
      MPI_Waitall(static_cast<int>(messages_), requests_.data(), statuses_.data());
      for (int sender = 1; sender <= senders_; ++sender)
        MPI_Send(nullptr, 0, MPI_BYTE, sender, answer_tag, comm_.handle);
    } else if (sends_) {
      for (std::size_t i = 0; i < window_; ++i)
        MPI_Isend(place(i), block_.count, block_.type, 0, tag, comm_.handle, &requests_[i]);
      MPI_Waitall(static_cast<int>(window_), requests_.data(), MPI_STATUSES_IGNORE);
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, answer_tag, comm_.handle, MPI_STATUS_IGNORE);
    }
  }

  void fill(const Payload& payload) override {
    const Payload part = payload.shared_by(messages_);
    if (comm_.root())
      for (std::size_t i = 0; i < messages_; ++i) spoil(message(i), part);
    else if (sends_)
      for (std::size_t i = 0; i < window_; ++i) write_bytes(message(i), part, identity(comm_.rank, i));
  }

  // Messages from one sender arrive in the order in which they were sent.
  Check verify(const Payload& payload) override {
    Check all;
    if (!comm_.root()) return all;
    const Payload part = payload.shared_by(messages_);
    std::vector<std::size_t> seen(static_cast<std::size_t>(comm_.size));
    for (std::size_t i = 0; i < messages_; ++i) {
      const int from = statuses_[i].MPI_SOURCE;
      const bool expected = from >= 1 && from <= senders_ && seen[static_cast<std::size_t>(from)] < window_;
      if (!expected) return {all.bytes, 1, "a message came from rank " + std::to_string(from)};
      all += check_bytes(message(i), part, identity(from, seen[static_cast<std::size_t>(from)]++),
                         "a message received");
    }
    return all;
  }

  bool keeps_payload() const override { return true; }
  // Counts all messages, so that the inverse of the time is the message rate.
  double operations() const override { return static_cast<double>(messages_); }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 private:
  static constexpr int tag = 1;
  static constexpr int answer_tag = 2;

  static int senders_of(const Place& place, const Values& values) {
    const std::int64_t senders = values.integer("senders");
    const int most = place.comm.size - 1;
    if (senders > most)
      throw InvalidCase("senders=" + std::to_string(senders) + " needs " + std::to_string(senders + 1) +
                        " ranks, but there are " + std::to_string(place.comm.size));
    return senders == 0 ? most : static_cast<int>(senders);
  }
  int sender_of(std::size_t message) const { return static_cast<int>(message / window_) + 1; }
  std::uint64_t identity(int sender, std::size_t message) const {
    return static_cast<std::uint64_t>(sender) * window_ + message;
  }
  std::byte* place(std::size_t index) { return memory_.upcoming().data() + index * block_.bytes; }
  std::span<std::byte> message(std::size_t index) {
    return memory_.upcoming().subspan(index * block_.bytes, block_.bytes);
  }

  const Comm& comm_;
  const Block block_;
  const bool any_;
  const std::size_t window_;
  const int senders_;
  const bool sends_;
  const std::size_t messages_;
  Buffer memory_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
};

constexpr Parameter many_to_one_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"senders", Kind::integer, "", "0", 0, 1e7, "",
     "number of senders, from rank 1 on (0: all except rank 0)"},
    source,
    {"window", Kind::integer, "", "16", 1, 4096, "", "concurrent messages of each sender"}};

}  // namespace

extern constinit const WorkloadInfo many_to_one{
    .name = "many_to_one",
    .role = "messages",
    .operation = "many_to_one",
    .size = "bytes",
    .help = "many ranks send many concurrent messages to rank 0 (MPI_Isend, MPI_Irecv)",
    .time = "divided by the number of messages of all senders: the inverse is the message rate",
    .min_ranks = 2,
    .timing = Timing::root,
    .parameters = many_to_one_parameters,
    .make = make<ManyToOne>,
};

}  // namespace hockney::messages
