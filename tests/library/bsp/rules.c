/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * rules WHICH: all (every rule that a correct program relies on), one of the errors, or a way to begin. */
#include "rules.h"

#include <mpi.h>
#include <setjmp.h>
#include <stdlib.h>

static int tried(const Rule* rules) {
  int count = 0;
  for (; rules[count].name; ++count) rules[count].run();
  return count;
}

static void run_all(void) {
  bsp_begin(bsp_nprocs());
  int count = tried(memory_rules) + tried(message_rules) + tried(size_rules);
  double now = bsp_time();
  EXPECT(now >= 0 && now < 600 && bsp_time() >= now);
  EXPECT(bsp_pid() >= 0 && bsp_pid() < bsp_nprocs());
  bsp_end();
  printf("fine %d\n", count);
}

static void run_error(const Rule* rule) {
  bsp_begin(bsp_nprocs());
  rule->run();
  bsp_end();
  printf("no error\n");
}

/* ---- Several errors in one launch, which end at MPI_Abort ---- */

static jmp_buf caught;
static int catching = 0;

int MPI_Abort(MPI_Comm comm, int code) {
  if (!catching) return PMPI_Abort(comm, code);
  catching = 0;
  longjmp(caught, 1);
}

static void run_one(const Rule* rule) {
  if (bsp_pid() == 1) fprintf(stderr, "rule %s from superstep %d\n", rule->name, steps);
  catching = bsp_pid() == 1;
  if (setjmp(caught) == 0) {
    rule->run();
    if (bsp_pid() == 1) fprintf(stderr, "no error\n");
  } else {
    step(); /* the one that process 0 is in */
  }
  catching = 0;
}

static void run_errors(char** names) {
  bsp_begin(bsp_nprocs());
  for (; *names; ++names)
    for (const Rule* rule = errors; rule->name; ++rule)
      if (strcmp(rule->name, *names) == 0) run_one(rule);
  bsp_end();
}

/* ---- Ways to begin and to end ---- */

static int prologue = 0;

static void section(void) {
  bsp_begin(prologue ? prologue : 1000);
  int sum = 0, one = 1, counts[64] = {0};
  /* Only process 0 has run the prologue. */
  EXPECT((prologue > 0) == (bsp_pid() == 0));
  bsp_push_reg(counts, sizeof counts);
  bsp_sync();
  bsp_put(0, &one, counts, bsp_pid() * (int)sizeof(int), sizeof(int));
  bsp_sync();
  for (int k = 0; k < 64; ++k) sum += counts[k];
  EXPECT(bsp_pid() > 0 || sum == bsp_nprocs());
  bsp_end();
  printf("process 0 of %d\n", bsp_nprocs());
}

int main(int argc, char* argv[]) {
  const char* which = argc > 1 ? argv[1] : "all";
  if (strcmp(which, "init") == 0) {
    bsp_init(section, argc, argv);
    prologue = atoi(argv[2]);
    section();
    return 0;
  }
  if (strcmp(which, "subset") == 0) {
    prologue = 0;
    int started = bsp_nprocs();
    bsp_begin(2);
    EXPECT(bsp_nprocs() == (started < 2 ? started : 2));
    bsp_sync();
    bsp_end();
    printf("%d of %d\n", bsp_nprocs(), started);
    return 0;
  }
  if (strcmp(which, "own_mpi") == 0) {
    MPI_Init(&argc, &argv);
    bsp_begin(2);
    bsp_sync();
    bsp_end();
    int members = 1, all = 0;
    MPI_Comm both;
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &both);
    MPI_Allreduce(&members, &all, 1, MPI_INT, MPI_SUM, both);
    printf("%d of %d\n", all, bsp_nprocs());
    MPI_Comm_free(&both);
    MPI_Finalize();
    return 0;
  }
  if (strcmp(which, "all") == 0) {
    run_all();
    return 0;
  }
  if (strcmp(which, "errors") == 0) {
    run_errors(argv + 2);
    return 0;
  }
  /* Errors outside of the section. */
  if (strcmp(which, "begin_zero") == 0) bsp_begin(0);
  if (strcmp(which, "begin_twice") == 0) bsp_begin(bsp_nprocs()), bsp_begin(1);
  if (strcmp(which, "pid_before_begin") == 0) return bsp_pid();
  if (strcmp(which, "sync_before_begin") == 0) bsp_sync();
  if (strcmp(which, "put_before_begin") == 0) bsp_put(0, argv, argv, 0, 1);
  if (strcmp(which, "abort_before_begin") == 0) bsp_abort("the program %s\n", "ends here");
  if (strcmp(which, "end_before_begin") == 0) bsp_end();
  if (strcmp(which, "end_twice") == 0) bsp_begin(bsp_nprocs()), bsp_end(), bsp_end();
  if (strcmp(which, "no_end") == 0) {
    bsp_begin(bsp_nprocs());
    return 0;
  }
  if (strcmp(which, "init_late") == 0) {
    bsp_begin(bsp_nprocs());
    bsp_init(section, argc, argv);
  }
  for (const Rule* rule = errors; rule->name; ++rule)
    if (strcmp(which, rule->name) == 0) run_error(rule);
  return 0;
}
