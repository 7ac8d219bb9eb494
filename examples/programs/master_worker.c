/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A master hands tasks to its workers: master_worker [TASKS [PANELS]].
 *
 * A worker integrates a polynomial times 1, x, x^2, ... on [0, 1]. The number of panels varies from task to
 * task; PANELS is its mean. The master, who knows the integrals, compares. */
#include <string.h>

#include "common.h"

enum { COEFFICIENTS = 124, RESULTS = 8 };
enum { TASK, END }; /* tags; results have the tag TASK */

/* The number of panels, with a standard deviation of half of the mean, and the coefficients. */
typedef double task_t[1 + COEFFICIENTS];
typedef double result_t[RESULTS];

static void create_task(long number, long panels, task_t task) {
  unsigned long long state = (unsigned long long)number;
  for (int i = 0; i <= COEFFICIENTS; ++i) {
    for (int k = 0; k < 3; ++k) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    task[i] = (double)(state >> 11) / 9007199254740992.0; /* from 0 to 1 */
  }
  task[0] = ceil((double)panels * (1 + sqrt(0.75) * (2 * task[0] - 1)));
}

/* Gauss's rule with four points in each panel. */
static void integrate(const task_t task, long panels, result_t result, struct work* work) {
  const double points[4] = {-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526};
  const double weights[4] = {0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538};
  double begin = MPI_Wtime(), half = 0.5 / task[0];
  for (int i = 0; i < RESULTS; ++i) result[i] = 0;
  for (long panel = 0; panel < (long)task[0]; ++panel)
    for (int point = 0; point < 4; ++point) {
      double x = half * ((double)(2 * panel + 1) + points[point]), value = 0;
      for (int i = COEFFICIENTS; i >= 1; --i) value = value * x + task[i];
      value *= half * weights[point];
      for (int i = 0; i < RESULTS; ++i, value *= x) result[i] += value;
    }
  worked(work, begin, task[0] / (double)panels);
  complete(work);
}

static double error_of(const task_t task, const result_t result) {
  double error = 0;
  for (int i = 0; i < RESULTS; ++i) {
    double integral = 0;
    for (int k = 0; k < COEFFICIENTS; ++k) integral += task[1 + k] / (double)(k + i + 1);
    error = larger(error, fabs(result[i] / integral - 1));
  }
  return error;
}

/* Each worker gets a task at first, and then the next one for each result. */
static void hand_out(int workers, long count, task_t* tasks, result_t* results) {
  long sent = 0, *task_of = allocate((size_t)workers + 1, sizeof *task_of);
  for (int worker = 1; worker <= workers && sent < count; ++worker) {
    task_of[worker] = sent;
    MPI_Send(tasks[sent++], 1 + COEFFICIENTS, MPI_DOUBLE, worker, TASK, MPI_COMM_WORLD);
  }
  for (long received = 0; received < count; ++received) {
    result_t result;
    MPI_Status status;
    MPI_Recv(result, RESULTS, MPI_DOUBLE, MPI_ANY_SOURCE, TASK, MPI_COMM_WORLD, &status);
    int worker = status.MPI_SOURCE;
    memcpy(results[task_of[worker]], result, sizeof result);
    if (sent < count) {
      task_of[worker] = sent;
      MPI_Send(tasks[sent++], 1 + COEFFICIENTS, MPI_DOUBLE, worker, TASK, MPI_COMM_WORLD);
    }
  }
  for (int worker = 1; worker <= workers; ++worker)
    MPI_Send(NULL, 0, MPI_DOUBLE, worker, END, MPI_COMM_WORLD);
  free(task_of);
}

static void be_worker(long panels, struct work* work) {
  task_t task;
  result_t result;
  MPI_Status status;
  for (;;) {
    MPI_Recv(task, 1 + COEFFICIENTS, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == END) return;
    integrate(task, panels, result, work);
    MPI_Send(result, RESULTS, MPI_DOUBLE, 0, TASK, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long count = argument(argc, argv, 1, "TASKS", 2000), panels = argument(argc, argv, 2, "PANELS", 2000);
  if (panels < 200) stop("master_worker: PANELS must be at least 200\n");
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  task_t* tasks = allocate(rank ? 0 : (size_t)count, sizeof *tasks);
  result_t* results = allocate(rank ? 0 : (size_t)count, sizeof *results);
  for (long i = 0; rank == 0 && i < count; ++i) create_task(i, panels, tasks[i]);

  struct work work = {0};
  struct laps laps = {0};
  for (int timed = 0; timed < 2; ++timed) { /* some tasks first, to warm up */
    long todo = timed || count < WARM_UP * ranks ? count : WARM_UP * ranks;
    start(MPI_COMM_WORLD, &laps, &work);
    if (rank)
      be_worker(panels, &work);
    else if (ranks > 1)
      hand_out(ranks - 1, todo, tasks, results);
    else
      for (long i = 0; i < todo; ++i) integrate(tasks[i], panels, results[i], &work);
    lap(&laps);
  }

  double error = 0;
  for (long i = 0; rank == 0 && i < count; ++i) error = larger(error, error_of(tasks[i], results[i]));
  int wrong = check("master_worker", error, 1e-5);
  double us = us_per_iteration(&laps), t = ns_per_point(&work) / 1000;
  if (rank == 0)
    printf("master_worker tasks=%ld on %d ranks: %.6g us an iteration, t=%.4gus\n", count, ranks, us, t);
  free(tasks);
  free(results);
  MPI_Finalize();
  return wrong;
}
