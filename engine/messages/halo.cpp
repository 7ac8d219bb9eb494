// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::messages {
namespace {

// The ranks are on a periodic grid (MPI_Dims_create), and each exchanges a message with both neighbors in
// each dimension, all at once. The tag identifies the direction, in case both neighbors are the same rank.
class Halo final : public Workload {
 public:
  Halo(const Place& place, const Values& values)
      : comm_(place.comm),
        block_(values.bytes()),
        partners_(partners(place.comm, static_cast<int>(values.integer("dimensions")))),
        outgoing_(place.arena, values.bytes() * partners_.size(), values.word("buffers")),
        incoming_(place.arena, values.bytes() * partners_.size(), values.word("buffers")),
        requests_(2 * partners_.size()) {}

  void run() override {
    std::byte* const out = outgoing_.next();
    std::byte* const incoming = incoming_.next();
    const std::size_t messages = partners_.size();
    for (std::size_t i = 0; i < messages; ++i)
      MPI_Irecv(incoming + i * block_.bytes, block_.count, block_.type, partners_[i], tag(opposite(i)),
                comm_.handle, &requests_[i]);
    for (std::size_t i = 0; i < messages; ++i)
      MPI_Isend(out + i * block_.bytes, block_.count, block_.type, partners_[i], tag(i), comm_.handle,
                &requests_[messages + i]);
    MPI_Waitall(static_cast<int>(2 * messages), requests_.data(), MPI_STATUSES_IGNORE);
  }

  void fill(const Payload& payload) override {
    const Payload part = payload.divided_among(partners_.size());
    for (std::size_t i = 0; i < partners_.size(); ++i) {
      write_bytes(message(outgoing_.upcoming(), i), part, identity(comm_.rank, i));
      spoil(message(incoming_.upcoming(), i), part);
    }
  }

  Check verify(const Payload& payload) override {
    const Payload part = payload.divided_among(partners_.size());
    Check all;
    for (std::size_t i = 0; i < partners_.size(); ++i)
      all += check_bytes(message(incoming_.current(), i), part, identity(partners_[i], opposite(i)),
                         "a neighbor's message");
    return all;
  }

  bool keeps_payload() const override { return outgoing_.slots() == 1 && incoming_.slots() == 1; }
  // Bytes that a rank sends.
  std::uint64_t bytes_moved() const override { return block_.bytes * partners_.size(); }

 private:
  // The lower and the upper neighbor in each dimension; neighbors in the last dimension are adjacent ranks.
  static std::vector<int> partners(const Comm& comm, int dimensions) {
    std::vector<int> lengths(static_cast<std::size_t>(dimensions));
    MPI_Dims_create(comm.size, dimensions, lengths.data());
    std::vector<int> found;
    int stride = comm.size;
    for (const int length : lengths) {
      const int parent_stride = stride;
      stride /= length;
      const int first = comm.rank / parent_stride * parent_stride + comm.rank % stride;
      const int coordinate = comm.rank % parent_stride / stride;
      for (const int step : {length - 1, 1}) found.push_back(first + (coordinate + step) % length * stride);
    }
    return found;
  }

  static std::size_t opposite(std::size_t direction) { return direction ^ 1U; }
  static int tag(std::size_t direction) { return static_cast<int>(direction) + 1; }
  std::uint64_t identity(int rank, std::size_t direction) const {
    return static_cast<std::uint64_t>(rank) * partners_.size() + direction;
  }
  template <class Span>
  Span message(Span all, std::size_t index) const {
    return all.subspan(index * block_.bytes, block_.bytes);
  }

  const Comm& comm_;
  const Block block_;
  const std::vector<int> partners_;
  Buffer outgoing_;
  IncomingBuffer incoming_;
  std::vector<MPI_Request> requests_;
};

constexpr Parameter halo_parameters[] = {parameters::bytes("bytes in each message"),
                                         {"dimensions", Kind::integer, "", "1", 1, 6, "",
                                          "number of dimensions of the grid: 1 is a ring, 2 a torus"},
                                         parameters::buffers,
                                         parameters::sync};

}  // namespace

extern constinit const WorkloadInfo halo{
    .name = "halo",
    .role = "exchange",
    .operation = "halo",
    .size = "bytes",
    .help =
        "each rank exchanges messages with both neighbors in every dimension of a periodic "
        "grid (MPI_Isend, MPI_Irecv)",
    .time =
        "all messages, the maximum over the ranks; the bandwidth counts the bytes that one "
        "rank sends",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = halo_parameters,
    .make = make<Halo>,
};

}  // namespace hockney::messages
