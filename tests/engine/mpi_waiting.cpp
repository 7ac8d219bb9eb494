// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Barriers together with other work of a program: messages that need progress on a waiting rank, and memory
// that is not available.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "barrier_checks.hpp"
#include "base/invalid_case.hpp"

namespace {
bool windows_fail = false;  // on rank 1 only, as if its node had no memory left
}

// Used to create the barriers' windows.
extern "C" {
int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base,
                            MPI_Win* window) {
  const int code = PMPI_Win_allocate_shared(bytes, unit, info, comm, base, window);
  if (!windows_fail) return code;
  PMPI_Win_free(window);
  if (checks::rank_of(comm) != 1) return MPI_SUCCESS;
  PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
  return MPI_ERR_NO_MEM;
}
int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  const int code = PMPI_Win_allocate(bytes, unit, info, comm, base, window);
  if (!windows_fail) return code;
  PMPI_Win_free(window);
  if (checks::rank_of(comm) != 1) return MPI_SUCCESS;
  PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
  return MPI_ERR_NO_MEM;
}
}

namespace {

using namespace checks;

// The sender enters the barrier while its message is in flight, the receiver only after receiving it.
TEST(Waiting, LetsAMessageOfTheUsersGoOn) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  if (size == 1) GTEST_SKIP() << "nobody to send to";
  constexpr int bytes = 1 << 22;
  for (const BarrierAlgorithm* each : all_barriers()) {
    const auto barrier = each->make(MPI_COMM_WORLD);
    std::vector<char> data(bytes, rank == 0 ? 'x' : '-');
    MPI_Request sent = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Isend(data.data(), bytes, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD, &sent);
    if (rank == size - 1) {
      // The others are already waiting.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      MPI_Recv(data.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    barrier->wait();
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    EXPECT_EQ(data.back(), rank == 0 || rank == size - 1 ? 'x' : '-') << each->name;
  }
}

TEST(Windows, ThatOneRankCannotHaveAreRefusedOnAll) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "the one rank that fails is rank 1";
  for (const BarrierAlgorithm* each : all_barriers()) {
    const bool needs_one =
        each->signalling == Signalling::shared_memory || each->signalling == Signalling::one_sided;
    if (!needs_one) continue;
    windows_fail = true;
    EXPECT_THROW(each->make(MPI_COMM_WORLD), InvalidCase) << each->name;
    windows_fail = false;
    each->make(MPI_COMM_WORLD)->wait();
  }
}

}  // namespace
