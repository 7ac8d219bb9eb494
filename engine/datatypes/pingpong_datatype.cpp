// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "datatypes/layout.hpp"
#include "measure/buffer.hpp"

namespace hockney::datatypes {
namespace {

// A ping-pong of data with gaps. pack=type leaves them to MPI_Send and MPI_Recv; the others bring them into
// one piece and back themselves, which belongs to the time.
class PingPongDatatype final : public Workload {
 public:
  PingPongDatatype(const Place& place, const Values& values)
      : comm_(place.comm),
        layout_(values),
        block_(layout_.bytes()),
        pack_(pack_of(values, layout_)),
        packed_count_(pack_ == Pack::mpi ? packed_size() : block_.count),
        partner_(1 - comm_.rank),
        outgoing_(place.arena, layout_.extent(), "hot"),
        incoming_(place.arena, layout_.extent(), "hot"),
        piece_(place.arena, std::max(layout_.bytes(), static_cast<std::size_t>(packed_count_)), "hot") {}

  void run() override {
    if (comm_.root()) {
      send();
      receive();
    } else {
      receive();
      send();
    }
  }

  void fill(const Payload& payload) override {
    const std::span<std::byte> piece = piece_.upcoming().first(layout_.bytes());
    write_bytes(piece, payload, static_cast<std::uint64_t>(comm_.rank));
    layout_.scatter(piece.data(), outgoing_.upcoming().data());
    std::fill(incoming_.upcoming().begin(), incoming_.upcoming().end(), Layout::untouched);
  }

  Check verify(const Payload& payload) override {
    const std::span<std::byte> piece = piece_.upcoming().first(layout_.bytes());
    layout_.gather(incoming_.taken().data(), piece.data());
    Check check =
        check_bytes(piece, payload, static_cast<std::uint64_t>(partner_), "the message in its places");
    return check += layout_.check_gaps(incoming_.taken());
  }

  bool keeps_payload() const override { return true; }
  double operations() const override { return 2; }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 private:
  enum class Pack { type, mpi, hand };
  static constexpr int tag = 1;

  static Pack pack_of(const Values& values, const Layout& layout) {
    const std::string& word = values.word("pack");
    if (word == "hand") return Pack::hand;
    if (word != "mpi") return Pack::type;
    if (layout.bytes() > INT_MAX)
      throw InvalidCase("bytes=" + std::to_string(layout.bytes()) + " is more than MPI_Pack can count");
    return Pack::mpi;
  }
  int packed_size() const {
    int bytes = 0;
    MPI_Pack_size(layout_.count(), layout_.type(), comm_.handle, &bytes);
    return bytes;
  }

  void send() {
    const std::byte* const from = outgoing_.next();
    std::byte* const piece = piece_.next();
    int packed = 0;
    switch (pack_) {
      case Pack::type: MPI_Send(from, layout_.count(), layout_.type(), partner_, tag, comm_.handle); break;
      case Pack::mpi:
        MPI_Pack(from, layout_.count(), layout_.type(), piece, packed_count_, &packed, comm_.handle);
        MPI_Send(piece, packed, MPI_PACKED, partner_, tag, comm_.handle);
        break;
      case Pack::hand:
        layout_.gather(from, piece);
        MPI_Send(piece, block_.count, block_.type, partner_, tag, comm_.handle);
        break;
    }
  }

  void receive() {
    std::byte* const to = incoming_.next();
    std::byte* const piece = piece_.next();
    int unpacked = 0;
    switch (pack_) {
      case Pack::type:
        MPI_Recv(to, layout_.count(), layout_.type(), partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
        break;
      case Pack::mpi:
        MPI_Recv(piece, packed_count_, MPI_PACKED, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
        MPI_Unpack(piece, packed_count_, &unpacked, to, layout_.count(), layout_.type(), comm_.handle);
        break;
      case Pack::hand:
        MPI_Recv(piece, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
        layout_.scatter(piece, to);
        break;
    }
  }

  const Comm& comm_;
  const Layout layout_;
  const Block block_;
  const Pack pack_;
  const int packed_count_;
  const int partner_;
  Buffer outgoing_;
  Buffer incoming_;
  Buffer piece_;
};

constexpr Parameter pingpong_datatype_parameters[] = {
    parameters::bytes("bytes in each message, without the gaps"),
    datatype,
    block,
    stride,
    {"pack", Kind::choice, "", "type", 0, 0, "type|mpi|hand",
     "type: the datatype is sent and received; mpi: MPI_Pack and MPI_Unpack; hand: copied block by block"}};

}  // namespace

extern constinit const WorkloadInfo pingpong_datatype{
    .name = "pingpong_datatype",
    .role = "datatype",
    .operation = "send",
    .size = "bytes",
    .help = "ping-pong of data with gaps: derived datatypes, MPI_Pack, or copying by hand",
    .time = "one way: half a round trip, packing and unpacking included",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = pingpong_datatype_parameters,
    .make = make<PingPongDatatype>,
};

}  // namespace hockney::datatypes
