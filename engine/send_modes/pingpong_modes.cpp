// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <climits>

#include "base/invalid_case.hpp"
#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::send_modes {
namespace {

// One round trip; the subclasses differ in the calls.
class ModePingPong : public PairBase {
 public:
  using PairBase::PairBase;

  double operations() const final { return 2; }
};

class StandardReceive : public ModePingPong {
 public:
  using ModePingPong::ModePingPong;

  void run() final {
    if (first()) send();
    MPI_Recv(incoming_.next(), block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    if (!first()) send();
  }

 private:
  virtual void send() = 0;
};

class Standard final : public StandardReceive {
 public:
  using StandardReceive::StandardReceive;

 private:
  void send() override { MPI_Send(outgoing_.next(), block_.count, block_.type, partner_, tag, comm_.handle); }
};

// A synchronous send completes only after its receive has started.
class Synchronous final : public StandardReceive {
 public:
  using StandardReceive::StandardReceive;

 private:
  void send() override {
    MPI_Ssend(outgoing_.next(), block_.count, block_.type, partner_, tag, comm_.handle);
  }
};

// MPI first copies each message into the attached buffer.
class Buffered final : public StandardReceive {
 public:
  Buffered(const Place& place, const Values& values)
      : StandardReceive(place, require_attachable(values)),
        attached_buffer_(place.arena, room(values), "hot") {
    MPI_Buffer_attach(attached_buffer_.next(), static_cast<int>(room(values)));
  }
  ~Buffered() override {
    void* memory = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(static_cast<void*>(&memory), &bytes);
  }

 private:
  // A message that has arrived may still occupy the buffer until MPI notices.
  static constexpr std::uint64_t messages = 4;

  void send() override {
    MPI_Bsend(outgoing_.next(), block_.count, block_.type, partner_, tag, comm_.handle);
  }

  static std::uint64_t room(const Values& values) { return messages * (values.bytes() + MPI_BSEND_OVERHEAD); }
  // Returns `values`. Throws InvalidCase if the buffer for the messages would be too large; called before
  // memory is allocated.
  static const Values& require_attachable(const Values& values) {
    if (room(values) > INT_MAX)
      throw InvalidCase("bytes=" + std::to_string(values.bytes()) +
                        " is too long for mode=buffered (MPI_Buffer_attach takes at most 2 GiB, for " +
                        std::to_string(messages) + " messages)");
    return values;
  }

  Buffer attached_buffer_;
};

// A ready send requires a posted receive. Rank 0 posts the receive of the reply before it sends, and rank 1
// posts the next receive before it replies, so rank 1 always has a receive pending, alternately in one of two
// slots.
class Ready final : public ModePingPong {
 public:
  Ready(const Place& place, const Values& values) : ModePingPong(place, values, 2) {}
  ~Ready() override { cancel(); }

  void prepare(int) override {
    if (receiving_) return;
    receiving_ = true;
    if (first()) {
      MPI_Recv(nullptr, 0, MPI_BYTE, partner_, begin_tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      receive();
      MPI_Send(nullptr, 0, MPI_BYTE, partner_, begin_tag, comm_.handle);
    }
  }

  void run() override {
    if (first()) {
      receive();
      MPI_Rsend(outgoing_.next(), block_.count, block_.type, partner_, tag, comm_.handle);
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
    } else {
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
      receive();
      MPI_Rsend(outgoing_.next(), block_.count, block_.type, partner_, tag, comm_.handle);
    }
  }

  void fill(const Payload& payload) override {
    cancel();
    write_bytes(outgoing_.upcoming().first(block_.bytes), payload, static_cast<std::uint64_t>(comm_.rank));
    for (const std::size_t place : {std::size_t{0}, block_.bytes})
      spoil(incoming_.upcoming().subspan(place, block_.bytes), payload);
  }

  // Rank 0 has received into the last slot; rank 1 is about to receive into it.
  Check verify(const Payload& payload) override {
    const bool second = first() != uses_first_slot_;
    return check_bytes(incoming_.current().subspan(second ? block_.bytes : 0, block_.bytes), payload,
                       static_cast<std::uint64_t>(partner_), "the message received");
  }

 private:
  static constexpr int begin_tag = tag + 1;

  void receive() {
    uses_first_slot_ = !uses_first_slot_;
    MPI_Irecv(incoming_.next() + (uses_first_slot_ ? 0 : block_.bytes), block_.count, block_.type, partner_,
              tag, comm_.handle, &request_);
  }

  // Between runs, no message is on its way to rank 1.
  void cancel() {
    if (!receiving_) return;
    receiving_ = false;
    if (first()) return;
    MPI_Cancel(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

  bool receiving_ = false;
  bool uses_first_slot_ = false;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// Requests that are created once and then restarted.
class Persistent final : public ModePingPong {
 public:
  Persistent(const Place& place, const Values& values) : ModePingPong(place, values) {
    MPI_Send_init(outgoing_.next(), block_.count, block_.type, partner_, tag, comm_.handle, &sending_);
    MPI_Recv_init(incoming_.next(), block_.count, block_.type, partner_, tag, comm_.handle, &receiving_);
  }
  ~Persistent() override {
    MPI_Request_free(&sending_);
    MPI_Request_free(&receiving_);
  }

  void run() override {
    if (first()) send();
    MPI_Start(&receiving_);
    MPI_Wait(&receiving_, MPI_STATUS_IGNORE);
    if (!first()) send();
  }

 private:
  void send() {
    MPI_Start(&sending_);
    MPI_Wait(&sending_, MPI_STATUS_IGNORE);
  }

  MPI_Request sending_ = MPI_REQUEST_NULL;
  MPI_Request receiving_ = MPI_REQUEST_NULL;
};

std::unique_ptr<Workload> in_mode(const Place& place, const Values& values) {
  const std::string& mode = values.word("mode");
  if (mode == "synchronous") return std::make_unique<Synchronous>(place, values);
  if (mode == "ready") return std::make_unique<Ready>(place, values);
  if (mode == "buffered") return std::make_unique<Buffered>(place, values);
  if (mode == "persistent") return std::make_unique<Persistent>(place, values);
  return std::make_unique<Standard>(place, values);
}

constexpr Parameter pingpong_modes_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"mode", Kind::choice, "", "standard", 0, 0, "standard|synchronous|ready|buffered|persistent",
     "MPI_Send; MPI_Ssend; MPI_Rsend with the receive already posted; MPI_Bsend; MPI_Start of a persistent "
     "request"}};

}  // namespace

extern constinit const WorkloadInfo pingpong_modes{
    .name = "pingpong_modes",
    .role = "point-to-point",
    .operation = "send_mode",
    .size = "bytes",
    .help = "ping-pong in one of MPI's send modes",
    .time = "one direction: half a round trip",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = pingpong_modes_parameters,
    .make = in_mode,
};

}  // namespace hockney::send_modes
