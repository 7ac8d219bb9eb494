/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the programs share: arguments, the grid of ranks, the time of their computation, and the last line. */
#ifndef COMMON_H
#define COMMON_H

#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM_UP = 2 }; /* iterations that are not timed */
static const double pi = 3.14159265358979323846;

/* Ends the program on all ranks, which all call this. */
static inline void stop(const char* format, ...) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  va_list values;
  va_start(values, format);
  if (rank == 0) vfprintf(stderr, format, values);
  va_end(values);
  MPI_Finalize();
  exit(1);
}

/* The argument at this position, a whole number; `otherwise` if there are fewer. */
static inline long argument(int argc, char** argv, int position, const char* name, long otherwise) {
  if (position >= argc) return otherwise;
  char* end;
  long value = strtol(argv[position], &end, 10);
  if (end == argv[position] || *end || value < 1 || value > 1000000)
    stop("%s: %s must be a whole number from 1 to 1000000, not '%s'\n", argv[0], name, argv[position]);
  return value;
}

static inline void* allocate(size_t count, size_t size) {
  void* memory = calloc(count ? count : 1, size);
  if (!memory) {
    fprintf(stderr, "not enough memory for %zu x %zu bytes\n", count, size);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

/* The ranks as a grid that divides n points on each axis, and the position of this rank. */
static inline MPI_Comm create_grid(int dimensions, int periodic, long n, int dims[], int at[]) {
  int ranks, rank, periods[3] = {periodic, periodic, periodic};
  MPI_Comm grid;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int axis = 0; axis < dimensions; ++axis) dims[axis] = 0;
  MPI_Dims_create(ranks, dimensions, dims);
  if (n < dims[0]) stop("N must be at least %d on %d ranks\n", dims[0], ranks);
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, dimensions, at);
  return grid;
}

/* The first of n points that belongs to this one of the parts. */
static inline long first_of(long n, int parts, int part) {
  return n * part / parts;
}

enum { SENT, RECEIVED };

/* Of a block with one more point on either side of each axis, those points that are sent in a direction, such
 * as {0, -1, 0}, or the points around them that are received from there. */
static inline MPI_Datatype create_border(const long extents[3], const int direction[3], int way) {
  int sizes[3], counts[3], starts[3];
  MPI_Datatype border;
  for (int axis = 0; axis < 3; ++axis) {
    int extent = (int)extents[axis], step = direction[axis];
    sizes[axis] = extent + 2;
    counts[axis] = step ? 1 : extent;
    starts[axis] = step == 1 ? extent + (way == RECEIVED) : step == 0 || way == SENT;
  }
  MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &border);
  MPI_Type_commit(&border);
  return border;
}

/* Times (s), whose median hardly depends on interruptions by other programs. */
struct times {
  double* values;
  size_t count, room;
};

static inline void add(struct times* times, double seconds) {
  if (times->count == times->room) {
    times->room = 2 * times->room + 64;
    times->values = realloc(times->values, times->room * sizeof(double));
    if (!times->values) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  times->values[times->count++] = seconds;
}

static inline int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Their median, 0 if there are none; the times are gone. */
static inline double median(struct times* times) {
  size_t middle = times->count / 2;
  if (times->count) qsort(times->values, times->count, sizeof(double), compare);
  double result = times->count ? times->values[middle] : 0;
  free(times->values);
  *times = (struct times){NULL, 0, 0};
  return result;
}

/* Iterations: when the last one ended, and what they took. */
struct laps {
  double last;
  struct times times;
};

/* Computation of this iteration: `seconds` on `points`; and the seconds for each point in all of them. */
struct work {
  double seconds, points;
  struct times each;
};

/* Timing begins: all ranks are ready, and nothing is counted yet. */
static inline void start(MPI_Comm comm, struct laps* laps, struct work* work) {
  MPI_Barrier(comm);
  work->each.count = laps->times.count = 0;
  laps->last = MPI_Wtime();
}

/* Computation on so many points ends now; it began at `begin`, a time of MPI_Wtime. */
static inline void worked(struct work* work, double begin, double points) {
#ifdef SIMULATED_POINT_S /* in a simulation with SMPI, a point takes so many seconds */
  smpi_execute(points * SIMULATED_POINT_S);
#endif
  work->seconds += MPI_Wtime() - begin;
  work->points += points;
}

/* The work of this iteration is complete. */
static inline void complete(struct work* work) {
  add(&work->each, work->seconds / work->points);
  work->seconds = work->points = 0;
}

/* This iteration ends. */
static inline void lap(struct laps* laps) {
  double now = MPI_Wtime();
  add(&laps->times, now - laps->last);
  laps->last = now;
}

/* Nanoseconds for each point, the mean of the ranks that computed; the result is for rank 0. */
static inline double ns_per_point(struct work* work) {
  double own[2] = {0, work->each.count > 0}, all[2] = {0, 1};
  own[0] = median(&work->each);
  MPI_Reduce(own, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return 1e9 * all[0] / all[1];
}

/* Microseconds of an iteration, of the slowest rank; the result is for rank 0. */
static inline double us_per_iteration(struct laps* laps) {
  double slowest = 0, own = median(&laps->times);
  MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return 1e6 * slowest;
}

/* Unlike fmax, does not forget an error that is not a number. */
static inline double larger(double error, double other) {
  return isnan(error) || other <= error ? error : other;
}

/* Compares the largest error of any rank with the tolerance; the program's exit code. */
static inline int check(const char* program, double error, double tolerance) {
  double own = isfinite(error) ? error : HUGE_VAL, largest;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&own, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (largest <= tolerance) return 0;
  if (rank == 0) fprintf(stderr, "%s: wrong, the error is %g (at most %g)\n", program, largest, tolerance);
  return 1;
}

#endif
