/* SPDX-FileCopyrightText: The hockney authors
   SPDX-License-Identifier: Apache-2.0
   Communication patterns. Computation takes a stated time, on any number of ranks per core and in a simulation:
   total_s seconds of a step on all ranks together, with a variation of 5% between ranks and steps. Ranks sleep
   meanwhile; with "busy" they take that much processor time. "triad", "cache" and "mix" compute with arrays. Usage:
   scaling_programs PATTERN [STEPS [TOTAL_S [busy]]]. The first rank prints its time after MPI_Init, in seconds; it is the
   last one in a reduction at the end. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, busy, steps = 20;
static double total_s = 0.02;
static char *out, *in;

static unsigned drawn;

static void compute(double seconds) {
    drawn = drawn * 1664525u + 1013904223u;
    seconds *= 0.95 + 0.1 * (drawn >> 8) / (double)(1 << 24);
    if (busy) {
        struct timespec begin, now;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
        do
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
        return;
    }
    struct timespec t = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&t, NULL);
}

static void halo(int dimensions, int periodic, int n) {
    int dims[3] = {0, 0, 0}, periods[3] = {periodic, periodic, periodic};
    MPI_Comm grid;
    MPI_Dims_create(size, dimensions, dims);
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &grid);
    for (int step = 0; step < steps; ++step) {
        MPI_Request requests[12];
        int count = 0;
        compute(total_s / size);
        for (int d = 0; d < dimensions; ++d) {
            int low, high, face = 8;
            for (int e = 0; e < dimensions; ++e) face *= e == d ? 1 : n / dims[e];
            MPI_Cart_shift(grid, d, 1, &low, &high);
            if (low != MPI_PROC_NULL) {
                MPI_Irecv(in + 2 * d * 200000, face, MPI_CHAR, low, 0, grid, &requests[count++]);
                MPI_Isend(out, face, MPI_CHAR, low, 1, grid, &requests[count++]);
            }
            if (high != MPI_PROC_NULL) {
                MPI_Irecv(in + (2 * d + 1) * 200000, face, MPI_CHAR, high, 1, grid, &requests[count++]);
                MPI_Isend(out, face, MPI_CHAR, high, 0, grid, &requests[count++]);
            }
        }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        double sum = 1, all;
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Comm_free(&grid);
}

static void sweep(int n) {
    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    int x = rank / dims[1], y = rank % dims[1], bytes = 8 * n / dims[0];
    for (int step = 0; step < steps; ++step)
        for (int block = 0; block < 4; ++block) {
            if (x > 0) MPI_Recv(in, bytes, MPI_CHAR, rank - dims[1], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (y > 0) MPI_Recv(in, bytes, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(total_s / size / 4);
            if (x < dims[0] - 1) MPI_Send(out, bytes, MPI_CHAR, rank + dims[1], 0, MPI_COMM_WORLD);
            if (y < dims[1] - 1) MPI_Send(out, bytes, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
        }
}

static void dissemination(int n) {
    for (int step = 0; step < steps; ++step) {
        compute(total_s / size);
        for (int d = 1; d < size; d *= 2)
            MPI_Sendrecv(out, n, MPI_CHAR, (rank + d) % size, 0, in, n, MPI_CHAR, (rank - d + size) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void butterfly(int n) {
    for (int step = 0; step < steps; ++step) {
        compute(total_s / size);
        for (int d = 1, bytes = n; d < size; d *= 2, bytes *= 2)
            MPI_Sendrecv(out, bytes, MPI_CHAR, rank ^ d, 0, in, bytes, MPI_CHAR, rank ^ d, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    }
}

static void pairwise(int n) {
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof *requests);
    for (int step = 0; step < steps; ++step) {
        compute(total_s / size);
        int bytes = n / size / size, count = 0;
        for (int k = 1; k < size; ++k)
            MPI_Irecv(in + k * bytes, bytes, MPI_CHAR, (rank - k + size) % size, 0, MPI_COMM_WORLD, &requests[count++]);
        for (int k = 1; k < size; ++k)
            MPI_Isend(out + k * bytes, bytes, MPI_CHAR, (rank + k) % size, 0, MPI_COMM_WORLD, &requests[count++]);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
    free(requests);
}

static void transpose(int n) {
    int dims[2] = {0, 0};
    MPI_Comm row, column;
    MPI_Dims_create(size, 2, dims);
    MPI_Comm_split(MPI_COMM_WORLD, rank / dims[1], rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % dims[1], rank, &column);
    for (int step = 0; step < steps; ++step) {
        compute(total_s / size);
        MPI_Alltoall(out, n / size / dims[1], MPI_CHAR, in, n / size / dims[1], MPI_CHAR, row);
        compute(total_s / size);
        MPI_Alltoall(out, n / size / dims[0], MPI_CHAR, in, n / size / dims[0], MPI_CHAR, column);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

static void master(int n) {
    for (int step = 0; step < steps; ++step) {
        if (rank == 0) {
            for (int k = 1; k < size; ++k) MPI_Send(out, n, MPI_CHAR, k, 0, MPI_COMM_WORLD);
            for (int k = 1; k < size; ++k)
                MPI_Recv(in, n, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(total_s / size);
            MPI_Send(out, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
}

static void exchange(int n) {
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int step = 0; step < steps; ++step) {
        MPI_Request requests[4];
        MPI_Irecv(in, n, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in + n, n, MPI_CHAR, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out, n, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out, n, MPI_CHAR, left, 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        compute(total_s / size);
    }
}

static void cg(int n) {
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int step = 0; step < steps; ++step) {
        double sum = 1, all;
        MPI_Sendrecv(out, n, MPI_CHAR, right, 0, in, n, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, n, MPI_CHAR, left, 1, in, n, MPI_CHAR, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(0.8 * total_s / size);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        compute(0.2 * total_s / size);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void alltoall(int n) {
    for (int step = 0; step < steps; ++step) {
        compute(total_s / size);
        MPI_Alltoall(out, n / size / size, MPI_CHAR, in, n / size / size, MPI_CHAR, MPI_COMM_WORLD);
    }
}

/* Sweeps of the triad of STREAM over a rank's part of three arrays in memory, and over twice as many elements of arrays
   in the second-level cache; `in_memory` is the share of the former. */
static void triad(double in_memory) {
    const size_t n = (size_t)(1 << 24) / (size_t)size, small = 1 << 13;
    const size_t far = (size_t)(in_memory * (double)n), sweeps = 2 * (n - far) / small, most = far > small ? far : small;
    double *a = malloc(3 * most * sizeof *a), *b = a + most, *c = b + most;
    for (size_t i = 0; i < 3 * most; ++i) a[i] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < steps; ++step) {
        double sum = 1, all;
        for (size_t i = 0; i < far; ++i) a[i] = b[i] + 3 * c[i];
        for (size_t k = 0; k < sweeps; ++k) {
            for (size_t i = 0; i < small; ++i) a[i] = b[i] + 3 * c[i];
            __asm__ volatile("" ::"r"(a) : "memory");
        }
        __asm__ volatile("" ::"r"(a) : "memory");
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    free(a);
}

static void random_graph(int n) {
    srand(42);
    for (int step = 0; step < steps; ++step) {
        compute(total_s / size);
        for (int edge = 0; edge < size + size * size / 4; ++edge) {
            int a = rand() % size, b = rand() % size, bytes = rand() % n;
            if (a == b) continue;
            if (rank == a) MPI_Send(out, bytes, MPI_CHAR, b, 0, MPI_COMM_WORLD);
            if (rank == b) MPI_Recv(in, bytes, MPI_CHAR, a, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    double begin = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    drawn = 12345u + 777u * (unsigned)rank;
    out = calloc(4 << 20, 1);
    in = calloc(4 << 20, 1);
    const char *mode = argc > 1 ? argv[1] : "halo2d";
    if (argc > 2) steps = atoi(argv[2]);
    if (argc > 3) total_s = atof(argv[3]);
    busy = argc > 4;
    if (!strcmp(mode, "line")) halo(1, 0, 4096);
    if (!strcmp(mode, "ring")) halo(1, 1, 4096);
    if (!strcmp(mode, "halo2d")) halo(2, 0, 4096);
    if (!strcmp(mode, "torus2d")) halo(2, 1, 4096);
    if (!strcmp(mode, "halo3d")) halo(3, 0, 96);
    if (!strcmp(mode, "torus3d")) halo(3, 1, 96);
    if (!strcmp(mode, "sweep")) sweep(65536);
    if (!strcmp(mode, "dissemination")) dissemination(1024);
    if (!strcmp(mode, "butterfly")) butterfly(1024);
    if (!strcmp(mode, "pairwise")) pairwise(1 << 20);
    if (!strcmp(mode, "transpose")) transpose(1 << 20);
    if (!strcmp(mode, "master")) master(4096);
    if (!strcmp(mode, "triad")) triad(1);
    if (!strcmp(mode, "cache")) triad(0);
    if (!strcmp(mode, "mix")) triad(0.5);
    if (!strcmp(mode, "exchange")) exchange(16384);
    if (!strcmp(mode, "cg")) cg(1024);
    if (!strcmp(mode, "alltoall")) alltoall(1 << 18);
    if (!strcmp(mode, "random")) random_graph(4096);
    double took = MPI_Wtime() - begin, longest;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.9g\n", MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}
