/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 *     endings HOW
 *
 * A program that begins and ends in one of many ways: finalize, abort, exit, kill, fork, outside (calls before MPI_Init
 * and after MPI_Finalize), sessions, sessions-twice, both (sessions
 * and MPI_Init), spawn, many (communicators), requests, deep
 * (recursion), descriptor (of the profile's file, which is closed). Each rank has 100
 * barriers on MPI_COMM_WORLD before its end. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static void barriers(MPI_Comm on) {
  for (int k = 0; k < 100; ++k) MPI_Barrier(on);
}

/* Closes the profile's file, if there is one, and opens another one, whose descriptor may be the same. */
static int other_file(void) {
  char path[64], place[4096];
  for (int k = 3; k < 256; ++k) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", k);
    const ssize_t length = readlink(path, place, sizeof place - 1);
    if (length > 4 && memcmp(place + length - 4, ".hkp", 4) == 0) close(k);
  }
  FILE* const file = tmpfile();
  if (!file || fputs("ten bytes.", file) == EOF || fflush(file) != 0) abort();
  return dup(fileno(file));
}

/* Each depth of the stack is a call site of its own. */
static __attribute__((noinline)) int deep(int levels) {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  return levels > 0 ? deep(levels - 1) + me : me;
}

#if MPI_VERSION >= 4 || defined(OPEN_MPI)
static void sessions(int how_many) {
  for (int k = 0; k < how_many; ++k) {
    MPI_Session session;
    MPI_Group group, some;
    MPI_Comm all, sub;
    int me = 0, n = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "all of them", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &n);
    barriers(all);
    MPI_Comm_split(all, me % 2, 0, &sub);
    int in = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 1, &in, 1, MPI_INT, (me + n - 1) % n, 1, all, MPI_STATUS_IGNORE);
    MPI_Allreduce(&me, &in, 1, MPI_INT, MPI_SUM, sub);
    if (me == 0) printf("session %d %d\n", k, in);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&all);
    const int last[] = {n - 1};
    MPI_Group_incl(group, 1, last, &some);
    if (me == n - 1) {
      MPI_Comm_create_from_group(some, "the last", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &sub);
      MPI_Barrier(sub);
      MPI_Comm_free(&sub);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
  }
}
#else
static void sessions(int how_many) {
  (void)how_many;
}
#endif

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "finalize";
  if (strncmp(how, "sessions", 8) == 0) {
    sessions(strcmp(how, "sessions") == 0 ? 1 : 2);
    return 0;
  }
  if (strcmp(how, "both") == 0) sessions(1);
  int flag = 0, version = 0, length = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  if (strcmp(how, "outside") == 0) {
    MPI_Initialized(&flag);
    MPI_Finalized(&length);
    MPI_Get_version(&version, &length);
    MPI_Get_library_version(text, &length);
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0 && strcmp(how, "spawn") != 0) printf("%s\n", how), fflush(stdout);
  barriers(MPI_COMM_WORLD);
  if (strcmp(how, "abort") == 0) {
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    for (;;) pause();
  }
  if (strcmp(how, "exit") == 0) _exit(5);
  if (strcmp(how, "kill") == 0) {
    if (rank == 0) kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  if (strcmp(how, "fork") == 0) {
    for (int k = 0; k < 2; ++k) {
      const pid_t child = fork();
      if (child == 0) {
        MPI_Initialized(&flag); /* not recorded, and no harm to the parent's file */
        execl("/bin/true", "true", NULL);
        _exit(1);
      }
      waitpid(child, &version, 0);
      if (version != 0) MPI_Abort(MPI_COMM_WORLD, 9);
    }
    if (system("/bin/true") != 0) MPI_Abort(MPI_COMM_WORLD, 9);
    barriers(MPI_COMM_WORLD);
  }
  if (strcmp(how, "spawn") == 0) {
    MPI_Comm parent, children, all;
    MPI_Comm_get_parent(&parent);
    int in = -1;
    if (parent == MPI_COMM_NULL) {
      char* arguments[] = {(char*)"spawn", NULL};
      MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
      if (rank == 0) MPI_Send(&size, 1, MPI_INT, 1, 3, children);
      MPI_Intercomm_merge(children, 0, &all);
      MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_SUM, all);
      if (rank == 0) printf("merged %d\n", in);
      MPI_Comm_disconnect(&children);
    } else {
      if (rank == 1) MPI_Recv(&in, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
      MPI_Intercomm_merge(parent, 1, &all);
      MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_SUM, all);
      MPI_Comm_disconnect(&parent);
    }
    MPI_Comm_free(&all);
  }
  if (strcmp(how, "requests") == 0) { /* more than are kept at once */
    int out[2] = {0}, in[2] = {0}, index = 0, done = 0, indices[4];
    MPI_Request each[4];
    for (int k = 0; k < 300000; ++k) {
      for (int i = 0; i < 2; ++i) {
        MPI_Irecv(&in[i], 1, MPI_INT, i ? MPI_ANY_SOURCE : 0, i, MPI_COMM_SELF, &each[i]);
        MPI_Isend(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &each[2 + i]);
      }
      if (k % 4 == 0) MPI_Waitall(4, each, MPI_STATUSES_IGNORE);
      if (k % 4 == 1)
        for (int i = 0; i < 4; ++i) MPI_Waitany(4, each, &index, MPI_STATUS_IGNORE);
      if (k % 4 == 2)
        for (int left = 4; left > 0; left -= done) MPI_Waitsome(4, each, &done, indices, MPI_STATUSES_IGNORE);
      if (k % 4 == 3)
        for (int i = 3; i >= 0; --i) MPI_Wait(&each[i], MPI_STATUS_IGNORE);
    }
  }
  int descriptor = -1;
  if (strcmp(how, "descriptor") == 0) {
    descriptor = other_file();
    deep(300);
  }
  if (strcmp(how, "deep") == 0)
    for (int k = 0; k < 3; ++k) deep(20000);
  if (strcmp(how, "many") == 0) {
    for (int k = 0; k < 20000; ++k) {
      MPI_Comm made;
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
      MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &flag, 1, MPI_INT, (rank + size - 1) % size, 1, made,
                   MPI_STATUS_IGNORE);
      MPI_Comm_free(&made);
    }
  }
  MPI_Finalize();
  if (descriptor >= 0) printf("%ld bytes\n", (long)lseek(descriptor, 0, SEEK_END));
  if (strcmp(how, "outside") == 0) {
    MPI_Finalized(&flag);
    MPI_Initialized(&version);
    MPI_Get_version(&version, &length);
    MPI_Get_library_version(text, &length);
    printf("finalized %d\n", flag);
  }
  return 0;
}
