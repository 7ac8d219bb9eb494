// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// What npb.py scales rates of two machines with. Every rank prints two numbers, each of its fastest pass,
// after all ranks have begun:
//
//     GB/s of a = b + s c over arrays of 64 MiB, 24 bytes per element
//     millions of random numbers per second of EP's arithmetic, one pair at a time, as in the reference: the
//     generator (Bailey et al. 1994, section 2.3) in integers, and a logarithm and a square root for each
//     pair inside the unit circle
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int passes = 10;

template <class Pass>
double fastest(Pass pass) {
  double least = 1e30;
  for (int i = 0; i < passes; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    pass();
    least = std::min(least, MPI_Wtime() - start);
  }
  return least;
}

double triad() {
  constexpr std::size_t count = std::size_t{1} << 23;
  std::vector<double> a(count, 0.0), b(count, 1.0), c(count, 2.0);
  double factor = 3;
  const double seconds = fastest([&] {
    for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + factor * c[i];
    factor = a[count / 2] - 4;
  });
  return factor == 3 ? 24e-9 * static_cast<double>(count) / seconds : 0;
}

double scalar() {
  constexpr std::size_t pairs = std::size_t{1} << 16;
  std::vector<double> numbers(2 * pairs);
  std::uint64_t state = 271828183;
  double sum_x = 0, sum_y = 0;
  double counts[10] = {};
  const double seconds = fastest([&] {
    for (int batch = 0; batch < 32; ++batch) {
      for (double& number : numbers) {
        state = state * 1220703125 & ((std::uint64_t{1} << 46) - 1);
        number = 0x1p-46 * static_cast<double>(state);
      }
      for (std::size_t i = 0; i < pairs; ++i) {
        const double x = 2 * numbers[2 * i] - 1, y = 2 * numbers[2 * i + 1] - 1;
        const double t = x * x + y * y;
        if (t > 1) continue;
        const double factor = std::sqrt(-2 * std::log(t) / t);
        const double deviate_x = x * factor, deviate_y = y * factor;
        counts[static_cast<int>(std::max(std::abs(deviate_x), std::abs(deviate_y)))] += 1;
        sum_x += deviate_x;
        sum_y += deviate_y;
      }
    }
  });
  return counts[0] > 0 && sum_x != sum_y ? 32e-6 * 2 * static_cast<double>(pairs) / seconds : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double bandwidth = triad(), rate = scalar();
  std::printf("%.6g %.6g\n", bandwidth, rate);
  MPI_Finalize();
  return 0;
}
