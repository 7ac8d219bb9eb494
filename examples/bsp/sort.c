/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sample sort of random numbers: sort [NUMBERS OF EACH PROCESS]. Each process sorts its numbers and sends p
 * regular samples to all; the samples of the samples divide the range into p parts, one for each process. */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void* a, const void* b) {
  unsigned int x = *(const unsigned int*)a, y = *(const unsigned int*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
  bsp_begin(bsp_nprocs());
  unsigned int p = (unsigned int)bsp_nprocs(), s = (unsigned int)bsp_pid(), state = 1 + s * 7919u;
  unsigned int *numbers = malloc(n * sizeof *numbers), *samples = malloc((size_t)p * p * sizeof *samples);
  unsigned long long sum = 0, sums[3] = {0}, *all_sums = malloc(p * sizeof sums);
  for (size_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = state >> (s % 3); /* processes have different distributions */
    sum += numbers[i];
  }
  bsp_push_reg(samples, (size_t)p * p * sizeof *samples);
  bsp_push_reg(all_sums, p * sizeof sums);
  size_t tag_bytes = sizeof s;
  bsp_set_tagsize(&tag_bytes);
  bsp_sync();
  double start = bsp_time();
  qsort(numbers, n, sizeof *numbers, compare);
  for (unsigned int k = 0; k < p; ++k)
    for (unsigned int t = 0; t < p; ++t)
      bsp_put(t, &numbers[n * k / p], samples, ((size_t)s * p + k) * sizeof *samples, sizeof *samples);
  bsp_sync();
  qsort(samples, (size_t)p * p, sizeof *samples, compare);
  for (size_t i = 0, t = 0; t < p; ++t) {
    size_t begin = i;
    while (i < n && (t + 1 == p || numbers[i] < samples[(t + 1) * p])) ++i;
    bsp_send((unsigned int)t, &s, numbers + begin, (i - begin) * sizeof *numbers);
  }
  bsp_sync();
  unsigned int messages;
  size_t bytes, count = 0;
  bsp_qsize(&messages, &bytes);
  unsigned int* sorted = malloc(bytes + 1);
  for (; messages > 0; --messages) {
    size_t size, from;
    unsigned int source;
    bsp_get_tag(&size, &source);
    from = count;
    bsp_move(sorted + from, size);
    count += size / sizeof *sorted;
  }
  qsort(sorted, count, sizeof *sorted, compare);
  double time = bsp_time() - start;
  /* Nothing was lost, and process s has what is between those of its neighbors. */
  sums[0] = sum;
  for (size_t i = 0; i < count; ++i) sums[1] += sorted[i];
  sums[2] = count > 0 ? sorted[0] : 0;
  for (unsigned int t = 0; t < p; ++t) bsp_put(t, sums, all_sums, s * sizeof sums, sizeof sums);
  bsp_sync();
  unsigned long long before = 0, after = 0;
  for (unsigned int t = 0; t < p; ++t) before += all_sums[3 * t], after += all_sums[3 * t + 1];
  if (before != after) bsp_abort("the sum is %llu (expected %llu)\n", after, before);
  for (unsigned int t = s + 1; t < p; ++t)
    if (count > 0 && all_sums[3 * t + 1] > 0 && sorted[count - 1] > all_sums[3 * t + 2])
      bsp_abort("not sorted\n");
  if (s == 0) printf("%u processes: %zu numbers in %.3g s\n", p, n * p, time);
  bsp_pop_reg(all_sums);
  bsp_pop_reg(samples);
  bsp_sync();
  free(sorted), free(all_sums), free(samples), free(numbers);
  bsp_end();
  return 0;
}
