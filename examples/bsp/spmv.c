/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sparse matrix times vector, repeated: spmv [ROWS]. Row i has 8 elements in random columns; rows and vector
 * are distributed in blocks. A process gets each element of the vector that it needs once in a product. */
#include <bsp.h>
#include <math.h>
#include <stdlib.h>

enum { PER_ROW = 8, PRODUCTS = 3 };

static int column(int n, int i, int k) {
  unsigned int x = (unsigned int)(i * PER_ROW + k) * 2246822519u;
  x ^= x >> 15;
  x *= 3266489917u;
  return (int)((x ^ (x >> 16)) % (unsigned int)n);
}

static double value(int i, int k) {
  return 1.0 / (1 + (i + k) % 5) / PER_ROW;
}

int main(int argc, char** argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 5000;
  bsp_begin(bsp_nprocs());
  int p = bsp_nprocs(), s = bsp_pid(), n = rows, block = (n + p - 1) / p;
  int first = s * block, local = first + block <= n ? block : first < n ? n - first : 0;
  double *v = malloc((size_t)block * sizeof(double)), *u = malloc((size_t)block * sizeof(double));
  /* The columns that this process needs, and where it keeps their elements. */
  int *place = malloc((size_t)n * sizeof(int)), *needed = malloc((size_t)n * sizeof(int)), count = 0;
  for (int j = 0; j < n; ++j) place[j] = -1;
  for (int i = 0; i < local; ++i)
    for (int k = 0; k < PER_ROW; ++k) {
      int j = column(n, first + i, k);
      if (place[j] < 0) needed[count] = j, place[j] = count++;
    }
  double* elements = malloc((size_t)(count + 1) * sizeof(double));
  for (int i = 0; i < local; ++i) v[i] = cos(first + i);
  bsp_push_reg(v, local * (int)sizeof(double));
  bsp_sync();
  double start = bsp_time();
  for (int product = 0; product < PRODUCTS; ++product) {
    for (int k = 0; k < count; ++k)
      bsp_get(needed[k] / block, v, needed[k] % block * (int)sizeof(double), &elements[k], sizeof(double));
    bsp_sync();
    for (int i = 0; i < local; ++i) {
      u[i] = 0;
      for (int k = 0; k < PER_ROW; ++k)
        u[i] += value(first + i, k) * elements[place[column(n, first + i, k)]];
    }
    for (int i = 0; i < local; ++i) v[i] = u[i];
  }
  double time = bsp_time() - start;
  /* The same by each process alone. */
  double *whole = malloc((size_t)n * sizeof(double)), *next = malloc((size_t)n * sizeof(double));
  for (int i = 0; i < n; ++i) whole[i] = cos(i);
  for (int product = 0; product < PRODUCTS; ++product) {
    for (int i = 0; i < n; ++i) {
      next[i] = 0;
      for (int k = 0; k < PER_ROW; ++k) next[i] += value(i, k) * whole[column(n, i, k)];
    }
    double* swapped = whole;
    whole = next;
    next = swapped;
  }
  for (int i = 0; i < local; ++i)
    if (fabs(v[i] - whole[first + i]) > 1e-13) bsp_abort("element %d is wrong\n", first + i);
  if (s == 0) printf("%d processes: %d rows, %d products in %.3g s\n", p, n, PRODUCTS, time);
  bsp_pop_reg(v);
  bsp_sync();
  free(v), free(u), free(place), free(needed), free(elements), free(whole), free(next);
  bsp_end();
  return 0;
}
