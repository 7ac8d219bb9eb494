/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a put of 64 MiB from process 1 to process 2 adds to the memory of each process, as a multiple of its size:
 * a line for each. */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 64 };

static double status(const char* name) {
  char line[256];
  double kib = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) kib = atof(line + strlen(name) + 1);
  if (file) fclose(file);
  return kib;
}

int main(void) {
  bsp_begin(bsp_nprocs());
  int p = bsp_nprocs(), s = bsp_pid();
  size_t bytes = (size_t)MIB << 20;
  char* memory = malloc(bytes);
  double* growth = calloc((size_t)p, sizeof(double));
  if (s == 1 || s == 2) memset(memory, s, bytes);
  bsp_push_reg(memory, s == 2 ? bytes : 0);
  bsp_push_reg(growth, (size_t)p * sizeof(double));
  bsp_sync();
  bsp_sync();
  FILE* peak = fopen("/proc/self/clear_refs", "w");
  if (peak) fputs("5", peak), fclose(peak);
  double before = status("VmRSS:");
  if (s == 1) bsp_put(2, memory, memory, 0, bytes);
  bsp_sync();
  double more = (status("VmHWM:") - before) / 1024 / MIB;
  if (s == 2 && memory[bytes - 1] != 1) bsp_abort("the put has not arrived");
  bsp_put(0, &more, growth, (size_t)s * sizeof more, sizeof more);
  bsp_sync();
  for (int t = 0; t < p && s == 0; ++t) printf("%.3f\n", growth[t]);
  bsp_end();
  return 0;
}
