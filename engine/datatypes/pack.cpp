// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "datatypes/layout.hpp"
#include "measure/buffer.hpp"

namespace hockney::datatypes {
namespace {

// Into one piece and back, without a message.
class PackUnpack final : public Workload {
 public:
  PackUnpack(const Place& place, const Values& values)
      : comm_(place.comm),
        layout_(values),
        by_hand_(values.word("pack") == "hand"),
        packed_size_(by_hand_ ? 0 : packed_size()),
        from_(place.arena, layout_.extent(), "hot"),
        to_(place.arena, layout_.extent(), "hot"),
        piece_(place.arena, std::max(layout_.bytes(), static_cast<std::size_t>(packed_size_)), "hot") {}

  void run() override {
    std::byte* const piece = piece_.next();
    if (by_hand_) {
      layout_.gather(from_.next(), piece);
      layout_.scatter(piece, to_.next());
      return;
    }
    int packed = 0, unpacked = 0;
    MPI_Pack(from_.next(), layout_.count(), layout_.type(), piece, packed_size_, &packed, comm_.handle);
    MPI_Unpack(piece, packed, &unpacked, to_.next(), layout_.count(), layout_.type(), comm_.handle);
  }

  void fill(const Payload& payload) override {
    const std::span<std::byte> piece = piece_.upcoming().first(layout_.bytes());
    write_bytes(piece, payload, static_cast<std::uint64_t>(comm_.rank));
    layout_.scatter(piece.data(), from_.upcoming().data());
    std::fill(to_.upcoming().begin(), to_.upcoming().end(), Layout::untouched);
  }

  Check verify(const Payload& payload) override {
    const std::span<std::byte> piece = piece_.upcoming().first(layout_.bytes());
    layout_.gather(to_.taken().data(), piece.data());
    Check check = check_bytes(piece, payload, static_cast<std::uint64_t>(comm_.rank), "what was unpacked");
    return check += layout_.check_gaps(to_.taken());
  }

  bool keeps_payload() const override { return true; }
  std::uint64_t bytes_moved() const override { return layout_.bytes(); }

 private:
  int packed_size() const {
    if (layout_.bytes() > INT_MAX)
      throw InvalidCase("bytes=" + std::to_string(layout_.bytes()) + " is more than MPI_Pack can count");
    int bytes = 0;
    MPI_Pack_size(layout_.count(), layout_.type(), comm_.handle, &bytes);
    return bytes;
  }

  const Comm& comm_;
  const Layout layout_;
  const bool by_hand_;
  const int packed_size_;
  Buffer from_;
  Buffer to_;
  Buffer piece_;
};

constexpr Parameter pack_parameters[] = {parameters::bytes("bytes packed, without the gaps"),
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
    .help = "data with gaps into one piece and back, without a message: MPI_Pack and MPI_Unpack, or by hand",
    .time = "packing and unpacking, the longest over the ranks",
    .parameters = pack_parameters,
    .make = make<PackUnpack>,
};

}  // namespace hockney::datatypes
