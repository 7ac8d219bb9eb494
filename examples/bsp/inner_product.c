/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The inner product of a vector, distributed cyclically, with itself: inner_product [LENGTH]. */
#include <bsp.h>
#include <stdlib.h>

static double inner_product(const double* x, size_t local, unsigned int p) {
  double* sums = malloc(p * sizeof(double));
  double sum = 0;
  bsp_push_reg(sums, p * sizeof(double));
  bsp_sync();
  for (size_t i = 0; i < local; ++i) sum += x[i] * x[i];
  for (unsigned int t = 0; t < p; ++t)
    bsp_put(t, &sum, sums, (size_t)bsp_pid() * sizeof(double), sizeof(double));
  bsp_sync();
  sum = 0;
  for (unsigned int t = 0; t < p; ++t) sum += sums[t];
  bsp_pop_reg(sums);
  bsp_sync();
  free(sums);
  return sum;
}

static long length = 1000000;

static void spmd(void) {
  bsp_begin(bsp_nprocs());
  unsigned int p = (unsigned int)bsp_nprocs(), s = (unsigned int)bsp_pid();
  /* Only process 0 has read the argument. */
  bsp_push_reg(&length, sizeof length);
  bsp_sync();
  bsp_get(0, &length, 0, &length, sizeof length);
  bsp_pop_reg(&length);
  bsp_sync();
  size_t n = (size_t)length, local = (n + p - 1 - s) / p;
  double* x = malloc((local + 1) * sizeof(double));
  for (size_t i = 0; i < local; ++i) x[i] = (double)(i * p + s + 1);
  bsp_sync();
  double start = bsp_time();
  double sum = inner_product(x, local, p);
  double time = bsp_time() - start;
  double expected = (double)n * (double)(n + 1) * (double)(2 * n + 1) / 6;
  if (sum < expected * (1 - 1e-9) || sum > expected * (1 + 1e-9))
    bsp_abort("the inner product is %.17g (expected %.17g)\n", sum, expected);
  if (s == 0) printf("%u processes: %.10g in %.3g s\n", p, sum, time);
  free(x);
  bsp_end();
}

int main(int argc, char** argv) {
  bsp_init(spmd, argc, argv);
  if (argc > 1) length = strtol(argv[1], NULL, 10);
  spmd();
  return 0;
}
