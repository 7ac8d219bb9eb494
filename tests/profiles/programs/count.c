/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Counts the outermost calls of each MPI function. The wrappers in wrappers.h are written by the test from the
 * declarations in mpi.h: it defines NAMES, and a function for each of them that calls `enter` and `leave`.
 * MPI_Finalize, or else the end of the process, writes the counts into $COUNT_FOLDER/PID. Calls between
 * MPI_Pcontrol(0) and MPI_Pcontrol(1) are not counted, nor is the first of these two. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread int depth;
static int paused, written;

static void enter(int function);
static void leave(int function);
static void write_counts(void);

#include "wrappers.h"

static long counts[sizeof names / sizeof *names];

static void enter(int function) {
  if (++depth != 1) return;
  if (!paused && !written) __atomic_add_fetch(&counts[function], 1, __ATOMIC_RELAXED);
  if (strcmp(names[function], "Finalize") == 0) write_counts();
}

static void leave(int function) {
  (void)function;
  --depth;
}

static void write_counts(void) {
  const char* const folder = getenv("COUNT_FOLDER");
  char path[4096];
  if (!folder || written) return;
  written = 1;
  snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
  FILE* const file = fopen(path, "w");
  if (!file) abort();
  for (unsigned k = 0; k < sizeof names / sizeof *names; ++k)
    if (counts[k]) fprintf(file, "%s %ld\n", names[k], counts[k]);
  fclose(file);
}

static pid_t started;

__attribute__((constructor)) static void start(void) {
  started = getpid();
}

__attribute__((destructor)) static void stop(void) {
  int any = 0;
  for (unsigned k = 0; k < sizeof names / sizeof *names; ++k) any |= counts[k] != 0;
  if (any && getpid() == started) write_counts();
}

int MPI_Pcontrol(const int level, ...) {
  const int name = pcontrol_name;
  if (level == 0 && depth == 0) paused = 1;
  enter(name);
  /* The arguments, if there are any, are passed on as they came. */
  static int (*next)(const int, void*, void*);
  if (!next) next = (int (*)(const int, void*, void*))dlsym(RTLD_NEXT, "MPI_Pcontrol");
  __builtin_va_list more;
  __builtin_va_start(more, level);
  void* const one = __builtin_va_arg(more, void*);
  void* const two = __builtin_va_arg(more, void*);
  __builtin_va_end(more);
  const int code = ((int (*)(const int, ...))next)(level, one, two);
  if (level == 1 && depth == 1 && paused) {
    paused = 0;
    if (!written) __atomic_add_fetch(&counts[name], 1, __ATOMIC_RELAXED);
  }
  leave(name);
  return code;
}
