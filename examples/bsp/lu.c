/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * LU decomposition with partial pivoting of a random matrix whose rows are distributed cyclically, and its
 * residual: lu [SIZE]. */
#include <bsp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double value;
  int row;
} Pivot;

/* The element of the matrix, the same on all processes. */
static double element(int n, int i, int j) {
  unsigned int x = (unsigned int)(i * n + j) * 2654435761u + 12345u;
  x ^= x >> 13;
  x *= 1274126177u;
  x ^= x >> 16;
  return (double)x / 4294967296.0 - 0.5;
}

/* Row i is row i / p of process i % p. `order` gets the original numbers of the rows. */
static void decompose(int n, double* rows, int* order) {
  int p = bsp_nprocs(), s = bsp_pid(), bytes = n * (int)sizeof(double);
  double* pivot_row = malloc((size_t)bytes);
  Pivot* candidates = malloc((size_t)p * sizeof(Pivot));
  bsp_push_reg(rows, ((n - s + p - 1) / p) * bytes);
  bsp_push_reg(pivot_row, bytes);
  bsp_push_reg(candidates, p * (int)sizeof(Pivot));
  bsp_sync();
  for (int k = 0; k < n; ++k) {
    Pivot best = {-1, k};
    for (int i = k + (s - k % p + p) % p; i < n; i += p)
      if (fabs(rows[i / p * n + k]) > best.value) best = (Pivot){fabs(rows[i / p * n + k]), i};
    for (int t = 0; t < p; ++t) bsp_put(t, &best, candidates, s * (int)sizeof best, sizeof best);
    bsp_sync();
    best = candidates[0];
    for (int t = 1; t < p; ++t)
      if (candidates[t].value > best.value ||
          (candidates[t].value == best.value && candidates[t].row < best.row))
        best = candidates[t];
    int r = best.row, number = order[k];
    order[k] = order[r];
    order[r] = number;
    /* Rows k and r change places, and the new row k goes to all processes. A put of another process does not
     * overtake the copy that this one makes. */
    if (r % p == s) {
      double* row = rows + r / p * n;
      for (int t = 0; t < p; ++t) bsp_put(t, row, pivot_row, 0, bytes);
      if (r != k) bsp_put(k % p, row, rows, k / p * bytes, bytes);
    }
    if (k % p == s && r != k) bsp_put(r % p, rows + k / p * n, rows, r / p * bytes, bytes);
    bsp_sync();
    for (int i = k + 1 + (s - (k + 1) % p + p) % p; i < n; i += p) {
      double *row = rows + i / p * n, factor = row[k] / pivot_row[k];
      row[k] = factor;
      for (int j = k + 1; j < n; ++j) row[j] -= factor * pivot_row[j];
    }
  }
  bsp_pop_reg(candidates);
  bsp_pop_reg(pivot_row);
  bsp_pop_reg(rows);
  bsp_sync();
  free(candidates);
  free(pivot_row);
}

/* The largest element of P A - L U, on process 0. */
static double residual(int n, const double* rows, const int* order) {
  int p = bsp_nprocs(), s = bsp_pid(), bytes = n * (int)sizeof(double);
  double *all = malloc((size_t)(s == 0 ? n : 1) * (size_t)bytes), largest = 0;
  bsp_push_reg(all, s == 0 ? n * bytes : 0);
  bsp_sync();
  for (int i = s; i < n; i += p) bsp_hpput(0, rows + i / p * n, all, i * bytes, bytes);
  bsp_pop_reg(all);
  bsp_sync();
  for (int i = 0; i < n && s == 0; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = i <= j ? all[i * n + j] : 0;
      for (int k = 0; k < i && k <= j; ++k) sum += all[i * n + k] * all[k * n + j];
      largest = fmax(largest, fabs(sum - element(n, order[i], j)));
    }
  free(all);
  return largest;
}

int main(int argc, char** argv) {
  int size = argc > 1 ? atoi(argv[1]) : 96;
  bsp_begin(bsp_nprocs());
  int p = bsp_nprocs(), s = bsp_pid(), n = size;
  double* rows = malloc((size_t)(n / p + 1) * (size_t)n * sizeof(double));
  int* order = malloc((size_t)n * sizeof(int));
  for (int i = 0; i < n; ++i) order[i] = i;
  for (int i = s; i < n; i += p)
    for (int j = 0; j < n; ++j) rows[i / p * n + j] = element(n, i, j);
  bsp_sync();
  double start = bsp_time();
  decompose(n, rows, order);
  double time = bsp_time() - start, error = residual(n, rows, order);
  if (error > 1e-12 * n) bsp_abort("the residual is %g\n", error);
  if (s == 0) printf("%d processes: %d x %d in %.3g s, residual %.2g\n", p, n, n, time, error);
  free(order);
  free(rows);
  bsp_end();
  return 0;
}
