// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Supersteps of BSPlib in turns with what they are compared with, on two processes. First line: the names of
// the measurements. Then one line a round: seconds of one operation each, of the slower process.
#include <bsp.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int elements = 1000, stride = 2, large = 1 << 20;
constexpr double batch_s = 0.002;

struct Measured {
  const char* name;
  std::function<void(int)> run;  // so many times
  int count = 1;
};

double seconds_of(const Measured& measured, int count) {
  measured.run(1);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  measured.run(count);
  double seconds = (MPI_Wtime() - start) / count;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

// Puts of 8 bytes to every `step`th element and a sync. Adjacent ones (step 1) become a single record.
template <auto put>
void many(std::vector<double>& from, double* to, int step, int other, int count, int times) {
  for (int n = 0; n < times; ++n) {
    for (int k = 0; k < count; ++k)
      put(other, &from[static_cast<std::size_t>(k)], to, static_cast<std::size_t>(k * step) * sizeof(double),
          sizeof(double));
    bsp_sync();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 50;
  bsp_begin(2);
  const int pid = bsp_pid(), other = 1 - pid;
  if (bsp_nprocs() != 2) bsp_abort("two processes are measured");
  std::vector<double> from(elements), to(static_cast<std::size_t>(elements * stride));
  std::vector<char> source(large, 'a'), area(large), buffer(large);
  std::vector<char> out(128), in(128);
  bsp_push_reg(to.data(), to.size() * sizeof(double));
  bsp_push_reg(area.data(), area.size());
  bsp_sync();
  std::vector<Measured> all{
      {"barrier",
       [](int n) {
         for (int k = 0; k < n; ++k) MPI_Barrier(MPI_COMM_WORLD);
       }},
      {"alltoall_64",
       [&](int n) {
         for (int k = 0; k < n; ++k)
           MPI_Alltoall(out.data(), 64, MPI_BYTE, in.data(), 64, MPI_BYTE, MPI_COMM_WORLD);
       }},
      {"sync",
       [](int n) {
         for (int k = 0; k < n; ++k) bsp_sync();
       }},
      {"put_1", [&](int n) { many<bsp_put>(from, to.data(), stride, other, 1, n); }},
      {"put_1000", [&](int n) { many<bsp_put>(from, to.data(), stride, other, elements, n); }},
      {"put_1000_adjacent", [&](int n) { many<bsp_put>(from, to.data(), 1, other, elements, n); }},
      {"hpput_1000", [&](int n) { many<bsp_hpput>(from, to.data(), stride, other, elements, n); }},
      {"two_memcpys",
       [&](int n) {
         for (int k = 0; k < n; ++k) {
           std::memcpy(buffer.data(), source.data(), large);
           std::memcpy(area.data(), buffer.data(), large);
         }
       }},
      {"exchange_1MiB",
       [&](int n) {
         for (int k = 0; k < n; ++k) {
           MPI_Request requests[2];
           MPI_Irecv(area.data(), large, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[0]);
           MPI_Isend(source.data(), large, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[1]);
           MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
         }
       }},
      {"put_1MiB",
       [&](int n) {
         for (int k = 0; k < n; ++k) {
           bsp_put(other, source.data(), area.data(), 0, large);
           bsp_sync();
         }
       }},
      {"hpput_1MiB",
       [&](int n) {
         for (int k = 0; k < n; ++k) {
           bsp_hpput(other, source.data(), area.data(), 0, large);
           bsp_sync();
         }
       }},
      {"get_1MiB",
       [&](int n) {
         for (int k = 0; k < n; ++k) {
           bsp_get(other, area.data(), 0, source.data(), large);
           bsp_sync();
         }
       }},
  };
  for (Measured& each : all) {
    const double once = seconds_of(each, 20);
    each.count = static_cast<int>(std::clamp(std::floor(batch_s / once), 5.0, 20000.0));
    if (pid == 0) std::printf("%s ", each.name);
  }
  if (pid == 0) std::printf("\n");
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> seconds(all.size());
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      const std::size_t k = (turn + static_cast<std::size_t>(round)) % all.size();
      seconds[k] = seconds_of(all[k], all[k].count);
    }
    if (pid == 0) {
      for (const double each : seconds) std::printf("%.9g ", each);
      std::printf("\n");
    }
  }
  bsp_pop_reg(area.data());
  bsp_pop_reg(to.data());
  bsp_sync();
  bsp_end();
  return 0;
}
