// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "datatypes/gapped_base.hpp"

namespace hockney::datatypes {
namespace {

// Packs and unpacks the data without sending a message.
class PackUnpack final : public GappedBase {
 public:
  PackUnpack(const Place& place, const Values& values)
      : GappedBase(place, values, values.word("pack") == "mpi"),
        copies_by_hand_(values.word("pack") == "hand") {}

  void run() override {
    std::byte* const piece = piece_.next();
    if (copies_by_hand_) {
      layout_.gather(source_.next(), piece);
      layout_.scatter(piece, target_.next());
      return;
    }
    int packed = 0, unpacked = 0;
    MPI_Pack(source_.next(), layout_.count(), layout_.type(), piece, packed_size_, &packed, comm_.handle);
    MPI_Unpack(piece, packed, &unpacked, target_.next(), layout_.count(), layout_.type(), comm_.handle);
  }

  Check verify(const Payload& payload) override {
    return check_target(payload, comm_.rank, "what was unpacked");
  }

 private:
  const bool copies_by_hand_;
};

constexpr Parameter pack_parameters[] = {
    parameters::bytes("bytes packed, not counting the gaps; a multiple of block", "block"),
    datatype,
    block,
    stride,
    {"pack", Kind::choice, "", "mpi", 0, 0, "mpi|hand",
     "mpi: MPI_Pack and MPI_Unpack; hand: copied block by block"},
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo pack{
    .name = "pack",
    .role = "datatype",
    .operation = "pack",
    .size = "bytes",
    .help =
        "packing data with gaps into a contiguous buffer and unpacking it, without sending "
        "it: MPI_Pack and MPI_Unpack, or copies by hand",
    .time = "packing and unpacking, the maximum over the ranks",
    .parameters = pack_parameters,
    .make = make<PackUnpack>,
};

}  // namespace hockney::datatypes
