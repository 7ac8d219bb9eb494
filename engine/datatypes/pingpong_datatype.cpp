// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "datatypes/gapped_base.hpp"

namespace hockney::datatypes {
namespace {

// A ping-pong of data with gaps. With pack=type, MPI_Send and MPI_Recv handle the gaps; otherwise the
// workload packs and unpacks the data itself, within the timed region.
class PingPongDatatype final : public GappedBase {
 public:
  PingPongDatatype(const Place& place, const Values& values)
      : GappedBase(place, values, pack_of(values) == Pack::mpi),
        block_(layout_.bytes()),
        pack_(pack_of(values)),
        partner_(1 - comm_.rank) {}

  void run() override {
    if (comm_.root()) {
      send();
      receive();
    } else {
      receive();
      send();
    }
  }

  Check verify(const Payload& payload) override {
    return check_target(payload, partner_, "the message in its places");
  }

  double operations() const override { return 2; }

 private:
  enum class Pack { type, mpi, hand };
  static constexpr int tag = 1;

  static Pack pack_of(const Values& values) {
    const std::string& text = values.word("pack");
    return text == "hand" ? Pack::hand : text == "mpi" ? Pack::mpi : Pack::type;
  }

  void send() {
    const std::byte* const from = source_.next();
    std::byte* const piece = piece_.next();
    int packed = 0;
    switch (pack_) {
      case Pack::type: MPI_Send(from, layout_.count(), layout_.type(), partner_, tag, comm_.handle); break;
      case Pack::mpi:
        MPI_Pack(from, layout_.count(), layout_.type(), piece, packed_size_, &packed, comm_.handle);
        MPI_Send(piece, packed, MPI_PACKED, partner_, tag, comm_.handle);
        break;
      case Pack::hand:
        layout_.gather(from, piece);
        MPI_Send(piece, block_.count, block_.type, partner_, tag, comm_.handle);
        break;
    }
  }

  void receive() {
    std::byte* const to = target_.next();
    std::byte* const piece = piece_.next();
    int unpacked = 0;
    switch (pack_) {
      case Pack::type:
        MPI_Recv(to, layout_.count(), layout_.type(), partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
        break;
      case Pack::mpi:
        MPI_Recv(piece, packed_size_, MPI_PACKED, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
        MPI_Unpack(piece, packed_size_, &unpacked, to, layout_.count(), layout_.type(), comm_.handle);
        break;
      case Pack::hand:
        MPI_Recv(piece, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
        layout_.scatter(piece, to);
        break;
    }
  }

  const Block block_;
  const Pack pack_;
  const int partner_;
};

constexpr Parameter pingpong_datatype_parameters[] = {
    parameters::bytes("bytes in each message, not counting the gaps; a multiple of block", "block"),
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
    .help = "ping-pong of data with gaps: derived datatypes, MPI_Pack, or copies by hand",
    .time = "one direction: half a round trip, including packing and unpacking",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = pingpong_datatype_parameters,
    .make = make<PingPongDatatype>,
};

}  // namespace hockney::datatypes
