/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Jacobi's method for Laplace's equation on n x n points, distributed in blocks: jacobi [N [ITERATIONS]].
 *
 * It starts with sin(pi x) sin(pi y). Every sweep multiplies that by cos(pi / (n + 1)), so that the values
 * and the residual are known. */
#include "common.h"

/* The squares of all changes, added. */
static double sweep(long nx, long ny, double new[nx + 2][ny + 2], double old[nx + 2][ny + 2]) {
  double sum = 0;
  for (long i = 1; i <= nx; ++i)
    for (long j = 1; j <= ny; ++j) {
      new[i][j] = 0.25 * (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]);
      double change = new[i][j] - old[i][j];
      sum += change * change;
    }
  return sum;
}

/* The outer points of this block become the borders of its neighbors' blocks. */
static void exchange(MPI_Comm grid, long nx, long ny, double u[nx + 2][ny + 2], const MPI_Datatype edges[2]) {
  double* inside[2][2] = {{&u[1][1], &u[nx][1]}, {&u[1][1], &u[1][ny]}};
  double* outside[2][2] = {{&u[0][1], &u[nx + 1][1]}, {&u[1][0], &u[1][ny + 1]}};
  int neighbors[2][2], count = 0;
  MPI_Request requests[8];
  for (int axis = 0; axis < 2; ++axis) {
    MPI_Cart_shift(grid, axis, 1, &neighbors[axis][0], &neighbors[axis][1]);
    for (int side = 0; side < 2; ++side)
      MPI_Irecv(outside[axis][side], 1, edges[axis], neighbors[axis][side], 1 - side, grid,
                &requests[count++]);
  }
  for (int axis = 0; axis < 2; ++axis)
    for (int side = 0; side < 2; ++side)
      MPI_Isend(inside[axis][side], 1, edges[axis], neighbors[axis][side], side, grid, &requests[count++]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long n = argument(argc, argv, 1, "N", 1024), iterations = argument(argc, argv, 2, "ITERATIONS", 100);
  int dims[2], at[2];
  MPI_Comm grid = create_grid(2, 0, n, dims, at);
  long x = first_of(n, dims[0], at[0]), nx = first_of(n, dims[0], at[0] + 1) - x;
  long y = first_of(n, dims[1], at[1]), ny = first_of(n, dims[1], at[1] + 1) - y;
  double (*old)[ny + 2] = allocate((size_t)(nx + 2), sizeof *old);
  double (*new)[ny + 2] = allocate((size_t)(nx + 2), sizeof *new);
  MPI_Datatype edges[2];
  MPI_Type_contiguous((int)ny, MPI_DOUBLE, &edges[0]);
  MPI_Type_vector((int)nx, 1, (int)ny + 2, MPI_DOUBLE, &edges[1]);
  for (int axis = 0; axis < 2; ++axis) MPI_Type_commit(&edges[axis]);

  double h = pi / (double)(n + 1);
  for (long i = 0; i < nx + 2; ++i)
    for (long j = 0; j < ny + 2; ++j) old[i][j] = sin(h * (double)(x + i)) * sin(h * (double)(y + j));

  struct work work = {0};
  struct laps laps = {0};
  double residual = 0;
  for (long k = -WARM_UP; k < iterations; ++k) {
    if (k == 0) start(grid, &laps, &work);
    double begin = MPI_Wtime();
    double sum = sweep(nx, ny, new, old);
    worked(&work, begin, (double)(nx * ny));
    exchange(grid, nx, ny, new, edges);
    MPI_Allreduce(&sum, &residual, 1, MPI_DOUBLE, MPI_SUM, grid);
    double (*swapped)[ny + 2] = old;
    old = new;
    new = swapped;
    complete(&work);
    lap(&laps);
  }

  double factor = cos(h), sweeps = (double)(WARM_UP + iterations), first = (1 - factor) * (double)(n + 1) / 2;
  double error = fabs(residual / (first * first) - pow(factor, 2 * (sweeps - 1)));
  for (long i = 1; i <= nx; ++i)
    for (long j = 1; j <= ny; ++j) {
      double expected = pow(factor, sweeps) * sin(h * (double)(x + i)) * sin(h * (double)(y + j));
      error = larger(error, fabs(old[i][j] - expected));
    }
  int wrong = check("jacobi", error, 1e-8);
  double us = us_per_iteration(&laps), t = ns_per_point(&work);
  if (at[0] + at[1] == 0)
    printf("jacobi n=%ld on %d x %d ranks: %.6g us an iteration, t=%.3gns\n", n, dims[0], dims[1], us, t);
  for (int axis = 0; axis < 2; ++axis) MPI_Type_free(&edges[axis]);
  free(old);
  free(new);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return wrong;
}
