/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * BSPlib: bulk synchronous parallel programs in C and C++ (Hill et al., Parallel Computing 24, 1998).
 *
 *   hockney-bspcc program.c -o program && hockney-bsprun -n 4 ./program
 *
 * A program is a sequence of supersteps. In a superstep the processes compute and ask for communication;
 * bsp_sync ends it. All communication takes place in bsp_sync, in this order:
 *   1. every get reads its source, as it is when the process that holds it has entered bsp_sync,
 *   2. the gets write their destinations,
 *   3. the puts write their destinations.
 * Where writes overlap, they take effect in ascending order of the processes that issued them, and for each
 * process in the order of its calls.
 *
 * Sizes and offsets are in bytes. Both conventions in use are accepted, in C and in C++: int everywhere
 * (the 1998 paper, the Oxford BSP toolset, BSPonMPI), and unsigned int with size_t (MulticoreBSP,
 * BSPedupack). What functions write through pointers (bsp_set_tagsize, bsp_qsize, bsp_get_tag) has the
 * pointer's type.
 *
 * Errors end all processes, with a message on stderr that names the call, the process, the superstep, and
 * what was expected. A program compiled with -DHOCKNEY_BSP_CHECK (hockney-bspcc -check) also prints file and
 * line of the call, and is checked for writes that overlap, for memory that changes while an unbuffered
 * operation may use it, and for communication that bsp_end drops. The environment variable
 * HOCKNEY_BSP_CHECK=1 turns on these checks for a program that was compiled without it.
 */
#ifndef HOCKNEY_BSP_H
#define HOCKNEY_BSP_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h> /* programs of 1998 rely on it */

#if defined(__GNUC__) || defined(__clang__)
#define BSP_API __attribute__((visibility("default")))
#define BSP_API_ABORT(format_at, values_at) \
  __attribute__((visibility("default"), noreturn, format(printf, format_at, values_at)))
#else
#define BSP_API
#define BSP_API_ABORT(format_at, values_at)
#endif

/* The memory at this address is not read: it may be uninitialised. */
#if defined(BSP_API_UNREAD)
#elif defined(__GNUC__) && __GNUC__ >= 11 && !defined(__clang__)
#define BSP_API_UNREAD __attribute__((access(none, 1)))
#else
#define BSP_API_UNREAD
#endif

/* For programs that are written for both conventions: these are the types of the first, or with
 * -DHOCKNEY_BSP_SIZE_T those of the second. */
#ifdef HOCKNEY_BSP_SIZE_T
typedef unsigned int bsp_pid_t;
typedef unsigned int bsp_nprocs_t;
typedef size_t bsp_size_t;
#else
typedef int bsp_pid_t;
typedef int bsp_nprocs_t;
typedef int bsp_size_t;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Processes ----
 *
 * bsp_begin and bsp_end are the first and the last statement of one function, once in a program. If that
 * function is not main, main calls bsp_init(function, argc, argv) first: process 0 returns from it, runs what
 * precedes its call of the function, and everything after it; the other processes run the function only. */

BSP_API void bsp_init(void (*spmd)(void), int argc, char* argv[]);

/* At most `maxprocs` processes, of those that were started; the value of process 0 counts. Processes that are
 * not needed wait, and end with status 0. */
BSP_API void bsp_begin(int maxprocs);

/* Collective. Only process 0 returns, or all if the program has called MPI_Init itself. Communication since
 * the last bsp_sync does not take place. */
BSP_API void bsp_end(void);

/* Ends all processes, with this text (as printf) on stderr and a status other than 0, at any time. */
BSP_API void bsp_abort(const char* format, ...) BSP_API_ABORT(1, 2);
BSP_API void bsp_vabort(const char* format, va_list values) BSP_API_ABORT(1, 0);
BSP_API void bsp_abort_va(const char* format, va_list values) BSP_API_ABORT(1, 0);

/* The number of processes; before bsp_begin, that of those that were started. */
BSP_API int bsp_nprocs(void);

/* 0 to bsp_nprocs() - 1. */
BSP_API int bsp_pid(void);

/* Seconds since bsp_begin, by the clock of this process. */
BSP_API double bsp_time(void);

/* Ends the superstep. Collective. */
BSP_API void bsp_sync(void);

/* ---- Direct access to remote memory ----
 *
 * Processes register areas, which other processes name by the address that they have registered themselves:
 * the start of the area, not a pointer into it. Collective: all processes register and remove the same areas
 * in the same order, from the next superstep on. Sizes may differ. An area of 0 bytes can not be accessed by
 * others; NULL, with size 0, takes no part. */

BSP_API BSP_API_UNREAD void bsp_push_reg(const void* ident, size_t size);

/* Removes the newest registration of this address; it may still be used in this superstep. NULL stands for
 * the registration that the other processes name. */
BSP_API BSP_API_UNREAD void bsp_pop_reg(const void* ident);

/* Copies `nbytes` at `src` now, and to `offset` in the area `dst` of process `pid` in bsp_sync. With
 * nbytes 0 it has no effect, and no argument is checked; this is true of all four functions. */
BSP_API void bsp_put(int pid, const void* src, void* dst, size_t offset, size_t nbytes);

/* Copies, in bsp_sync, `nbytes` from `offset` in the area `src` of process `pid` to `dst`. */
BSP_API void bsp_get(int pid, const void* src, size_t offset, void* dst, size_t nbytes);

/* The same without buffers: data may move at any time until the end of bsp_sync, so the program neither
 * writes the source nor uses the destination in between. */
BSP_API void bsp_hpput(int pid, const void* src, void* dst, size_t offset, size_t nbytes);
BSP_API void bsp_hpget(int pid, const void* src, size_t offset, void* dst, size_t nbytes);

/* ---- Messages ----
 *
 * Messages that are sent in one superstep are in the queue of their receiver in the next one, in no certain
 * order. Those that it does not remove are dropped at the next bsp_sync. */

/* Collective. From the next superstep on, tags that are sent have `*tag_bytes`. Stores the size that was set
 * before (initially 0). */
BSP_API void bsp_set_tagsize(int* tag_bytes);

/* Copies tag and payload now. bsp_hpsend may copy them later, until the end of bsp_sync. */
BSP_API void bsp_send(int pid, const void* tag, const void* payload, size_t payload_bytes);
BSP_API void bsp_hpsend(int pid, const void* tag, const void* payload, size_t payload_bytes);

/* The messages in the queue, and the bytes of their payloads. */
BSP_API void bsp_qsize(int* messages, int* payload_bytes);

/* Of the first message: the bytes of its payload, and its tag. Without a message *payload_bytes is -1. */
BSP_API void bsp_get_tag(int* payload_bytes, void* tag);

/* Copies the payload of the first message, at most `reception_bytes` of it, and removes the message. */
BSP_API void bsp_move(void* payload, size_t reception_bytes);

/* Removes the first message without copying: stores pointers to its tag and its payload, which are aligned
 * for any type and valid until the next bsp_sync, and returns the bytes of the payload; -1 without a message.
 */
BSP_API ptrdiff_t bsp_hpmove(void** tag, void** payload);

/* The same functions with other types. Programs call them by the names above. */
BSP_API void bsp_set_tagsize_z(size_t* tag_bytes);
BSP_API void bsp_qsize_iz(int* messages, size_t* payload_bytes);
BSP_API void bsp_qsize_ui(unsigned int* messages, int* payload_bytes);
BSP_API void bsp_qsize_uz(unsigned int* messages, size_t* payload_bytes); /* payload_bytes may be NULL */
BSP_API void bsp_get_tag_z(size_t* payload_bytes, void* tag);             /* (size_t)-1 without a message */

/* Where the next call is in the program. */
BSP_API void bsp_called_at(const char* file, int line);

#ifdef __cplusplus
} /* extern "C" */

inline void bsp_set_tagsize(size_t* tag_bytes) {
  bsp_set_tagsize_z(tag_bytes);
}
inline void bsp_qsize(int* messages, size_t* payload_bytes) {
  bsp_qsize_iz(messages, payload_bytes);
}
inline void bsp_qsize(unsigned int* messages, size_t* payload_bytes) {
  bsp_qsize_uz(messages, payload_bytes);
}
inline void bsp_get_tag(size_t* payload_bytes, void* tag) {
  bsp_get_tag_z(payload_bytes, tag);
}
#endif

/* ---- Names of earlier versions ---- */
#define bsp_pushregister bsp_push_reg
#define bsp_popregister bsp_pop_reg
#define bsp_set_tag_size bsp_set_tagsize
#define bsp_bsmp_info bsp_qsize

#ifdef HOCKNEY_BSP_CHECK
#define BSP_AT bsp_called_at(__FILE__, __LINE__)
#define bsp_init(spmd, argc, argv) (BSP_AT, bsp_init(spmd, argc, argv))
#define bsp_begin(maxprocs) (BSP_AT, bsp_begin(maxprocs))
#define bsp_end() (BSP_AT, bsp_end())
#define bsp_nprocs() (BSP_AT, bsp_nprocs())
#define bsp_pid() (BSP_AT, bsp_pid())
#define bsp_time() (BSP_AT, bsp_time())
#define bsp_sync() (BSP_AT, bsp_sync())
#define bsp_push_reg(ident, size) (BSP_AT, bsp_push_reg(ident, size))
#define bsp_pop_reg(ident) (BSP_AT, bsp_pop_reg(ident))
#define bsp_put(pid, src, dst, offset, nbytes) (BSP_AT, bsp_put(pid, src, dst, offset, nbytes))
#define bsp_get(pid, src, offset, dst, nbytes) (BSP_AT, bsp_get(pid, src, offset, dst, nbytes))
#define bsp_hpput(pid, src, dst, offset, nbytes) (BSP_AT, bsp_hpput(pid, src, dst, offset, nbytes))
#define bsp_hpget(pid, src, offset, dst, nbytes) (BSP_AT, bsp_hpget(pid, src, offset, dst, nbytes))
#define bsp_send(pid, tag, payload, payload_bytes) (BSP_AT, bsp_send(pid, tag, payload, payload_bytes))
#define bsp_hpsend(pid, tag, payload, payload_bytes) (BSP_AT, bsp_hpsend(pid, tag, payload, payload_bytes))
#define bsp_move(payload, reception_bytes) (BSP_AT, bsp_move(payload, reception_bytes))
#define bsp_hpmove(tag, payload) (BSP_AT, bsp_hpmove(tag, payload))
#else
#define BSP_AT ((void)0)
#endif

#ifndef __cplusplus
#define bsp_set_tagsize(tag_bytes) \
  (BSP_AT, _Generic((tag_bytes), size_t*: bsp_set_tagsize_z, default: bsp_set_tagsize)(tag_bytes))
#define bsp_qsize(messages, payload_bytes)                                                      \
  (BSP_AT, _Generic((messages),                                                                 \
       unsigned int*: _Generic((payload_bytes), int*: bsp_qsize_ui, default: bsp_qsize_uz),     \
       default: _Generic((payload_bytes), size_t*: bsp_qsize_iz, default: bsp_qsize))(messages, \
                                                                                      payload_bytes))
#define bsp_get_tag(payload_bytes, tag) \
  (BSP_AT, _Generic((payload_bytes), size_t*: bsp_get_tag_z, default: bsp_get_tag)(payload_bytes, tag))
#elif defined(HOCKNEY_BSP_CHECK)
#define bsp_set_tagsize(tag_bytes) (BSP_AT, bsp_set_tagsize(tag_bytes))
#define bsp_qsize(messages, payload_bytes) (BSP_AT, bsp_qsize(messages, payload_bytes))
#define bsp_get_tag(payload_bytes, tag) (BSP_AT, bsp_get_tag(payload_bytes, tag))
#endif

#endif
