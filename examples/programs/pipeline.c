/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Wavefronts over n x n x n points, the columns distributed in blocks: pipeline [N [CHUNKS [ITERATIONS]]].
 *
 * Each iteration solves L U u = b. With L, a point depends on those before it on each axis, with U on those
 * after it: so results pass from rank to rank, and back again, in chunks of the columns. b belongs to a known
 * solution. */
#include "common.h"

struct block {
  long nx, ny, n, chunk; /* `chunk` points of each column are computed at a time */
  MPI_Comm grid;
  MPI_Datatype edges[2]; /* the points of a chunk at a side of the block, by axis */
};

/* Solves with L (step 1) or U (step -1) on the points of a chunk, which begins at `bottom`. */
static void solve(const struct block* block, double* solved, const double* given, long bottom, int step) {
  long nx = block->nx, ny = block->ny, n = block->n;
  double (*u)[ny + 2][n + 2] = (double (*)[ny + 2][n + 2]) solved;
  const double (*b)[ny + 2][n + 2] = (const double (*)[ny + 2][n + 2]) given;
  for (long a = 1; a <= nx; ++a)
    for (long c = 1; c <= ny; ++c)
      for (long e = 0; e < block->chunk; ++e) {
        long i = step > 0 ? a : nx + 1 - a, j = step > 0 ? c : ny + 1 - c;
        long k = bottom + (step > 0 ? e : block->chunk - 1 - e);
        u[i][j][k] = 0.25 * (b[i][j][k] + u[i - step][j][k] + u[i][j - step][k] + u[i][j][k - step]);
      }
}

static void sweep(const struct block* block, double* solved, const double* given, int step,
                  struct work* work) {
  long nx = block->nx, ny = block->ny, n = block->n, chunks = n / block->chunk;
  double (*u)[ny + 2][n + 2] = (double (*)[ny + 2][n + 2]) solved;
  int before[2], after[2];
  for (int axis = 0; axis < 2; ++axis) MPI_Cart_shift(block->grid, axis, step, &before[axis], &after[axis]);
  for (long chunk = 0; chunk < chunks; ++chunk) {
    long k = 1 + block->chunk * (step > 0 ? chunk : chunks - 1 - chunk);
    double* outside[2] = {&u[step > 0 ? 0 : nx + 1][1][k], &u[1][step > 0 ? 0 : ny + 1][k]};
    double* inside[2] = {&u[step > 0 ? nx : 1][1][k], &u[1][step > 0 ? ny : 1][k]};
    for (int axis = 0; axis < 2; ++axis)
      MPI_Recv(outside[axis], 1, block->edges[axis], before[axis], 0, block->grid, MPI_STATUS_IGNORE);
    double begin = MPI_Wtime();
    solve(block, solved, given, k, step);
    worked(work, begin, (double)(nx * ny * block->chunk));
    for (int axis = 0; axis < 2; ++axis)
      MPI_Send(inside[axis], 1, block->edges[axis], after[axis], 0, block->grid);
  }
}

/* The known solution, and what U and L make of it: they have 4 on the diagonal, and -1 for each neighbor. */
static double exact(long n, long i, long j, long k) {
  int inside = i >= 1 && i <= n && j >= 1 && j <= n && k >= 1 && k <= n;
  return inside ? (double)((i + 2 * j + 3 * k) % 7) : 0;
}

static double upper(long n, long i, long j, long k) {
  if (i < 1 || j < 1 || k < 1) return 0;
  return 4 * exact(n, i, j, k) - exact(n, i + 1, j, k) - exact(n, i, j + 1, k) - exact(n, i, j, k + 1);
}

static double lower(long n, long i, long j, long k) {
  return 4 * upper(n, i, j, k) - upper(n, i - 1, j, k) - upper(n, i, j - 1, k) - upper(n, i, j, k - 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long n = argument(argc, argv, 1, "N", 128), chunks = argument(argc, argv, 2, "CHUNKS", 16);
  long iterations = argument(argc, argv, 3, "ITERATIONS", 20);
  if (n % chunks) stop("pipeline: N must be a multiple of CHUNKS\n");
  int dims[2], at[2];
  MPI_Comm grid = create_grid(2, 0, n, dims, at);
  long x = first_of(n, dims[0], at[0]), nx = first_of(n, dims[0], at[0] + 1) - x;
  long y = first_of(n, dims[1], at[1]), ny = first_of(n, dims[1], at[1] + 1) - y;
  struct block block = {nx, ny, n, n / chunks, grid, {0}};
  MPI_Type_vector((int)ny, (int)block.chunk, (int)n + 2, MPI_DOUBLE, &block.edges[0]);
  MPI_Type_vector((int)nx, (int)block.chunk, (int)((ny + 2) * (n + 2)), MPI_DOUBLE, &block.edges[1]);
  for (int axis = 0; axis < 2; ++axis) MPI_Type_commit(&block.edges[axis]);
  size_t length = (size_t)((nx + 2) * (ny + 2) * (n + 2));
  double *b = allocate(length, sizeof(double)), *u = allocate(length, sizeof(double));
  for (long i = 1; i <= nx; ++i)
    for (long j = 1; j <= ny; ++j)
      for (long k = 1; k <= n; ++k) b[(i * (ny + 2) + j) * (n + 2) + k] = lower(n, x + i, y + j, k);

  struct work work = {0};
  struct laps laps = {0};
  for (long done = -WARM_UP; done < iterations; ++done) {
    if (done == 0) start(grid, &laps, &work);
    sweep(&block, u, b, 1, &work);
    sweep(&block, u, u, -1, &work);
    complete(&work);
    lap(&laps);
  }

  double error = 0;
  for (long i = 1; i <= nx; ++i)
    for (long j = 1; j <= ny; ++j)
      for (long k = 1; k <= n; ++k)
        error = larger(error, fabs(u[(i * (ny + 2) + j) * (n + 2) + k] - exact(n, x + i, y + j, k)));
  int wrong = check("pipeline", error, 1e-9);
  double us = us_per_iteration(&laps), t = ns_per_point(&work);
  if (at[0] + at[1] == 0)
    printf("pipeline n=%ld chunks=%ld on %d x %d ranks: %.6g us an iteration, t=%.3gns\n", n, chunks, dims[0],
           dims[1], us, t);
  for (int axis = 0; axis < 2; ++axis) MPI_Type_free(&block.edges[axis]);
  free(b);
  free(u);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return wrong;
}
