// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// The account of communication of the NAS Parallel Benchmarks, on simulated ranks whose clocks are off and
// drift, after computing for known times. Prints each rank's seconds for each phase, in the order of Spent,
// then "received" if all data were as sent.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "npb/frame/account.hpp"
#include "sync/algorithm.hpp"
#include "wrong_clocks.hpp"

namespace {

using namespace hockney;
using namespace hockney::npb;

constexpr std::size_t phases = 4, messages = 100;
constexpr double ms = 1e-3;

std::unique_ptr<Barrier> some_barrier(MPI_Comm comm) {
  for (const BarrierAlgorithm* algorithm : all_barriers())
    if (algorithm->name == std::string("dissemination")) return algorithm->make(comm);
  return nullptr;
}

// So that each phase begins at the same moment on all ranks.
void together(Account& account) {
  account.phase(phases);
  account.synchronise();
}

// Rank r is r + 1 ms late.
bool sums(Account& account, const Comm& comm) {
  account.compute((comm.rank + 1) * ms, 1);
  double values[] = {1.0, 1.0 * comm.rank};
  account.sum(values, 2);
  return values[0] == comm.size && values[1] == comm.size * (comm.size - 1) / 2.0;
}

// Data travel from rank to rank; rank 0 is 5 ms late with the first message and 2 ms with a later one, and
// the others pass them on at once.
bool pipeline(Account& account, const Comm& comm) {
  bool right = true;
  std::vector<double> data(10);
  for (std::size_t k = 0; k < messages; ++k) {
    if (comm.root() && k == 0) account.compute(5 * ms, 1);
    if (comm.root() && k == messages / 2) account.compute(2 * ms, 1);
    if (comm.root())
      data.assign(10, static_cast<double>(k));
    else
      account.receive(comm.rank - 1, data.data(), data.size() * sizeof(double));
    for (const double value : data) right = right && value == static_cast<double>(k + comm.rank);
    for (double& value : data) value += 1;
    if (comm.rank + 1 < comm.size) account.send(comm.rank + 1, data.data(), data.size() * sizeof(double));
    data.assign(10, -1);  // what was sent must have been copied
  }
  return right;
}

// Around a ring; the last rank is 3 ms late.
bool ring(Account& account, const Comm& comm) {
  if (comm.rank == comm.size - 1) account.compute(3 * ms, 1);
  const int right = (comm.rank + 1) % comm.size, left = (comm.rank + comm.size - 1) % comm.size;
  const double sent = comm.rank;
  double received = -1;
  account.exchange(std::array{Outgoing{right, &sent, sizeof sent}},
                   std::array{Incoming{left, &received, sizeof received}});
  return received == left;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Comm comm = Comm::view(MPI_COMM_WORLD);
  {
    Account account(comm, phases + 1, some_barrier(comm.handle));
    bool right = true;
    for (int run = 0; run < 2; ++run) {
      account.clear();
      double outside = 1;
      account.sum(&outside, 1);  // before a run: does not count
      account.begin();
      together(account);
      account.phase(0);
      right = sums(account, comm) && right;
      together(account);
      account.phase(1);
      right = pipeline(account, comm) && right;
      together(account);
      account.phase(2);
      right = ring(account, comm) && right;
      together(account);
      account.phase(3);
      if (comm.root()) account.compute(2 * ms, 1);
      account.synchronise();
      account.end();
      account.settle_run();
      pass(2);  // long enough for drift to matter
    }
    std::string line = "rank " + std::to_string(comm.rank);
    for (std::size_t phase = 0; phase < phases; ++phase)
      for (std::size_t kind = 0; kind < kind_count; ++kind)
        line += " " + std::to_string(account.spent(phase, static_cast<TimeKind>(kind)));
    std::printf("%s%s\n", line.c_str(), right ? " received" : "");
  }
  MPI_Finalize();
  return 0;
}
