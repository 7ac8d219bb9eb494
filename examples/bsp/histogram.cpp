// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// A histogram of random numbers, with the interface in C++20: each process counts its numbers and adds up one
// part of the bins for all.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <hockney/bsp.hpp>
#include <random>
#include <span>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    hockney::bsp::Process bsp(MPI_COMM_WORLD);
    const auto p = static_cast<std::size_t>(bsp.nprocs()), s = static_cast<std::size_t>(bsp.pid());
    constexpr std::size_t numbers = 100'000, part = 10;

    // For each process, the counts that it has of the bins of this one.
    hockney::bsp::Array<int> counts(bsp, p * part);
    hockney::bsp::Array<int> totals(bsp, p);
    bsp.sync();
    bsp.record(true);

    std::mt19937 random(static_cast<unsigned>(s));
    std::vector<int> own(p * part);
    for (std::size_t k = 0; k < numbers; ++k) ++own[random() % own.size()];
    for (std::size_t to = 0; to < p; ++to)
      bsp.put(static_cast<int>(to), std::span(own).subspan(to * part, part), counts, s * part);
    bsp.sync();

    int total = 0;
    for (const int count : counts) total += count;
    bsp.put(0, total, totals, s);
    bsp.sync();

    if (s == 0) {
      std::size_t sum = 0;
      for (const int each : totals) sum += static_cast<std::size_t>(each);
      if (sum != p * numbers) bsp.abort("some numbers were not counted");
      std::printf("%zu processes: %zu numbers\n", p, sum);
      for (const hockney::bsp::Superstep& step : bsp.supersteps())
        std::printf("w %.2g s, h %llu B, sync %.2g s\n", step.work_s,
                    static_cast<unsigned long long>(std::max(step.bytes_out, step.bytes_in)), step.sync_s);
    }
  }
  MPI_Finalize();
}
