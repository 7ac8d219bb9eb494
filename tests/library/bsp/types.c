/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program for both conventions of BSPlib's types, in C and in C++; in C it also mixes them. */
#include <bsp.h>
#include <string.h>

#define EXPECT(condition) ((condition) ? (void)0 : bsp_abort("line %d: expected %s\n", __LINE__, #condition))

int main(void) {
  bsp_begin(bsp_nprocs());
  bsp_pid_t right = (bsp_pid() + 1) % bsp_nprocs();
  bsp_nprocs_t messages = 7;
  bsp_size_t size = 2, status = 0, bytes = 0;
  char tag[2] = {0}, payload[9] = "........";
  bsp_set_tagsize(&size);
  EXPECT(size == 0);
  bsp_sync();
  bsp_get_tag(&status, tag);
  EXPECT(status == (bsp_size_t)-1);
  bsp_send(right, "ab", "12345678", 8);
  bsp_sync();
  bsp_qsize(&messages, &bytes);
  EXPECT(messages == 1 && bytes == 8);
#ifndef __cplusplus
  unsigned int count = 7;
  int total = 0;
  bsp_qsize(&count, &total);
  EXPECT(count == 1 && total == 8);
#endif
  bsp_get_tag(&status, tag);
  EXPECT(status == 8 && memcmp(tag, "ab", 2) == 0);
  bsp_move(payload, status);
  EXPECT(memcmp(payload, "12345678", 8) == 0);
  bsp_sync();
  if (bsp_pid() == 0) printf("fine, %d bytes\n", (int)sizeof(bsp_size_t));
  bsp_end();
  return 0;
}
