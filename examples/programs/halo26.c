/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A stencil of 27 points on a periodic grid: halo26 [N [ITERATIONS]]. Every rank has n x n x n points, and
 * exchanges faces, edges and corners with its 26 neighbors.
 *
 * Each point becomes the mean of the 27 around it. This multiplies a wave by a known factor. */
#include <limits.h>

#include "common.h"

enum { DIRECTIONS = 26 };

struct neighbor {
  int rank;
  MPI_Datatype sent, received;
};

/* In the order of their directions: the neighbor in the opposite direction of number d is DIRECTIONS - 1 - d.
 */
static void find_neighbors(MPI_Comm grid, long n, const int at[3], struct neighbor neighbors[DIRECTIONS]) {
  long extents[3] = {n, n, n};
  for (int number = 0, d = 0; number < 27; ++number) {
    int direction[3] = {number / 9 - 1, number / 3 % 3 - 1, number % 3 - 1}, there[3];
    if (number == 13) continue; /* this rank */
    for (int axis = 0; axis < 3; ++axis) there[axis] = at[axis] + direction[axis];
    MPI_Cart_rank(grid, there, &neighbors[d].rank);
    neighbors[d].sent = create_border(extents, direction, SENT);
    neighbors[d++].received = create_border(extents, direction, RECEIVED);
  }
}

/* A message has the number of the direction in which it is sent as its tag. */
static void exchange(MPI_Comm grid, void* u, const struct neighbor neighbors[DIRECTIONS]) {
  MPI_Request requests[2 * DIRECTIONS];
  for (int d = 0; d < DIRECTIONS; ++d)
    MPI_Irecv(u, 1, neighbors[d].received, neighbors[d].rank, DIRECTIONS - 1 - d, grid, &requests[d]);
  for (int d = 0; d < DIRECTIONS; ++d)
    MPI_Isend(u, 1, neighbors[d].sent, neighbors[d].rank, d, grid, &requests[DIRECTIONS + d]);
  MPI_Waitall(2 * DIRECTIONS, requests, MPI_STATUSES_IGNORE);
}

static void smooth(long n, double new[n + 2][n + 2][n + 2], double old[n + 2][n + 2][n + 2]) {
  for (long i = 1; i <= n; ++i)
    for (long j = 1; j <= n; ++j) {
      double* row = new[i][j];
      for (long k = 1; k <= n; ++k) row[k] = 0;
      for (long a = i - 1; a <= i + 1; ++a)
        for (long b = j - 1; b <= j + 1; ++b)
          for (long k = 1; k <= n; ++k) row[k] += old[a][b][k - 1] + old[a][b][k] + old[a][b][k + 1];
      for (long k = 1; k <= n; ++k) row[k] /= 27;
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long n = argument(argc, argv, 1, "N", 64), iterations = argument(argc, argv, 2, "ITERATIONS", 100);
  int dims[3], at[3];
  struct neighbor neighbors[DIRECTIONS];
  MPI_Comm grid = create_grid(3, 1, LONG_MAX, dims, at);
  find_neighbors(grid, n, at, neighbors);
  double (*old)[n + 2][n + 2] = allocate((size_t)(n + 2), sizeof *old);
  double (*new)[n + 2][n + 2] = allocate((size_t)(n + 2), sizeof *new);

  double steps[3], factor = 1; /* of the wave's phase along each axis; of its height in an iteration */
  for (int axis = 0; axis < 3; ++axis) {
    steps[axis] = 2 * pi / (double)(n * dims[axis]);
    factor *= (1 + 2 * cos(steps[axis])) / 3;
  }
  double phase =
      steps[0] * (double)(n * at[0]) + steps[1] * (double)(n * at[1]) + steps[2] * (double)(n * at[2]);
  for (long i = 1; i <= n; ++i)
    for (long j = 1; j <= n; ++j)
      for (long k = 1; k <= n; ++k)
        old[i][j][k] = cos(phase + steps[0] * (double)i + steps[1] * (double)j + steps[2] * (double)k);

  struct work work = {0};
  struct laps laps = {0};
  for (long done = -WARM_UP; done < iterations; ++done) {
    if (done == 0) start(grid, &laps, &work);
    exchange(grid, old, neighbors);
    double begin = MPI_Wtime();
    smooth(n, new, old);
    worked(&work, begin, (double)(n * n * n));
    double (*swapped)[n + 2][n + 2] = old;
    old = new;
    new = swapped;
    complete(&work);
    lap(&laps);
  }

  double error = 0, height = pow(factor, (double)(WARM_UP + iterations));
  for (long i = 1; i <= n; ++i)
    for (long j = 1; j <= n; ++j)
      for (long k = 1; k <= n; ++k) {
        double angle = phase + steps[0] * (double)i + steps[1] * (double)j + steps[2] * (double)k;
        error = larger(error, fabs(old[i][j][k] - height * cos(angle)));
      }
  int wrong = check("halo26", error, 1e-12);
  double us = us_per_iteration(&laps), t = ns_per_point(&work);
  if (at[0] + at[1] + at[2] == 0)
    printf("halo26 n=%ld on %d x %d x %d ranks: %.6g us an iteration, t=%.3gns\n", n, dims[0], dims[1],
           dims[2], us, t);
  for (int d = 0; d < DIRECTIONS; ++d) {
    MPI_Type_free(&neighbors[d].sent);
    MPI_Type_free(&neighbors[d].received);
  }
  free(old);
  free(new);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return wrong;
}
