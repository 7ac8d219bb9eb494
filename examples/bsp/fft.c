/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transform of 2^LOG points on a power of two of processes, p <= sqrt(n): fft [LOG].
 *
 * Process s has x[s + p t]. With F_s, the transform of length m = n / p of its points,
 *   y[k + m l] = sum over s of exp(-2 pi i s l / p) exp(-2 pi i s k / n) F_s[k],
 * so one redistribution, after which a process has all F_s[k] of some k, is all the communication. */
#include <bsp.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>

typedef double complex Number;

static const double pi = 3.14159265358979323846;

static Number unit(long numerator, long denominator) {
  double angle = -2 * pi * (double)(numerator % denominator) / (double)denominator;
  return cos(angle) + I * sin(angle);
}

/* Of length n, a power of two, with the given stride. */
static void transform(const Number* in, int stride, Number* out, int n) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  transform(in, 2 * stride, out, n / 2);
  transform(in + stride, 2 * stride, out + n / 2, n / 2);
  for (int k = 0; k < n / 2; ++k) {
    Number odd = unit(k, n) * out[k + n / 2];
    out[k + n / 2] = out[k] - odd;
    out[k] += odd;
  }
}

static Number point(int j) {
  return sin(0.1 * j) + I * (double)(j % 7);
}

int main(int argc, char** argv) {
  int log = argc > 1 ? atoi(argv[1]) : 12;
  bsp_begin(bsp_nprocs());
  int p = bsp_nprocs(), s = bsp_pid(), n = 1 << log, m = n / p, part = m / p;
  if ((p & (p - 1)) != 0 || part == 0) bsp_abort("%d processes (expected a power of two)\n", p);
  Number *x = malloc((size_t)m * sizeof *x), *f = malloc((size_t)m * sizeof *f);
  Number *received = malloc((size_t)m * sizeof *received), *y = malloc((size_t)m * sizeof *y);
  bsp_push_reg(received, m * (int)sizeof(Number));
  bsp_sync();
  for (int t = 0; t < m; ++t) x[t] = point(s + p * t);
  double start = bsp_time();
  transform(x, 1, f, m);
  for (int k = 0; k < m; ++k) f[k] *= unit((long)s * k, n);
  /* k of part q to process q, where those of process s are at s * part. */
  for (int q = 0; q < p; ++q)
    bsp_put(q, f + q * part, received, s * part * (int)sizeof(Number), part * (int)sizeof(Number));
  bsp_sync();
  for (int k = 0; k < part; ++k) transform(received + k, part, y + k * p, p);
  double time = bsp_time() - start;
  /* Some points of each process from the definition. */
  for (int k = 0; k < part; k += 1 + part / 2)
    for (int l = 0; l < p; ++l) {
      Number sum = 0;
      for (int j = 0; j < n; ++j) sum += point(j) * unit((long)j * (s * part + k + m * l), n);
      if (cabs(sum - y[k * p + l]) > 1e-9 * n) bsp_abort("point %d is wrong\n", s * part + k + m * l);
    }
  if (s == 0) printf("%d processes: %d points in %.3g s\n", p, n, time);
  bsp_pop_reg(received);
  bsp_sync();
  free(x), free(f), free(received), free(y);
  bsp_end();
  return 0;
}
