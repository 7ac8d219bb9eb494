// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels are compared with, without any library of hockney's: each rank sorts with std::sort,
// multiplies with the BLAS (-DBLAS), or computes shortest paths with Floyd and Warshall's loops, by itself.
//
//   mpiexec -n 2 peer_kernels sort 1000000 SECONDS      sort, sort32, multiply, paths
//
// prints the longest time over the ranks of each repetition.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#ifdef BLAS
#include <cblas.h>
extern "C" [[gnu::weak]] void openblas_set_num_threads(int threads);
#endif

namespace {

template <class T>
std::function<void()> sorting(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<T> keys(count);
  for (T& key : keys)
    key = static_cast<T>(static_cast<double>(random() >> 32) * (sizeof(T) == 4 ? 1.0 : 0x1p-32));
  return [keys, sorted = std::vector<T>(count)]() mutable {
    sorted = keys;
    std::sort(sorted.begin(), sorted.end());
  };
}

std::function<void()> multiplying([[maybe_unused]] std::size_t n) {
#ifdef BLAS
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  std::vector<double> a(n * n, 1), b(n * n, 2), c(n * n);
  const auto size = static_cast<int>(n);
  return [=]() mutable {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1.0, a.data(), size, b.data(),
                size, 0.0, c.data(), size);
  };
#else
  std::fprintf(stderr, "compiled without a BLAS\n");
  std::exit(2);
#endif
}

std::function<void()> finding_paths(std::size_t n) {
  std::mt19937_64 random(1);
  std::vector<float> lengths(n * n);
  for (float& length : lengths) length = static_cast<float>(1 + random() % 1000);
  for (std::size_t i = 0; i < n; ++i) lengths[i * n + i] = 0;
  return [n, lengths, paths = std::vector<float>(n * n)]() mutable {
    paths = lengths;
    for (std::size_t k = 0; k < n; ++k) {
      const float* const second = paths.data() + k * n;
      for (std::size_t i = 0; i < n; ++i) {
        float* const row = paths.data() + i * n;
        const float first = row[k];
        for (std::size_t j = 0; j < n; ++j) row[j] = std::min(row[j], first + second[j]);
      }
    }
  };
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) return 2;
  const std::string what = argv[1];
  const auto size = static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10));
  const double seconds = std::strtod(argv[3], nullptr);
  const std::function<void()> work = what == "sort"       ? sorting<double>(size)
                                     : what == "sort32"   ? sorting<std::uint32_t>(size)
                                     : what == "multiply" ? multiplying(size)
                                                          : finding_paths(size);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  work();
  const double began = MPI_Wtime();
  for (int goes_on = 1; goes_on;) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    work();
    const double own = MPI_Wtime() - start;
    double longest = own;
    MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%.9f\n", longest);
    goes_on = MPI_Wtime() - began < seconds;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
