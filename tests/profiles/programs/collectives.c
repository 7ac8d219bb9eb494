/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * All collective operations, on communicators made in every way, on at least 2 ranks; rank 0 prints checksums. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, ROOM = 4 * MOST };
static int rank, size;
static unsigned sum = 1;
static int a[ROOM], b[ROOM];
static int counts[MOST], places[MOST], bytes[MOST];
static MPI_Datatype types[MOST];

static void fresh(void) {
  for (int k = 0; k < ROOM; ++k) a[k] = rank * 7 + k, b[k] = -k;
}

static void got(void) {
  for (int k = 0; k < ROOM; ++k) sum = sum * 31 + (unsigned)b[k];
}

static void done(MPI_Request* request) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  got();
  fresh();
}

static void blocking(MPI_Comm on) {
  int n = 0, me = 0;
  MPI_Comm_size(on, &n);
  MPI_Comm_rank(on, &me);
  fresh();
  MPI_Barrier(on);
  for (int root = 0; root < n; ++root) {
    const int here = me == root;
    MPI_Bcast(b, 3, MPI_INT, root, on);
    MPI_Gather(here ? MPI_IN_PLACE : a, here ? 0 : 2, here ? MPI_DATATYPE_NULL : MPI_INT, here ? b : NULL, here ? 2 : -5,
               here ? MPI_INT : MPI_DATATYPE_NULL, root, on);
    MPI_Gatherv(a, counts[me], MPI_INT, here ? b : NULL, here ? counts : NULL, here ? places : NULL,
                here ? MPI_INT : MPI_DATATYPE_NULL, root, on);
    MPI_Scatter(here ? a : NULL, here ? 2 : -5, here ? MPI_INT : MPI_DATATYPE_NULL, here ? MPI_IN_PLACE : b, here ? 0 : 2,
                here ? MPI_DATATYPE_NULL : MPI_INT, root, on);
    MPI_Scatterv(here ? a : NULL, here ? counts : NULL, here ? places : NULL, here ? MPI_INT : MPI_DATATYPE_NULL, b,
                 counts[me], MPI_INT, root, on);
    MPI_Reduce(here ? MPI_IN_PLACE : a, here ? b : NULL, 3, MPI_INT, MPI_SUM, root, on);
    got();
  }
  fresh();
  MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, on);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, on);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, places, MPI_INT, on);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, on);
  MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, on);
  got();
  fresh();
  int ones[MOST], steps[MOST];
  for (int k = 0; k < MOST; ++k) ones[k] = 1, steps[k] = k;
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, ones, steps, MPI_INT, on);
  MPI_Alltoallv(a, ones, steps, MPI_INT, b, ones, steps, MPI_INT, on);
  MPI_Alltoallw(a, ones, bytes, types, b, ones, bytes, types, on);
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, b, ones, bytes, types, on);
  MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INT, MPI_MAX, on);
  MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, on);
  MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, on);
  MPI_Scan(a, b, 2, MPI_INT, MPI_SUM, on);
  MPI_Exscan(MPI_IN_PLACE, a, 2, MPI_INT, MPI_SUM, on);
  got();
}

static void nonblocking(MPI_Comm on) {
  MPI_Request request, several[3];
  int ones[MOST], steps[MOST], n = 0, me = 0;
  MPI_Comm_size(on, &n);
  MPI_Comm_rank(on, &me);
  for (int k = 0; k < MOST; ++k) ones[k] = 1, steps[k] = k;
  fresh();
  MPI_Ibarrier(on, &request), done(&request);
  MPI_Ibcast(b, 3, MPI_INT, 0, on, &request), done(&request);
  MPI_Igather(a, 2, MPI_INT, b, 2, MPI_INT, n - 1, on, &request), done(&request);
  MPI_Igatherv(a, counts[me], MPI_INT, b, counts, places, MPI_INT, 0, on, &request), done(&request);
  MPI_Iscatter(a, 2, MPI_INT, b, 2, MPI_INT, 0, on, &request), done(&request);
  MPI_Iscatterv(a, counts, places, MPI_INT, b, counts[me], MPI_INT, 0, on, &request), done(&request);
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, on, &request), done(&request);
  MPI_Iallgatherv(a, counts[me], MPI_INT, b, counts, places, MPI_INT, on, &request), done(&request);
  MPI_Ialltoall(a, 1, MPI_INT, b, 1, MPI_INT, on, &request), done(&request);
  MPI_Ialltoallv(a, ones, steps, MPI_INT, b, ones, steps, MPI_INT, on, &request), done(&request);
  MPI_Ialltoallw(a, ones, bytes, types, b, ones, bytes, types, on, &request), done(&request);
  MPI_Ireduce(a, b, 3, MPI_INT, MPI_SUM, 0, on, &request), done(&request);
  MPI_Iallreduce(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, on, &request), done(&request);
  MPI_Ireduce_scatter(a, b, counts, MPI_INT, MPI_SUM, on, &request), done(&request);
  MPI_Ireduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, on, &request), done(&request);
  MPI_Iscan(a, b, 2, MPI_INT, MPI_SUM, on, &request), done(&request);
  MPI_Iexscan(a, b, 2, MPI_INT, MPI_SUM, on, &request), done(&request);
  /* Completed in another order. */
  MPI_Ibarrier(on, &several[2]);
  MPI_Iallreduce(a, b, 3, MPI_INT, MPI_SUM, on, &several[1]);
  MPI_Ibcast(b + 8, 3, MPI_INT, 0, on, &several[0]);
  MPI_Waitall(3, several, MPI_STATUSES_IGNORE);
  got();
}

static void persistent(MPI_Comm on) {
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
  enum { KINDS = 17 };
  MPI_Request all[KINDS];
  int ones[MOST], steps[MOST], n = 0, me = 0, k = 0;
  MPI_Comm_size(on, &n);
  MPI_Comm_rank(on, &me);
  for (int i = 0; i < MOST; ++i) ones[i] = 1, steps[i] = i;
  const MPI_Info none = MPI_INFO_NULL;
  MPI_Barrier_init(on, none, &all[k++]);
  MPI_Bcast_init(b, 3, MPI_INT, 0, on, none, &all[k++]);
  MPI_Gather_init(a, 2, MPI_INT, b, 2, MPI_INT, 0, on, none, &all[k++]);
  MPI_Gatherv_init(a, counts[me], MPI_INT, b, counts, places, MPI_INT, 0, on, none, &all[k++]);
  MPI_Scatter_init(a, 2, MPI_INT, b, 2, MPI_INT, 0, on, none, &all[k++]);
  MPI_Scatterv_init(a, counts, places, MPI_INT, b, counts[me], MPI_INT, 0, on, none, &all[k++]);
  MPI_Allgather_init(a, 2, MPI_INT, b, 2, MPI_INT, on, none, &all[k++]);
  MPI_Allgatherv_init(a, counts[me], MPI_INT, b, counts, places, MPI_INT, on, none, &all[k++]);
  MPI_Alltoall_init(a, 1, MPI_INT, b, 1, MPI_INT, on, none, &all[k++]);
  MPI_Alltoallv_init(a, ones, steps, MPI_INT, b, ones, steps, MPI_INT, on, none, &all[k++]);
  MPI_Alltoallw_init(a, ones, bytes, types, b, ones, bytes, types, on, none, &all[k++]);
  MPI_Reduce_init(a, b, 3, MPI_INT, MPI_SUM, 0, on, none, &all[k++]);
  MPI_Allreduce_init(a, b, 3, MPI_INT, MPI_SUM, on, none, &all[k++]);
  MPI_Reduce_scatter_init(a, b, counts, MPI_INT, MPI_SUM, on, none, &all[k++]);
  MPI_Reduce_scatter_block_init(a, b, 2, MPI_INT, MPI_SUM, on, none, &all[k++]);
  MPI_Scan_init(a, b, 2, MPI_INT, MPI_SUM, on, none, &all[k++]);
  MPI_Exscan_init(a, b, 2, MPI_INT, MPI_SUM, on, none, &all[k++]);
  for (int turn = 0; turn < 3; ++turn)
    for (int i = 0; i < k; ++i) {
      fresh();
      MPI_Start(&all[i]);
      done(&all[i]);
    }
  for (int i = 0; i < k; ++i) MPI_Request_free(&all[i]);
#endif
}

static void neighbors(void) {
  MPI_Comm ring, grid, graph, line, shaped;
  MPI_Request request;
  const int dims[] = {size}, periods[] = {1};
  int two[] = {0, 0}, flat[] = {0, 0}, keep[] = {1, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  const int ones[] = {1, 1}, steps[] = {0, 1};
  const MPI_Aint wide[] = {0, sizeof(int)};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  fresh();
  MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, ring);
  MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, ones, steps, MPI_INT, ring);
  MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, ring);
  MPI_Neighbor_alltoallv(a, ones, steps, MPI_INT, b, ones, steps, MPI_INT, ring);
  MPI_Neighbor_alltoallw(a, ones, wide, ints, b, ones, wide, ints, ring);
  got();
  MPI_Ineighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, ring, &request), done(&request);
  MPI_Ineighbor_allgatherv(a, 1, MPI_INT, b, ones, steps, MPI_INT, ring, &request), done(&request);
  MPI_Ineighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, ring, &request), done(&request);
  MPI_Ineighbor_alltoallv(a, ones, steps, MPI_INT, b, ones, steps, MPI_INT, ring, &request), done(&request);
  MPI_Ineighbor_alltoallw(a, ones, wide, ints, b, ones, wide, ints, ring, &request), done(&request);
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
  MPI_Neighbor_alltoall_init(a, 1, MPI_INT, b, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Start(&request);
    done(&request);
  }
  MPI_Request_free(&request);
#endif
  MPI_Comm_free(&ring);
  MPI_Dims_create(size, 2, two);
  MPI_Cart_create(MPI_COMM_WORLD, 2, two, flat, 0, &grid);
  MPI_Cart_sub(grid, keep, &line);
  MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, line);
  MPI_Comm_free(&line);
  MPI_Comm_free(&grid);
  const int to[] = {(rank + 1) % size}, from[] = {(rank + size - 1) % size};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, graph);
  MPI_Comm_free(&graph);
  int degree[] = {1};
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, graph);
  MPI_Comm_free(&graph);
  int index[MOST], edges[MOST];
  for (int k = 0; k < size; ++k) index[k] = k + 1, edges[k] = (k + 1) % size;
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &shaped);
  MPI_Barrier(shaped);
  MPI_Comm_free(&shaped);
  got();
}

/* Both groups, of unequal sizes, and from one of them to the other. */
static void between_groups(void) {
  MPI_Comm half, both, again, merged;
  const int upper = rank >= (size + 1) / 2;
  MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : (size + 1) / 2, 5, &both);
  MPI_Comm_dup(both, &again);
  int others = 0, me = 0, ours = 0;
  MPI_Comm_remote_size(both, &others);
  MPI_Comm_size(both, &ours);
  MPI_Comm_rank(both, &me);
  fresh();
  MPI_Barrier(both);
  const int root = !upper ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  const int takes_part = upper || me == 0;
  MPI_Bcast(takes_part ? b : NULL, takes_part ? 3 : 0, MPI_INT, root, both);
  MPI_Reduce(takes_part ? a : NULL, takes_part ? b : NULL, takes_part ? 3 : 0, MPI_INT, MPI_SUM, root, both);
  MPI_Gather(upper ? a : NULL, upper ? 2 : 0, upper ? MPI_INT : MPI_DATATYPE_NULL, upper ? NULL : b, 2,
             !upper && me == 0 ? MPI_INT : MPI_DATATYPE_NULL, root, both);
  MPI_Allreduce(a, b, 3, MPI_INT, MPI_SUM, both);
  MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, both);
  MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, both);
  int some[MOST], steps[MOST];
  for (int k = 0; k < MOST; ++k) some[k] = 1, steps[k] = k;
  MPI_Allgatherv(a, 1, MPI_INT, b, some, steps, MPI_INT, both);
  /* As many elements in both groups; the counts are those of the own one. */
  int* const mine = malloc(ours * sizeof *mine);
  for (int k = 0; k < ours; ++k) mine[k] = others;
  MPI_Reduce_scatter(a, b, mine, MPI_INT, MPI_SUM, both);
  free(mine);
  got();
  /* Messages with equal tags on both, received in another order than sent. */
  if (ours == others || me < (ours < others ? ours : others)) {
    char out[64] = {0}, in[64];
    MPI_Request requests[8];
    for (int k = 0; k < 4; ++k) MPI_Isend(out, 10 + k, MPI_CHAR, me, 3, k % 2 ? both : again, &requests[k]);
    for (int k = 0; k < 4; ++k) {
      MPI_Status status;
      int length = 0;
      MPI_Recv(in, 64, MPI_CHAR, me, 3, k < 2 ? both : again, &status);
      MPI_Get_count(&status, MPI_CHAR, &length);
      sum = sum * 31 + (unsigned)length;
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Intercomm_merge(both, upper, &merged);
  MPI_Allreduce(a, b, 3, MPI_INT, MPI_SUM, merged);
  got();
  MPI_Comm_free(&merged);
  MPI_Comm_free(&both);
  MPI_Comm_free(&again);
  MPI_Comm_free(&half);
}

/* Handles are used again; names tell the communicators of the profile apart. */
static void made(void) {
  MPI_Comm one, two, three, four;
  MPI_Group world, some;
  MPI_Request request[2];
  for (int k = 0; k < 5; ++k) {
    MPI_Comm_split(MPI_COMM_WORLD, (rank + k) % 2, -rank, &one);
    MPI_Comm_set_name(one, (rank + k) % 2 ? "odd" : "even");
    MPI_Allreduce(a, b, 1 + k, MPI_INT, MPI_SUM, one);
    MPI_Comm_free(&one);
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &one);
  if (one != MPI_COMM_NULL) MPI_Comm_set_name(one, "all but 0"), MPI_Barrier(one), MPI_Comm_free(&one);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &one);
  MPI_Comm_set_name(one, "node");
  MPI_Barrier(one);
  MPI_Comm_free(&one);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &one);
  MPI_Comm_set_name(one, "with info");
  MPI_Barrier(one);
  /* Two at the same time, first used in different orders. */
  MPI_Comm_idup(MPI_COMM_WORLD, &two, &request[0]);
  MPI_Comm_idup(MPI_COMM_WORLD, &three, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPI_Request barrier[2];
  MPI_Ibarrier(rank % 2 ? two : three, &barrier[0]);
  MPI_Ibarrier(rank % 2 ? three : two, &barrier[1]);
  MPI_Waitall(2, barrier, MPI_STATUSES_IGNORE);
  MPI_Comm_set_name(two, "first idup");
  MPI_Comm_set_name(three, "second idup");
  MPI_Barrier(two);
  MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, three);
  MPI_Comm_free(&two);
  MPI_Comm_free(&three);
  /* Of some ranks only, who alone know of it, then of all again. */
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int first[] = {0, 1};
  MPI_Group_incl(world, 2, first, &some);
  if (rank < 2) {
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 1, &two);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 2, &three);
    MPI_Comm_set_name(two, "first of two");
    MPI_Comm_set_name(three, "second of two");
    MPI_Barrier(two);
    MPI_Barrier(three);
    MPI_Comm_free(&two);
    MPI_Comm_free(&three);
  }
  MPI_Comm_create_group(MPI_COMM_WORLD, world, 3, &two);
  MPI_Comm_set_name(two, "group of all");
  MPI_Barrier(two);
  MPI_Comm_create(MPI_COMM_WORLD, some, &three);
  MPI_Comm_create(MPI_COMM_WORLD, world, &four);
  MPI_Comm_set_name(four, "created");
  MPI_Barrier(four);
  if (three != MPI_COMM_NULL) MPI_Comm_set_name(three, "created of two"), MPI_Barrier(three), MPI_Comm_free(&three);
  MPI_Comm_free(&two);
  MPI_Comm_free(&four);
  MPI_Comm_free(&one);
  MPI_Group_free(&some);
  MPI_Group_free(&world);
  MPI_Barrier(MPI_COMM_SELF);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int k = 0; k < MOST; ++k) {
    counts[k] = 1 + k % 2;
    places[k] = 2 * k;
    bytes[k] = k * (int)sizeof(int);
    types[k] = MPI_INT;
  }
  blocking(MPI_COMM_WORLD);
  nonblocking(MPI_COMM_WORLD);
  persistent(MPI_COMM_WORLD);
  neighbors();
  between_groups();
  made();
  unsigned sums[64];
  MPI_Gather(&sum, 1, MPI_UNSIGNED, sums, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  if (rank == 0)
    for (int k = 0; k < size; ++k) printf("rank %d %u\n", k, sums[k]);
  MPI_Finalize();
  return 0;
}
