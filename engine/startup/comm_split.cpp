// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/invalid_case.hpp"
#include "startup/making.hpp"

namespace hockney::startup {
namespace {

// Rank r has the colour r modulo the number of colours.
class CommSplit final : public MakingBase {
 public:
  CommSplit(const Place& place, const Values& values)
      : MakingBase(place),
        colors_(static_cast<int>(values.integer("colors"))),
        color_(comm_.rank % colors_) {}

  void run() override {
    MPI_Comm split_comm;
    timed([&] { MPI_Comm_split(comm_.handle, color_, comm_.rank, &split_comm); },
          [&] { MPI_Comm_free(&split_comm); });
  }

  // Creates another communicator and uses it.
  Check verify(const Payload&) override {
    MPI_Comm split_comm;
    MPI_Comm_split(comm_.handle, color_, comm_.rank, &split_comm);
    std::int64_t expected = 0;
    for (int rank = color_; rank < comm_.size; rank += colors_) expected += rank + 1;
    Check check = check_sum(split_comm, expected);
    int rank = -1;
    MPI_Comm_rank(split_comm, &rank);
    if (rank != comm_.rank / colors_) check += {0, 1, "the ranks of a part are in another order"};
    MPI_Comm_free(&split_comm);
    return check;
  }

 private:
  const int colors_;
  const int color_;
};

constexpr Parameter comm_split_parameters[] = {
    {"colors", Kind::integer, "", "2", 1, 1e7, "",
     "number of communicators: rank r joins communicator r modulo this number"},
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo comm_split{
    .name = "comm_split",
    .role = "start-up",
    .operation = "comm_split",
    .size = "colors",
    .help = "MPI_Comm_split, then MPI_Comm_free",
    .time = making_and_freeing,
    .parameters = comm_split_parameters,
    .metrics = making_metrics,
    .make = make<CommSplit>,
};

}  // namespace hockney::startup
