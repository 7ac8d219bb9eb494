/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transforms of n x n complex numbers, distributed in rows: transpose [N [ITERATIONS]]. N is a power
 * of two, and a multiple of the number of ranks.
 *
 * An iteration transforms the rows, transposes, and both again. A wave becomes a single point, then the wave
 * in the opposite direction, and so on. */
#include <complex.h>

#include "common.h"

/* Transforms n numbers in place. `roots` are exp(-2 pi i k / n); the result is divided by sqrt(n). */
static void transform(long n, double complex* x, const double complex* roots) {
  for (long i = 1, j = 0; i < n; ++i) {
    long bit = n / 2;
    for (; j & bit; bit /= 2) j -= bit;
    j += bit;
    if (i < j) {
      double complex swapped = x[i];
      x[i] = x[j];
      x[j] = swapped;
    }
  }
  for (long half = 1; half < n; half *= 2)
    for (long i = 0; i < n; i += 2 * half)
      for (long k = 0; k < half; ++k) {
        double complex even = x[i + k], odd = roots[k * (n / (2 * half))] * x[i + k + half];
        x[i + k] = even + odd;
        x[i + k + half] = even - odd;
      }
  double scale = 1 / sqrt((double)n);
  for (long i = 0; i < n; ++i) x[i] *= scale;
}

/* The block for each rank is transposed while it is copied to `out`. */
static void pack(long n, long rows, double complex x[rows][n], double complex out[n / rows][rows][rows]) {
  for (long to = 0; to < n / rows; ++to)
    for (long j = 0; j < rows; ++j)
      for (long i = 0; i < rows; ++i) out[to][j][i] = x[i][to * rows + j];
}

static void unpack(long n, long rows, double complex x[rows][n], double complex in[n / rows][rows][rows]) {
  for (long j = 0; j < rows; ++j)
    for (long from = 0; from < n / rows; ++from)
      for (long i = 0; i < rows; ++i) x[j][from * rows + i] = in[from][j][i];
}

/* The element of a row and column after so many iterations on the wave exp(2 pi i (row + 2 column) / n). */
static double complex expected(long n, long row, long column, long iterations) {
  if (iterations % 4 >= 2) row = (n - row) % n, column = (n - column) % n;
  if (iterations % 2) return row == 1 % n && column == 2 % n ? (double)n : 0;
  return cexp(2 * pi * I * (double)(row + 2 * column) / (double)n);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long n = argument(argc, argv, 1, "N", 1024), iterations = argument(argc, argv, 2, "ITERATIONS", 10);
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (n < 2 || n & (n - 1) || n % ranks)
    stop("transpose: N must be a power of two from 2 on, and a multiple of the %d ranks\n", ranks);
  long rows = n / ranks, first = rank * rows;
  double complex(*x)[n] = allocate((size_t)rows, sizeof *x);
  double complex(*out)[rows][rows] = allocate((size_t)ranks, sizeof *out);
  double complex(*in)[rows][rows] = allocate((size_t)ranks, sizeof *in);
  double complex* roots = allocate((size_t)n, sizeof *roots);
  for (long k = 0; k < n; ++k) roots[k] = cexp(-2 * pi * I * (double)k / (double)n);
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < n; ++j) x[i][j] = expected(n, first + i, j, 0);

  struct work work = {0};
  struct laps laps = {0};
  for (long k = -WARM_UP; k < iterations; ++k) {
    if (k == 0) start(MPI_COMM_WORLD, &laps, &work);
    for (int time = 0; time < 2; ++time) {
      double begin = MPI_Wtime();
      for (long i = 0; i < rows; ++i) transform(n, x[i], roots);
      pack(n, rows, x, out);
      worked(&work, begin, (double)(rows * n) * log2((double)n));
      MPI_Alltoall(out, (int)(rows * rows), MPI_C_DOUBLE_COMPLEX, in, (int)(rows * rows),
                   MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
      begin = MPI_Wtime();
      unpack(n, rows, x, in);
      worked(&work, begin, 0);
    }
    complete(&work);
    lap(&laps);
  }

  double error = 0;
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < n; ++j)
      error = larger(error, cabs(x[i][j] - expected(n, first + i, j, WARM_UP + iterations)));
  int wrong = check("transpose", error, 1e-10 * (double)n);
  double us = us_per_iteration(&laps), t = ns_per_point(&work);
  if (rank == 0) printf("transpose n=%ld on %d ranks: %.6g us an iteration, t=%.3gns\n", n, ranks, us, t);
  free(x);
  free(out);
  free(in);
  free(roots);
  MPI_Finalize();
  return wrong;
}
