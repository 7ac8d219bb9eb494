/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Conjugate gradients, A x = b with the seven-point Laplacian A on n x n x n points, distributed in blocks:
 * conjugate_gradients [N [ITERATIONS]]. It ends earlier if the residual is small.
 *
 * b is A times a known vector, computed without messages. */
#include "common.h"

static void exchange(MPI_Comm grid, double* p, MPI_Datatype faces[3][2][2]) {
  int neighbors[3][2], count = 0;
  MPI_Request requests[12];
  for (int axis = 0; axis < 3; ++axis) {
    MPI_Cart_shift(grid, axis, 1, &neighbors[axis][0], &neighbors[axis][1]);
    for (int side = 0; side < 2; ++side)
      MPI_Irecv(p, 1, faces[axis][side][RECEIVED], neighbors[axis][side], 1 - side, grid, &requests[count++]);
  }
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      MPI_Isend(p, 1, faces[axis][side][SENT], neighbors[axis][side], side, grid, &requests[count++]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

/* q = A p on the points of this block. */
static void product(const long extents[3], double* to, const double* from) {
  long ny = extents[1] + 2, nz = extents[2] + 2;
  double (*q)[ny][nz] = (double (*)[ny][nz])to;
  const double (*p)[ny][nz] = (const double (*)[ny][nz])from;
  for (long i = 1; i <= extents[0]; ++i)
    for (long j = 1; j <= extents[1]; ++j)
      for (long k = 1; k <= extents[2]; ++k)
        q[i][j][k] = 6 * p[i][j][k] - p[i - 1][j][k] - p[i + 1][j][k] - p[i][j - 1][k] - p[i][j + 1][k] -
                     p[i][j][k - 1] - p[i][j][k + 1];
}

static double dot(size_t length, const double* x, const double* y) {
  double sum = 0;
  for (size_t i = 0; i < length; ++i) sum += x[i] * y[i];
  return sum;
}

static double sum_of_ranks(MPI_Comm grid, double own) {
  double sum;
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
  return sum;
}

/* The solution, which is 0 at the border of the grid. */
static double exact(long n, long i, long j, long k) {
  double h = 1 / (double)(n + 1), u = h * (double)i, v = h * (double)j, w = h * (double)k;
  return u * (1 - u) * exp(u) * v * (1 - v) * w * (1 - w);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long n = argument(argc, argv, 1, "N", 64), iterations = argument(argc, argv, 2, "ITERATIONS", 50);
  int dims[3], at[3];
  long first[3], extents[3];
  MPI_Datatype faces[3][2][2];
  MPI_Comm grid = create_grid(3, 0, n, dims, at);
  for (int axis = 0; axis < 3; ++axis) {
    first[axis] = first_of(n, dims[axis], at[axis]);
    extents[axis] = first_of(n, dims[axis], at[axis] + 1) - first[axis];
  }
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      for (int way = 0; way < 2; ++way) {
        int direction[3] = {0, 0, 0};
        direction[axis] = side == 0 ? -1 : 1;
        faces[axis][side][way] = create_border(extents, direction, way);
      }

  /* Every vector has the points of its neighbors around its own. They are 0, except those of p and x. */
  long nx = extents[0] + 2, ny = extents[1] + 2, nz = extents[2] + 2;
  size_t length = (size_t)(nx * ny * nz);
  double* vectors = allocate(6 * length, sizeof(double));
  double *solution = vectors, *b = solution + length, *x = b + length, *r = x + length, *p = r + length,
         *q = p + length;
  for (long i = 1; i < nx - 1; ++i)
    for (long j = 1; j < ny - 1; ++j)
      for (long k = 1; k < nz - 1; ++k) {
        long e = (i * ny + j) * nz + k, u = first[0] + i, v = first[1] + j, w = first[2] + k;
        solution[e] = exact(n, u, v, w);
        b[e] = 6 * solution[e] - exact(n, u - 1, v, w) - exact(n, u + 1, v, w) - exact(n, u, v - 1, w) -
               exact(n, u, v + 1, w) - exact(n, u, v, w - 1) - exact(n, u, v, w + 1);
        r[e] = p[e] = b[e];
      }

  struct work products = {0}, updates = {0};
  struct laps laps = {0};
  double points = (double)extents[0] * (double)extents[1] * (double)extents[2];
  double rr = sum_of_ranks(grid, dot(length, r, r)), small = 1e-24 * rr;
  long done = -WARM_UP;
  for (; done < iterations && rr > small; ++done) {
    if (done == 0) {
      updates.each.count = 0;
      start(grid, &laps, &products);
    }
    exchange(grid, p, faces);
    double begin = MPI_Wtime();
    product(extents, q, p);
    worked(&products, begin, points);
    begin = MPI_Wtime();
    double pq = dot(length, p, q);
    worked(&updates, begin, points / 2);
    double alpha = rr / sum_of_ranks(grid, pq);
    begin = MPI_Wtime();
    for (size_t e = 0; e < length; ++e) x[e] += alpha * p[e];
    for (size_t e = 0; e < length; ++e) r[e] -= alpha * q[e];
    double own = dot(length, r, r);
    worked(&updates, begin, points / 2);
    double before = rr;
    rr = sum_of_ranks(grid, own);
    begin = MPI_Wtime();
    for (size_t e = 0; e < length; ++e) p[e] = r[e] + rr / before * p[e];
    worked(&updates, begin, 0);
    complete(&products);
    complete(&updates);
    lap(&laps);
  }
  if (done < 1) stop("conjugate_gradients: done after %ld iterations, too few to be timed\n", done + WARM_UP);

  /* r = b - A x, of which the product with the solution is known; and r is orthogonal to x. */
  double energy = sum_of_ranks(grid, dot(length, b, solution)), xb = sum_of_ranks(grid, dot(length, x, b));
  double left = sum_of_ranks(grid, dot(length, r, solution)), rx = sum_of_ranks(grid, dot(length, r, x));
  int wrong = check("conjugate_gradients", (fabs(energy - xb - left) + fabs(rx)) / energy, 1e-9);
  double us = us_per_iteration(&laps), t = ns_per_point(&products), t_vectors = ns_per_point(&updates);
  if (at[0] + at[1] + at[2] == 0)
    printf(
        "conjugate_gradients n=%ld on %d x %d x %d ranks: %.6g us an iteration, t=%.3gns t_vectors=%.3gns\n",
        n, dims[0], dims[1], dims[2], us, t, t_vectors);
  for (int i = 0; i < 12; ++i) MPI_Type_free(&faces[i / 4][i / 2 % 2][i % 2]);
  free(vectors);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return wrong;
}
