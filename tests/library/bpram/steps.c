/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The BPRAM in C: a rotation, then process 0 sends to the last one. Prints "fine" on process 0. */
#include <bpram.h>
#include <stdio.h>

int main(void) {
  bpram_begin();
  const int own = bpram_pid(), all = bpram_nprocs(), last = all - 1;
  int values[2] = {own, 10 * own}, room[3] = {-1, -1, -1}, from = BPRAM_NOBODY;
  const size_t bytes = bpram_exchange((own + 1) % all, values, sizeof values, room, sizeof room, &from);
  if (bytes != sizeof values || from != (own + last) % all || room[0] != from || room[1] != 10 * from ||
      room[2] != -1)
    bpram_abort("the rotation has failed");
  if (last > 0) {
    if (own == 0)
      bpram_send(last, values, sizeof values);
    else if (own < last)
      bpram_pass();
    else if (bpram_receive(room, sizeof room, NULL) != sizeof values || room[0] != 0)
      bpram_abort("the last process has not received the block");
  }
  if (bpram_time() < 0) bpram_abort("the clock runs backwards");
  if (own == 0) puts("fine");
  bpram_end();
  return 0;
}
