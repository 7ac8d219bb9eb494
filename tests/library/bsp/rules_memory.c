/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Registered memory, puts and gets, with int for all sizes. */
#include <stdlib.h>

#include "rules.h"

static void a_put_is_buffered(void) {
  int value = 100 + bsp_pid(), area[3] = {-1, -1, -1};
  bsp_push_reg(area, sizeof area);
  bsp_sync();
  bsp_put(RIGHT, &value, area, sizeof(int), sizeof(int));
  value = -5;
  EXPECT(area[1] == -1);
  bsp_sync();
  EXPECT(area[0] == -1 && area[1] == 100 + LEFT && area[2] == -1);
  bsp_pop_reg(area);
  bsp_sync();
}

static void a_get_reads_at_the_end_of_the_superstep(void) {
  int area = -1, here = -1;
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  bsp_get(RIGHT, &area, 0, &here, sizeof here);
  area = 200 + bsp_pid();
  EXPECT(here == -1);
  bsp_sync();
  EXPECT(here == 200 + RIGHT);
  bsp_pop_reg(&area);
  bsp_sync();
}

static void gets_do_not_see_puts_of_their_superstep(void) {
  int area = 300 + bsp_pid(), here = -1, value = 400 + bsp_pid();
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  bsp_put(RIGHT, &value, &area, 0, sizeof value);
  bsp_get(RIGHT, &area, 0, &here, sizeof here);
  bsp_sync();
  EXPECT(here == 300 + RIGHT && area == 400 + LEFT);
  bsp_pop_reg(&area);
  bsp_sync();
}

static void a_put_overwrites_a_get(void) {
  int area[2] = {500 + bsp_pid(), -1}, value = 600 + bsp_pid();
  bsp_push_reg(area, sizeof area);
  bsp_sync();
  bsp_get(RIGHT, area, 0, &area[1], sizeof(int));
  bsp_put(RIGHT, &value, area, sizeof(int), sizeof(int));
  bsp_sync();
  EXPECT(area[1] == 600 + LEFT);
  /* A get may read what another get of the superstep overwrites. */
  area[0] = 700 + bsp_pid();
  bsp_get(RIGHT, area, 0, &area[0], sizeof(int));
  bsp_sync();
  EXPECT(area[0] == 700 + RIGHT);
  bsp_pop_reg(area);
  bsp_sync();
}

/* As promised by bsp.h. */
static void overlapping_puts_take_effect_in_order(void) {
  char area[8];
  memset(area, '.', sizeof area);
  bsp_push_reg(area, sizeof area);
  bsp_sync();
  for (int to = 0; to < bsp_nprocs(); ++to) {
    char first[4], second[2];
    memset(first, 'a' + bsp_pid(), sizeof first);
    memset(second, 'A' + bsp_pid(), sizeof second);
    bsp_put(to, first, area, 1, sizeof first);
    bsp_put(to, second, area, 2, sizeof second);
  }
  bsp_sync();
  char a = (char)('a' + bsp_nprocs() - 1), b = (char)('A' + bsp_nprocs() - 1);
  EXPECT(area[0] == '.' && area[1] == a && area[2] == b && area[3] == b && area[4] == a && area[5] == '.');
  bsp_pop_reg(area);
  bsp_sync();
}

static void overlapping_gets_take_effect_in_order(void) {
  int area = bsp_pid(), here = -1;
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  for (int from = bsp_nprocs(); from-- > 0;) bsp_get(from, &area, 0, &here, sizeof here);
  bsp_sync();
  EXPECT(here == 0);
  bsp_pop_reg(&area);
  bsp_sync();
}

static void a_process_communicates_with_itself(void) {
  int area = 1, value = 2, here = -1;
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  bsp_put(bsp_pid(), &value, &area, 0, sizeof value);
  bsp_get(bsp_pid(), &area, 0, &here, sizeof here);
  value = 3;
  EXPECT(area == 1 && here == -1);
  bsp_sync();
  EXPECT(area == 2 && here == 1);
  bsp_hpput(bsp_pid(), &value, &area, 0, sizeof value);
  bsp_sync();
  EXPECT(area == 3);
  bsp_pop_reg(&area);
  bsp_sync();
}

static void no_bytes_have_no_effect(void) {
  bsp_put(-7, NULL, NULL, -3, 0);
  bsp_get(1000, NULL, -3, NULL, 0);
  bsp_hpput(-7, NULL, NULL, -3, 0);
  bsp_hpget(1000, NULL, -3, NULL, 0);
  bsp_sync();
}

static void sizes_may_differ_between_processes(void) {
  int n = bsp_pid() + 1;
  int* area = (int*)malloc((size_t)n * sizeof(int));
  for (int k = 0; k < n; ++k) area[k] = -1;
  bsp_push_reg(area, n * (int)sizeof(int));
  bsp_sync();
  int value = bsp_pid(), to = RIGHT;
  bsp_put(to, &value, area, to * (int)sizeof(int), sizeof value); /* its last element */
  bsp_sync();
  EXPECT(area[n - 1] == LEFT);
  bsp_pop_reg(area);
  bsp_sync();
  free(area);
}

/* Of size 0, an area gives access to those of the other processes. */
static void an_empty_area_gives_access_to_others(void) {
  int area = -1, value = 10 + bsp_pid();
  bsp_push_reg(&area, bsp_pid() == 0 ? sizeof area : 0);
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) bsp_put(0, &value, &area, 0, sizeof value);
  bsp_sync();
  EXPECT(area == (bsp_pid() == 0 ? 10 + bsp_nprocs() - 1 : -1));
  bsp_pop_reg(&area);
  bsp_sync();
}

static void the_newest_registration_counts(void) {
  int area[4] = {0}, value[4] = {1, 2, 3, 4}, here[4];
  bsp_push_reg(area, sizeof(int));
  bsp_sync();
  bsp_put(RIGHT, value, area, 0, sizeof(int));
  bsp_push_reg(area, sizeof area);
  bsp_sync();
  EXPECT(area[0] == 1);
  bsp_put(RIGHT, value, area, 0, sizeof area);
  bsp_sync();
  EXPECT(area[3] == 4);
  bsp_pop_reg(area);
  bsp_get(RIGHT, area, 0, here, sizeof here); /* still in force */
  bsp_sync();
  EXPECT(here[3] == 4);
  bsp_put(RIGHT, value + 1, area, 0, sizeof(int)); /* by the older one */
  bsp_pop_reg(area);
  bsp_sync();
  EXPECT(area[0] == 2);
}

/* The same address may be registered again and again, with a different size. */
static void registrations_come_and_go(void) {
  int area[8];
  for (int n = 1; n <= 8; ++n) {
    int value = n;
    bsp_push_reg(area, n * (int)sizeof(int));
    bsp_sync();
    bsp_put(RIGHT, &value, area, (n - 1) * (int)sizeof(int), sizeof value);
    bsp_pop_reg(area);
    bsp_sync();
    EXPECT(area[n - 1] == n);
  }
}

static void a_registration_may_end_where_it_begins(void) {
  int one = 1, two = 2, value = 5;
  bsp_push_reg(&one, sizeof one);
  bsp_push_reg(&two, sizeof two);
  bsp_push_reg(&one, sizeof one);
  bsp_pop_reg(&one);
  bsp_pop_reg(&two);
  bsp_sync();
  bsp_put(RIGHT, &value, &one, 0, sizeof value);
  bsp_pop_reg(&one);
  bsp_sync();
  EXPECT(one == 5 && two == 2);
}

static void null_takes_no_part(void) {
  int area = bsp_pid(), value = 70 + bsp_pid();
  bsp_push_reg(bsp_pid() == 0 ? &area : NULL, bsp_pid() == 0 ? sizeof area : 0);
  bsp_push_reg(&value, sizeof value);
  bsp_sync();
  /* Process 0 names it, for all. */
  bsp_pop_reg(bsp_pid() == 0 ? &area : NULL);
  bsp_pop_reg(bsp_nprocs() > 1 && bsp_pid() == 0 ? NULL : &value);
  bsp_sync();
  /* All NULL: the first one that is NULL everywhere. */
  bsp_push_reg(NULL, 0);
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  bsp_pop_reg(NULL);
  bsp_sync();
  bsp_put(RIGHT, &value, &area, 0, sizeof value);
  bsp_pop_reg(&area);
  bsp_sync();
  EXPECT(area == 70 + LEFT);
}

static void names_of_earlier_versions(void) {
  int area = 0, value = 8;
  bsp_pushregister(&area, sizeof area);
  bsp_sync();
  bsp_hpput(RIGHT, &value, &area, 0, sizeof value);
  bsp_popregister(&area);
  bsp_sync();
  EXPECT(area == 8);
}

const Rule memory_rules[] = {
    {"buffered", a_put_is_buffered},
    {"get_last", a_get_reads_at_the_end_of_the_superstep},
    {"get_before_put", gets_do_not_see_puts_of_their_superstep},
    {"put_after_get", a_put_overwrites_a_get},
    {"put_order", overlapping_puts_take_effect_in_order},
    {"get_order", overlapping_gets_take_effect_in_order},
    {"itself", a_process_communicates_with_itself},
    {"no_bytes", no_bytes_have_no_effect},
    {"sizes", sizes_may_differ_between_processes},
    {"empty", an_empty_area_gives_access_to_others},
    {"newest", the_newest_registration_counts},
    {"come_and_go", registrations_come_and_go},
    {"pop_at_once", a_registration_may_end_where_it_begins},
    {"null", null_takes_no_part},
    {"old_names", names_of_earlier_versions},
    {NULL, NULL},
};
