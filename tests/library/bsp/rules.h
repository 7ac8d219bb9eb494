/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rules of BSPlib as small functions, which all processes call between bsp_begin and bsp_end. Those of a
 * table either return, or end the program with an error. */
#ifndef RULES_H
#define RULES_H

#include <bsp.h>
#include <string.h>

typedef struct {
  const char* name;
  void (*run)(void);
} Rule;

/* Tables end with an empty entry. */
extern const Rule memory_rules[], message_rules[], size_rules[], errors[];

/* bsp_sync, counted. */
extern int steps;
void step(void);

#define EXPECT(condition) \
  ((condition) ? (void)0  \
               : bsp_abort("%s:%d: process %d: expected %s\n", __FILE__, __LINE__, bsp_pid(), #condition))

#define RIGHT ((bsp_pid() + 1) % bsp_nprocs())
#define LEFT ((bsp_pid() + bsp_nprocs() - 1) % bsp_nprocs())

#endif
