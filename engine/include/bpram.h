/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The message-passing block PRAM in C; hockney/bpram.hpp, the same in C++, explains the model and its errors.
 *
 *   bpram_begin();
 *   from = BPRAM_NOBODY;
 *   bytes = bpram_exchange((bpram_pid() + 1) % bpram_nprocs(), mine, sizeof mine, theirs, sizeof theirs, &from);
 *   bpram_end();
 *
 * A program calls one of the four functions of a step on all processes: bpram_exchange, bpram_send,
 * bpram_receive, bpram_pass.
 */
#ifndef HOCKNEY_BPRAM_H
#define HOCKNEY_BPRAM_H

#include <stddef.h>

#if defined(__GNUC__) || defined(__clang__)
#define BPRAM_API __attribute__((visibility("default")))
#else
#define BPRAM_API
#endif

#define BPRAM_NOBODY (-1)

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over MPI_COMM_WORLD. Initialises MPI if the program has not, and bpram_end then finalizes it.
 * With the environment variable HOCKNEY_BPRAM_CHECK=1 every step is checked. */
BPRAM_API void bpram_begin(void);
BPRAM_API void bpram_end(void);

BPRAM_API int bpram_nprocs(void);
BPRAM_API int bpram_pid(void);
/* Seconds since bpram_begin, by the clock of this process. */
BPRAM_API double bpram_time(void);
/* Ends all processes, with this text on stderr. */
BPRAM_API void bpram_abort(const char *text);

/* A step: sends `bytes` at `block` to process `to`, and receives a block of at most `room_bytes` to `room`.
 * Returns the bytes received, and stores the sender in `*from`, unless `from` is NULL. */
BPRAM_API size_t bpram_exchange(int to, const void *block, size_t bytes, void *room, size_t room_bytes, int *from);
/* The same for a process that receives nothing, for one that sends nothing, and for one that does neither. */
BPRAM_API void bpram_send(int to, const void *block, size_t bytes);
BPRAM_API size_t bpram_receive(void *room, size_t room_bytes, int *from);
BPRAM_API void bpram_pass(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
