/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 *     callbacks [jump]
 *
 * Functions of the program that MPI calls, and calls with wrong arguments: every rank prints what they returned.
 * With "jump" an error handler leaves calls by a jump, too. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, handled;
static char text[1 << 16];
static size_t used;

static void say(const char* what, int value) {
  used += (size_t)snprintf(text + used, sizeof text - used, "%s %d\n", what, value);
}

/* The class, as codes may differ between runs. */
static void returned(const char* what, int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  say(what, class);
}

static void counting(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handled;
}

static jmp_buf back;
static void jumping(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handled;
  longjmp(back, 1);
}

static int copies, deletions;
static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)key;
  (void)extra;
  int result = 0, me = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
  ++copies;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  int me = 0;
  (void)key;
  (void)value;
  (void)extra;
  MPI_Comm_rank(comm, &me);
  ++deletions;
  return MPI_SUCCESS;
}

static void attributes(void) {
  int key = 0, own = 0, none = 0, type_key = 0, flag = 0;
  void* value = NULL;
  MPI_Comm two, three;
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &own, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &none, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void*)100);
  MPI_Comm_set_attr(MPI_COMM_WORLD, own, (void*)200);
  MPI_Comm_set_attr(MPI_COMM_WORLD, none, (void*)300);
  MPI_Comm_dup(MPI_COMM_WORLD, &two);
  MPI_Comm_dup(two, &three);
  MPI_Comm_get_attr(three, key, &value, &flag);
  say("copied twice", flag ? (int)(long)value : -1);
  MPI_Comm_get_attr(three, own, &value, &flag);
  say("duplicated", flag ? (int)(long)value : -1);
  MPI_Comm_get_attr(three, none, &value, &flag);
  say("not copied", flag);
  MPI_Comm_delete_attr(three, key);
  MPI_Comm_free(&three);
  MPI_Comm_free(&two);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, none);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, own);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)1); /* deleted by MPI_Finalize */
  MPI_Comm_free_keyval(&none);
  MPI_Comm_free_keyval(&own);
  MPI_Datatype type;
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
  MPI_Type_set_attr(MPI_INT, type_key, (void*)5);
  MPI_Type_dup(MPI_INT, &type);
  MPI_Type_get_attr(type, type_key, &value, &flag);
  say("of a type", flag);
  MPI_Type_free(&type);
  MPI_Type_delete_attr(MPI_INT, type_key);
  MPI_Type_free_keyval(&type_key);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  say("tags", flag && *(int*)value >= 32767);
}

static void nested(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes = 0, me = 0;
  double now = MPI_Wtime(), then = 0;
  MPI_Type_size(*type, &bytes);
  MPI_Comm_rank(MPI_COMM_SELF, &me);
  MPI_Sendrecv(&now, 1, MPI_DOUBLE, 0, 0, &then, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  for (int k = 0; k < *count; ++k) ((int*)inout)[k] += ((int*)in)[k] * (bytes == 4 ? 1 : 1000) + me;
}

static void reductions(void) {
  MPI_Op op;
  int in[4] = {rank, 1, 2, 3}, out[4] = {0};
  MPI_Op_create(nested, 1, &op);
  for (int k = 0; k < 3; ++k) MPI_Allreduce(in, out, 4, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Scan(in, out, 4, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  say("scanned", out[0] + 10 * out[3]);
}

static void wrong(MPI_Comm comm) {
  int value = 0, flag = 0, index = 0;
  MPI_Request request = MPI_REQUEST_NULL, several[2];
  MPI_Status status, statuses[2];
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  returned("send to a rank that there is not", MPI_Send(&value, 1, MPI_INT, size, 0, comm));
  returned("send with a wrong tag", MPI_Send(&value, 1, MPI_INT, 0, -5, comm));
  returned("send a negative count", MPI_Send(&value, -1, MPI_INT, 0, 0, comm));
  returned("send of no type", MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm));
  returned("send on no communicator", MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
  returned("receive from a rank that there is not", MPI_Recv(&value, 1, MPI_INT, size, 0, comm, &status));
  returned("receive on no communicator", MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request));
  returned("isend", MPI_Isend(&value, 1, MPI_INT, size + 3, 0, comm, &request));
  returned("isend without a request", MPI_Isend(&value, 1, MPI_INT, rank, 0, comm, NULL));
  returned("no request", MPI_Wait(NULL, &status));
  returned("no requests", MPI_Waitall(2, NULL, statuses));
  returned("no requests to test", MPI_Testany(2, NULL, &index, &flag, &status));
  returned("negative number", MPI_Waitall(-1, several, statuses));
  returned("free no request", MPI_Request_free(&request));
  returned("free the world", MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}));
  returned("free no communicator", MPI_Comm_free(&made));
  returned("duplicate nothing", MPI_Comm_dup(MPI_COMM_NULL, &made));
  returned("duplicate to nowhere", MPI_Comm_dup(comm, NULL));
  returned("broadcast from nobody", MPI_Bcast(&value, 1, MPI_INT, size, comm));
  returned("gather without type", MPI_Gather(&value, 1, MPI_INT, several, 1, MPI_DATATYPE_NULL, size, comm));
  returned("reduce with no operation", MPI_Allreduce(&value, &flag, 1, MPI_INT, MPI_OP_NULL, comm));
  returned("free no type", MPI_Type_free(&type));
  returned("start nothing", MPI_Start(&request));
  returned("no size", MPI_Type_size(MPI_INT, NULL));
  returned("no flag", MPI_Test(&request, NULL, &status));
  returned("probe", MPI_Probe(size, 0, comm, &status));
  returned("unopened file", MPI_File_close(&(MPI_File){MPI_FILE_NULL}));
  MPI_File file = MPI_FILE_NULL;
  returned("file that there is not", MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  returned("free no window", MPI_Win_free(&(MPI_Win){MPI_WIN_NULL}));
  returned("put into no window", MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL));
  say("handled", handled);
}

/* Messages that are longer than the buffer: the call fails, and the message is gone. */
static void truncated(MPI_Comm comm) {
  char out[64] = {0}, in[64];
  MPI_Request requests[8];
  MPI_Status status, statuses[4];
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int way = 0; way < 4; ++way) {
    for (int k = 0; k < 8; ++k) MPI_Isend(out, 20 + 8 * way + k, MPI_CHAR, right, 3, comm, &requests[k]);
    const int room = 21 + 8 * way; /* for the first two of them */
    MPI_Request receives[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (way == 0)
      for (int k = 0; k < 4; ++k) returned("truncated", MPI_Recv(in, room, MPI_CHAR, left, 3, comm, &status));
    if (way == 1)
      for (int k = 0; k < 4; ++k) {
        MPI_Irecv(in, room, MPI_CHAR, left, 3, comm, &receives[0]);
        returned("truncated", MPI_Wait(&receives[0], &status));
      }
    if (way == 2) {
      for (int k = 0; k < 4; ++k) MPI_Irecv(in, room, MPI_CHAR, left, 3, comm, &receives[k]);
      returned("truncated", MPI_Waitall(4, receives, statuses));
      for (int k = 0; k < 4; ++k)
        if (receives[k] != MPI_REQUEST_NULL) MPI_Wait(&receives[k], &status);
    }
    if (way == 3)
      for (int k = 0; k < 4; ++k)
        returned("truncated", MPI_Sendrecv(out, 1, MPI_CHAR, right, 4, in, k == 0 ? 64 : room, MPI_CHAR, left, 3, comm, &status));
    for (int k = 4; k < 8; ++k) MPI_Recv(in, 64, MPI_CHAR, left, 3, comm, &status);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    if (way == 3)
      for (int k = 0; k < 4; ++k) MPI_Recv(in, 64, MPI_CHAR, left, 4, comm, &status);
    for (int k = 0; k < 10; ++k) MPI_Sendrecv(out, 50, MPI_CHAR, right, 5, in, 64, MPI_CHAR, left, 5, comm, &status);
    MPI_Barrier(comm);
  }
}

/* Deeper on the stack than the call that was left by a jump. */
static __attribute__((noinline)) int deeper(MPI_Comm comm, int levels) {
  volatile char room[300];
  int me = 0;
  room[levels] = 1;
  if (levels > 0) return deeper(comm, levels - 1) + room[levels];
  MPI_Comm_rank(comm, &me);
  MPI_Comm_set_name(comm, "deeper");
  return me;
}

static void jumped(MPI_Comm comm) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(jumping, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  for (volatile int k = 0; k < 3; ++k)
    if (!setjmp(back)) MPI_Send(text, 1, MPI_CHAR, size, 0, comm);
  say("jumped", deeper(comm, 5) + handled);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
}

static __attribute__((noinline)) void levels(void) {
  MPI_Pcontrol(1);
  MPI_Pcontrol(2); /* of the standard: without a name */
  ((int (*)(int, void*, ...))MPI_Pcontrol)(2, (void*)1);
  ((int (*)(int, void*, ...))MPI_Pcontrol)(2, (void*)0xdead0000beefUL);
  MPI_Pcontrol(2, "");
  MPI_Pcontrol(-2);
  MPI_Pcontrol(3, 1.5);
  MPI_Pcontrol(2, "first");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(2, "second region");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(-2);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(2, "first");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(-2, "first");
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm two;
  MPI_Request request;
  int in = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &two);
  MPI_Irecv(&in, 1, MPI_INT, rank, 1, two, &request);
  MPI_Send(&in, 1, MPI_INT, rank, 1, two);
  MPI_Pcontrol(0);
  MPI_Pcontrol(1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(two);
  MPI_Comm_free(&two);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  attributes();
  reductions();
  MPI_Comm comm;
  MPI_Errhandler handler, read;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  wrong(comm);
  MPI_Comm_create_errhandler(counting, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  wrong(comm);
  MPI_Comm_get_errhandler(comm, &read);
  say("handler kept", read == handler);
  MPI_Errhandler_free(&read);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  truncated(comm);
  if (argc > 1 && strcmp(argv[1], "jump") == 0) jumped(comm);
  levels();
  MPI_Comm_free(&comm);
  for (int k = 0; k < size; ++k) {
    if (rank == k) fputs(text, stdout), fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  if (rank == 0) printf("copies %d deletions %d handled %d\n", copies, deletions, handled);
  return 0;
}
