/* SPDX-FileCopyrightText: The hockney authors
   SPDX-License-Identifier: Apache-2.0
   Programs that only communicate: collective_programs OPERATION BYTES STEPS. BYTES are those of each rank's block
   or vector. A nonblocking collective has the letter i before its name. The first rank prints its time after
   MPI_Init, in seconds; it is the last one in a reduction at the end. Ranks may share the buffers, whose
   contents do not matter. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *out, *in;

typedef struct {
    int rank, size, bytes, steps, *counts, *places;
    MPI_Datatype *types;
} Job;

static void collective(const char *name, const Job *job) {
    const int nonblocking = name[0] == 'i', n = job->bytes, doubles = n / 8, *counts = job->counts, *places = job->places;
    const char *base = name + nonblocking;
    const MPI_Comm all = MPI_COMM_WORLD;
    MPI_Request request;
#define CALL(NAME, ...) \
    if (!strcmp(base, #NAME)) { \
        if (nonblocking) MPI_I##NAME(__VA_ARGS__, &request); else MPI_##NAME(__VA_ARGS__); \
    }
#define MPI_barrier MPI_Barrier
#define MPI_bcast MPI_Bcast
#define MPI_reduce MPI_Reduce
#define MPI_allreduce MPI_Allreduce
#define MPI_reduce_scatter MPI_Reduce_scatter
#define MPI_reduce_scatter_block MPI_Reduce_scatter_block
#define MPI_scan MPI_Scan
#define MPI_exscan MPI_Exscan
#define MPI_gather MPI_Gather
#define MPI_gatherv MPI_Gatherv
#define MPI_scatter MPI_Scatter
#define MPI_scatterv MPI_Scatterv
#define MPI_allgather MPI_Allgather
#define MPI_allgatherv MPI_Allgatherv
#define MPI_alltoall MPI_Alltoall
#define MPI_alltoallv MPI_Alltoallv
#define MPI_alltoallw MPI_Alltoallw
    CALL(barrier, all)
    CALL(bcast, in, n, MPI_CHAR, 0, all)
    CALL(reduce, out, in, doubles, MPI_DOUBLE, MPI_SUM, 0, all)
    CALL(allreduce, out, in, doubles, MPI_DOUBLE, MPI_SUM, all)
    CALL(reduce_scatter_block, out, in, doubles, MPI_DOUBLE, MPI_SUM, all)
    CALL(scan, out, in, doubles, MPI_DOUBLE, MPI_SUM, all)
    CALL(exscan, out, in, doubles, MPI_DOUBLE, MPI_SUM, all)
    CALL(gather, out, n, MPI_CHAR, in, n, MPI_CHAR, 0, all)
    CALL(gatherv, out, n, MPI_CHAR, in, counts, places, MPI_CHAR, 0, all)
    CALL(scatter, out, n, MPI_CHAR, in, n, MPI_CHAR, 0, all)
    CALL(scatterv, out, counts, places, MPI_CHAR, in, n, MPI_CHAR, 0, all)
    CALL(allgather, out, n, MPI_CHAR, in, n, MPI_CHAR, all)
    CALL(allgatherv, out, n, MPI_CHAR, in, counts, places, MPI_CHAR, all)
    CALL(alltoall, out, n, MPI_CHAR, in, n, MPI_CHAR, all)
    CALL(alltoallv, out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, all)
    CALL(alltoallw, out, counts, places, job->types, in, counts, places, job->types, all)
    if (!strcmp(base, "reduce_scatter")) {
        int *elements = malloc(sizeof(int) * (size_t)job->size);
        for (int k = 0; k < job->size; ++k) elements[k] = doubles;
        if (nonblocking) MPI_Ireduce_scatter(out, in, elements, MPI_DOUBLE, MPI_SUM, all, &request);
        else MPI_Reduce_scatter(out, in, elements, MPI_DOUBLE, MPI_SUM, all);
        if (nonblocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(elements);
    } else if (nonblocking) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* A reduction by hand, in a binomial tree. */
static void tree(const Job *job) {
    for (int d = 1; d < job->size; d *= 2) {
        if (job->rank & d) {
            MPI_Send(out, job->bytes, MPI_CHAR, job->rank - d, 0, MPI_COMM_WORLD);
            return;
        }
        if (job->rank + d < job->size)
            MPI_Recv(in, job->bytes, MPI_CHAR, job->rank + d, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void ring(const Job *job) {
    for (int k = 1; k < job->size; ++k)
        MPI_Sendrecv(out, job->bytes, MPI_CHAR, (job->rank + 1) % job->size, 0, in, job->bytes, MPI_CHAR,
                     (job->rank + job->size - 1) % job->size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Each of these puts to the next rank and gets from the one before. */
static void one_sided(const char *name, const Job *job) {
    MPI_Win window;
    const int next = (job->rank + 1) % job->size, last = (job->rank + job->size - 1) % job->size;
    MPI_Win_create(in, job->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Group world, targets, origins;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next, &targets);
    MPI_Group_incl(world, 1, &last, &origins);
    if (!strncmp(name, "fence", 5)) MPI_Win_fence(0, window);
    for (int step = 0; step < job->steps; ++step) {
        if (!strcmp(name, "fence")) MPI_Win_fence(0, window);
        if (!strcmp(name, "fence_put")) {
            MPI_Put(out, job->bytes, MPI_CHAR, next, 0, job->bytes, MPI_CHAR, window);
            MPI_Win_fence(0, window);
        }
        if (!strcmp(name, "fence_get")) {
            MPI_Get(out, job->bytes, MPI_CHAR, last, 0, job->bytes, MPI_CHAR, window);
            MPI_Win_fence(0, window);
        }
        if (!strcmp(name, "fence_accumulate")) {
            MPI_Accumulate(out, job->bytes / 8, MPI_DOUBLE, next, 0, job->bytes / 8, MPI_DOUBLE, MPI_SUM, window);
            MPI_Win_fence(0, window);
        }
        if (!strcmp(name, "pscw")) {
            MPI_Win_post(origins, 0, window);
            MPI_Win_start(targets, 0, window);
            MPI_Put(out, job->bytes, MPI_CHAR, next, 0, job->bytes, MPI_CHAR, window);
            MPI_Win_complete(window);
            MPI_Win_wait(window);
        }
        if (!strcmp(name, "lock")) {
            MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
            MPI_Put(out, job->bytes, MPI_CHAR, next, 0, job->bytes, MPI_CHAR, window);
            MPI_Win_unlock(next, window);
        }
        if (!strcmp(name, "lock_get")) {
            MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
            MPI_Get(out, job->bytes, MPI_CHAR, last, 0, job->bytes, MPI_CHAR, window);
            MPI_Win_unlock(last, window);
        }
    }
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
}

/* In rows and columns of a grid: power iteration, and the transpositions of a Fourier transform. */
static void grid(const char *name, const Job *job) {
    int dims[2] = {0, 0};
    MPI_Comm row, column;
    MPI_Dims_create(job->size, 2, dims);
    MPI_Comm_split(MPI_COMM_WORLD, job->rank / dims[1], job->rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, job->rank % dims[1], job->rank, &column);
    for (int step = 0; step < job->steps; ++step) {
        if (!strcmp(name, "power")) {
            MPI_Allreduce(out, in, job->bytes / 8, MPI_DOUBLE, MPI_SUM, row);
            int partner = dims[0] == dims[1] ? job->rank % dims[1] * dims[1] + job->rank / dims[1] : job->rank;
            MPI_Sendrecv(out, job->bytes, MPI_CHAR, partner, 0, in, job->bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            MPI_Bcast(in, job->bytes, MPI_CHAR, 0, column);
            MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        } else {
            MPI_Alltoall(out, job->bytes, MPI_CHAR, in, job->bytes, MPI_CHAR, row);
            MPI_Alltoall(out, job->bytes, MPI_CHAR, in, job->bytes, MPI_CHAR, column);
        }
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const double begin = MPI_Wtime();
    const char *name = argv[1];
    Job job = {.bytes = atoi(argv[2]), .steps = atoi(argv[3])};
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    const size_t blocks = (size_t)job.size;
    job.counts = malloc(blocks * sizeof *job.counts);
    job.places = malloc(blocks * sizeof *job.places);
    job.types = malloc(blocks * sizeof *job.types);
    for (int k = 0; k < job.size; ++k) {
        job.counts[k] = job.bytes;
        job.places[k] = k * job.bytes;
        job.types[k] = MPI_CHAR;
    }
    if (!out) out = calloc(blocks * (size_t)job.bytes + 8, 1);
    if (!in) in = calloc(blocks * (size_t)job.bytes + 8, 1);
    if (!strcmp(name, "tree") || !strcmp(name, "ring"))
        for (int step = 0; step < job.steps; ++step) (!strcmp(name, "tree") ? tree : ring)(&job);
    else if (!strncmp(name, "fence", 5) || !strcmp(name, "pscw") || !strncmp(name, "lock", 4))
        one_sided(name, &job);
    else if (!strcmp(name, "power") || !strcmp(name, "pencils"))
        grid(name, &job);
    else
        for (int step = 0; step < job.steps; ++step) collective(name, &job);
    double took = MPI_Wtime() - begin, longest;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job.rank == 0) printf("%.9g\n", MPI_Wtime() - begin);
    free(job.counts);
    free(job.places);
    free(job.types);
    MPI_Finalize();
    return 0;
}
