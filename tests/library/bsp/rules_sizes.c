/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * From nothing to megabytes: what is large takes other paths. */
#include <stdlib.h>

#include "rules.h"

enum { MOST = 5 << 20 };

static const int sizes[] = {1,    7,    8,     63,    64,    65,     127,    128,
                            1000, 4096, 65535, 65536, 70001, 524288, 600000, MOST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static unsigned char *from, *to, *here;

static unsigned char byte_of(int pid, int round, int k) {
  return (unsigned char)(17 * pid + 5 * round + k % 251);
}

static void set(unsigned char* memory, int bytes, int round) {
  for (int k = 0; k < bytes; ++k) memory[k] = byte_of(bsp_pid(), round, k);
}

static int has(const unsigned char* memory, int bytes, int pid, int round) {
  for (int k = 0; k < bytes; ++k)
    if (memory[k] != byte_of(pid, round, k)) return 0;
  return 1;
}

static void begin(void) {
  from = malloc(MOST);
  to = malloc(MOST);
  here = malloc(MOST);
  bsp_push_reg(to, MOST);
  bsp_push_reg(from, MOST);
  bsp_sync();
}

static void end(void) {
  bsp_pop_reg(from);
  bsp_pop_reg(to);
  bsp_sync();
  free(from);
  free(to);
  free(here);
}

static void puts_of_all_sizes(void) {
  begin();
  for (int k = 0; k < SIZES; ++k) {
    set(from, sizes[k], k);
    bsp_put(RIGHT, from, to, 0, sizes[k]);
    memset(from, 0, (size_t)sizes[k]);
    bsp_sync();
    EXPECT(has(to, sizes[k], LEFT, k));
    set(from, sizes[k], k + 1);
    bsp_hpput(RIGHT, from, to, 0, sizes[k]);
    bsp_sync();
    EXPECT(has(to, sizes[k], LEFT, k + 1));
  }
  end();
}

static void gets_of_all_sizes(void) {
  begin();
  for (int k = 0; k < SIZES; ++k) {
    bsp_get(RIGHT, from, 0, here, sizes[k]);
    set(from, sizes[k], k);
    bsp_sync();
    EXPECT(has(here, sizes[k], RIGHT, k));
    set(from, sizes[k], k + 1);
    bsp_sync(); /* the source of an unbuffered get is ready before the superstep */
    bsp_hpget(LEFT, from, 0, here, sizes[k]);
    bsp_sync();
    EXPECT(has(here, sizes[k], LEFT, k + 1));
  }
  end();
}

/* Large puts that overlap each other, small ones, and gets are still written in order. */
static void large_puts_in_order(void) {
  const int half = 300000;
  begin();
  memset(to, 0, MOST);
  int last = bsp_nprocs() - 1;
  for (int pid = 0; pid < bsp_nprocs(); ++pid) {
    set(from, 2 * half, 1);
    bsp_put(pid, from, to, 0, 2 * half);
    set(from, 100, 2);
    bsp_put(pid, from, to, 50, 100);
    set(from, 2 * half, 3);
    bsp_put(pid, from, to, half, 2 * half);
  }
  bsp_sync();
  for (int k = 0; k < 3 * half; ++k) {
    int round = k < half ? 1 : 3, at = k < half ? k : k - half;
    if (k >= 50 && k < 150) round = 2, at = k - 50;
    EXPECT(to[k] == byte_of(last, round, at));
  }
  /* A get of the same memory is before. */
  set(from, MOST, 4);
  bsp_sync();
  bsp_get(RIGHT, from, 0, to, 2 * half);
  bsp_put(RIGHT, from, to, half, half);
  bsp_sync();
  EXPECT(has(to, half, RIGHT, 4));
  EXPECT(memcmp(to + half, from, 0) == 0 && to[half] == byte_of(LEFT, 4, 0) &&
         to[2 * half - 1] == byte_of(LEFT, 4, half - 1));
  end();
}

/* Gets read what large puts of the same superstep overwrite. */
static void large_gets_before_large_puts(void) {
  const int bytes = 700000;
  begin();
  set(to, bytes, 1);
  set(from, bytes, 2);
  bsp_get(LEFT, to, 0, here, bytes);
  bsp_put(RIGHT, from, to, 0, bytes);
  bsp_sync();
  EXPECT(has(here, bytes, LEFT, 1) && has(to, bytes, LEFT, 2));
  end();
}

/* More than the memory that processes share by default, in pieces and in one, to all. */
static void much_at_once(void) {
  const int piece = 40000;
  begin();
  set(from, MOST, 5);
  for (int k = 0; k + piece <= MOST; k += piece)
    for (int pid = 0; pid < bsp_nprocs(); ++pid)
      if (pid == RIGHT) bsp_put(pid, from + k, to, k, piece);
  for (int k = 0; k < 3; ++k) bsp_send(RIGHT, NULL, from, MOST - k);
  bsp_get(RIGHT, from, 0, here, MOST);
  bsp_sync();
  EXPECT(has(to, MOST - MOST % piece, LEFT, 5) && has(here, MOST, RIGHT, 5));
  int messages, bytes, sum = 0;
  bsp_qsize(&messages, &bytes);
  EXPECT(messages == 3 && bytes == 3 * MOST - 3);
  void *tag, *payload;
  for (int size; (size = (int)bsp_hpmove(&tag, &payload)) >= 0; sum += size)
    EXPECT(has(payload, size, LEFT, 5));
  EXPECT(sum == bytes);
  end();
}

static void many_small_ones(void) {
  begin();
  for (int round = 0; round < 3; ++round) {
    set(from, 90000, round);
    memset(to, 0, 90000);
    memset(here, 0, 90000);
    for (int k = 0; k < 30000; ++k) {
      int at = k * 7 % 30000 * 3;
      if (k % 2)
        bsp_put(RIGHT, from + at, to, at, 3);
      else
        bsp_hpput(RIGHT, from + at, to, at, 3);
      if (k % 3 == 0) bsp_get(LEFT, from, at, here + at, 3);
    }
    bsp_sync();
    EXPECT(has(to, 90000, LEFT, round));
    for (int k = 0; k < 30000; k += 3) {
      int at = k * 7 % 30000 * 3;
      EXPECT(here[at] == byte_of(LEFT, round, at) && here[at + 2] == byte_of(LEFT, round, at + 2));
    }
  }
  end();
}

/* Unbuffered operations on separate parts, large and small, in both directions. */
static void unbuffered_mixtures(void) {
  const int part = 1 << 20;
  begin();
  set(from, MOST, 6);
  bsp_sync();
  bsp_hpput(RIGHT, from, to, 0, part);
  bsp_hpput(RIGHT, from + part, to, part, 100);
  bsp_hpput(LEFT, from, to, 2 * part, part);
  bsp_put(RIGHT, from, to, 3 * part, part);
  bsp_hpget(RIGHT, from, 0, here, part);
  bsp_hpget(LEFT, from, part, here + part, 100);
  bsp_hpget(LEFT, from, 0, here + 2 * part, part);
  bsp_get(bsp_pid(), from, 0, here + 3 * part, part);
  bsp_sync();
  EXPECT(has(to, part + 100, LEFT, 6) && has(to + 2 * part, part, RIGHT, 6) &&
         has(to + 3 * part, part, LEFT, 6));
  EXPECT(has(here, part, RIGHT, 6) && here[part] == byte_of(LEFT, 6, part));
  EXPECT(has(here + 2 * part, part, LEFT, 6) && has(here + 3 * part, part, bsp_pid(), 6));
  end();
}

const Rule size_rules[] = {
    {"puts", puts_of_all_sizes},
    {"gets", gets_of_all_sizes},
    {"in_order", large_puts_in_order},
    {"gets_first", large_gets_before_large_puts},
    {"much", much_at_once},
    {"many", many_small_ones},
    {"unbuffered", unbuffered_mixtures},
    {NULL, NULL},
};
