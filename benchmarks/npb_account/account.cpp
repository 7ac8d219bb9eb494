// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// What the account of a NAS benchmark's time adds to each communication, on one rank: of exchanges of a
// message with itself, those by the account less the same calls of MPI. Prints the median in seconds.
#include "npb/frame/account.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "comm/comm.hpp"
#include "sync/algorithm.hpp"

namespace {

constexpr int rounds = 400, exchanges = 500;

void plain(const double& sent, double& received) {
  MPI_Request requests[2];
  MPI_Irecv(&received, sizeof received, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&sent, sizeof sent, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

template <class Exchange>
double seconds_each(Exchange exchange) {
  const double start = MPI_Wtime();
  for (int i = 0; i < exchanges; ++i) exchange();
  return (MPI_Wtime() - start) / exchanges;
}

double median_difference() {
  using hockney::npb::Incoming, hockney::npb::Outgoing;
  const hockney::Comm comm = hockney::Comm::view(MPI_COMM_WORLD);
  hockney::npb::Account account(comm, 1, nullptr);
  const double sent = 1;
  double received = 0;
  const std::array outgoing{Outgoing{0, &sent, sizeof sent}};
  const std::array incoming{Incoming{0, &received, sizeof received}};
  std::vector<double> differences;
  for (int round = 0; round < rounds; ++round) {
    account.begin();
    const double accounted = seconds_each([&] { account.exchange(outgoing, incoming); });
    account.end();
    differences.push_back(accounted - seconds_each([&] { plain(sent, received); }));
  }
  std::nth_element(differences.begin(), differences.begin() + rounds / 2, differences.end());
  return differences[rounds / 2];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::printf("%.3e\n", median_difference());
  MPI_Finalize();
  return 0;
}
