/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs with one error each, which process 1 makes in superstep 2 unless all have to. */
#include <limits.h>

#include "rules.h"

static int area[4], other[4], late[4], gone[4], value;

int steps = 0;

void step(void) {
  ++steps;
  bsp_sync();
}

#define ON_ONE(call)                 \
  do {                               \
    bsp_push_reg(area, sizeof area); \
    step();                          \
    step();                          \
    if (bsp_pid() == 1) call;        \
    step();                          \
  } while (0)

static void pid_negative(void) {
  ON_ONE(bsp_put(-1, &value, area, 0, sizeof value));
}
static void pid_nprocs(void) {
  ON_ONE(bsp_put(bsp_nprocs(), &value, area, 0, sizeof value));
}
static void send_pid(void) {
  ON_ONE(bsp_send(bsp_nprocs(), NULL, &value, sizeof value));
}
static void get_pid(void) {
  ON_ONE(bsp_get(INT_MIN, area, 0, &value, sizeof value));
}
static void put_beyond(void) {
  ON_ONE(bsp_put(0, &value, area, 13, sizeof value));
}
static void hpput_beyond(void) {
  ON_ONE(bsp_hpput(0, &value, area, 16, 1));
}
static void get_beyond(void) {
  ON_ONE(bsp_get(0, area, 0, other, sizeof area + 1));
}
static void hpget_beyond(void) {
  ON_ONE(bsp_hpget(0, area, 100, other, 1));
}
static void put_negative_offset(void) {
  ON_ONE(bsp_put(0, &value, area, -1, sizeof value));
}
static void put_negative_size(void) {
  ON_ONE(bsp_put(0, &value, area, 0, -4));
}
static void put_overflow(void) {
  ON_ONE(bsp_put(0, &value, area, (size_t)-1 / 2, (size_t)-1 / 2));
}
static void put_null(void) {
  ON_ONE(bsp_put(0, NULL, area, 0, sizeof value));
}
static void put_to_null(void) {
  ON_ONE(bsp_put(0, &value, NULL, 0, sizeof value));
}
static void get_null(void) {
  ON_ONE(bsp_get(0, area, 0, NULL, sizeof value));
}
static void put_unregistered(void) {
  ON_ONE(bsp_put(0, &value, other, 0, sizeof value));
}
static void put_inside(void) {
  ON_ONE(bsp_put(0, &value, area + 1, 0, sizeof value));
}
static void get_unregistered(void) {
  ON_ONE(bsp_get(0, other, 0, &value, sizeof value));
}
static void send_negative(void) {
  ON_ONE(bsp_send(0, NULL, &value, -1));
}
static void send_null(void) {
  ON_ONE(bsp_send(0, NULL, NULL, 1));
}
static void push_negative(void) {
  ON_ONE(bsp_push_reg(other, -1));
}
static void push_null(void) {
  ON_ONE(bsp_push_reg(NULL, 4));
}
static void pop_unregistered(void) {
  ON_ONE(bsp_pop_reg(other));
}
static void move_empty(void) {
  ON_ONE(bsp_move(&value, 4));
}
static void tagsize_negative(void) {
  int size = -1;
  ON_ONE(bsp_set_tagsize(&size));
}
static void tagsize_null(void) {
  int* none = NULL;
  ON_ONE(bsp_set_tagsize(none));
}
static void qsize_null(void) {
  int* none = NULL;
  ON_ONE(bsp_qsize(&value, none));
}
static void get_tag_null(void) {
  int* none = NULL;
  ON_ONE(bsp_get_tag(none, NULL));
}
static void abort_in_section(void) {
  ON_ONE(bsp_abort("process %d gives up\n", bsp_pid()));
}

static void put_too_early(void) {
  step();
  step();
  bsp_push_reg(late, sizeof late);
  if (bsp_pid() == 1) bsp_put(0, &value, late, 0, sizeof value);
  step();
}

static void put_after_pop(void) {
  bsp_push_reg(gone, sizeof gone);
  step();
  bsp_pop_reg(gone);
  step();
  if (bsp_pid() == 1) bsp_put(0, &value, gone, 0, sizeof value);
  step();
}

/* The newest registration is smaller than the one before. */
static void put_beyond_newest(void) {
  bsp_push_reg(area, sizeof area);
  step();
  bsp_put(0, &value, area, 12, sizeof value);
  bsp_push_reg(area, sizeof(int));
  step();
  if (bsp_pid() == 1) bsp_put(0, &value, area, 12, sizeof value);
  step();
}

static void put_to_smaller(void) {
  bsp_push_reg(area, bsp_pid() == 0 ? 4 : 16);
  step();
  step();
  if (bsp_pid() == 1) bsp_put(0, &value, area, 4, sizeof value);
  step();
}

static void put_to_registered_null(void) {
  bsp_push_reg(bsp_pid() == 0 ? NULL : area, bsp_pid() == 0 ? 0 : 16);
  step();
  step();
  if (bsp_pid() == 1) bsp_put(0, &value, area, 0, sizeof value);
  step();
}

static void pop_twice(void) {
  bsp_push_reg(area, sizeof area);
  step();
  step();
  bsp_pop_reg(area);
  bsp_pop_reg(area);
  step();
}

static void send_tag_null(void) {
  int size = 4;
  bsp_set_tagsize(&size);
  step();
  step();
  if (bsp_pid() == 1) bsp_send(0, NULL, NULL, 0);
  step();
}

/* ---- Calls that have to be the same on all processes: both of two find the error, at the sync ---- */

static void pushes_differ(void) {
  step();
  step();
  if (bsp_pid() == 1) bsp_push_reg(area, sizeof area);
  step();
}

static void pops_differ(void) {
  ON_ONE(bsp_pop_reg(area));
}

static void pops_of_different_areas(void) {
  bsp_push_reg(area, sizeof area);
  bsp_push_reg(other, sizeof other);
  step();
  step();
  bsp_pop_reg(bsp_pid() == 1 ? area : other);
  step();
}

static void pops_of_null(void) {
  bsp_push_reg(area, sizeof area);
  step();
  step();
  bsp_pop_reg(NULL);
  step();
}

static void tagsizes_differ(void) {
  int size = 4 + bsp_pid();
  step();
  step();
  bsp_set_tagsize(&size);
  step();
}

static void tagsize_calls_differ(void) {
  int size = 0;
  ON_ONE(bsp_set_tagsize(&size));
}

static void sync_and_end(void) {
  step();
  step();
  if (bsp_pid() == 1) bsp_end();
  step();
}

/* ---- In a checking run ---- */

static void hpput_changed(void) {
  bsp_push_reg(area, sizeof area);
  step();
  step();
  if (bsp_pid() == 1) {
    bsp_hpput(0, other, area, 0, sizeof other);
    other[2] = 1;
  }
  step();
}

static void hpget_changed(void) {
  bsp_push_reg(area, sizeof area);
  step();
  step();
  if (bsp_pid() == 1) {
    bsp_hpget(0, area, 0, other, sizeof other);
    other[2] = 1;
  }
  step();
}

static void puts_overlap(void) {
  bsp_push_reg(area, sizeof area);
  step();
  step();
  bsp_put(1, other, area, bsp_pid(), 4);
  step();
}

static void put_dropped(void) {
  bsp_push_reg(area, sizeof area);
  step();
  step();
  if (bsp_pid() == 1) bsp_put(0, other, area, 0, 4);
}

#define RULE(name) {#name, name}

const Rule errors[] = {
    RULE(pid_negative),
    RULE(pid_nprocs),
    RULE(send_pid),
    RULE(get_pid),
    RULE(put_beyond),
    RULE(hpput_beyond),
    RULE(get_beyond),
    RULE(hpget_beyond),
    RULE(put_negative_offset),
    RULE(put_negative_size),
    RULE(put_overflow),
    RULE(put_null),
    RULE(put_to_null),
    RULE(get_null),
    RULE(put_unregistered),
    RULE(put_inside),
    RULE(get_unregistered),
    RULE(send_negative),
    RULE(send_null),
    RULE(push_negative),
    RULE(push_null),
    RULE(pop_unregistered),
    RULE(move_empty),
    RULE(tagsize_negative),
    RULE(tagsize_null),
    RULE(qsize_null),
    RULE(get_tag_null),
    RULE(abort_in_section),
    RULE(put_too_early),
    RULE(put_after_pop),
    RULE(put_beyond_newest),
    RULE(put_to_smaller),
    RULE(put_to_registered_null),
    RULE(pop_twice),
    RULE(send_tag_null),
    RULE(pushes_differ),
    RULE(pops_differ),
    RULE(pops_of_different_areas),
    RULE(pops_of_null),
    RULE(tagsizes_differ),
    RULE(tagsize_calls_differ),
    RULE(sync_and_end),
    RULE(hpput_changed),
    RULE(hpget_changed),
    RULE(puts_overlap),
    RULE(put_dropped),
    {NULL, NULL},
};
