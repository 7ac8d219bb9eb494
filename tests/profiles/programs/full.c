/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A library to be loaded with a program: the disk has no more room for traces, from the third part of each on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int posix_fallocate(int file, off_t at, off_t bytes) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length > 6 && memcmp(path + length - 6, ".trace", 6) == 0 && at > 2 * 256 * 1024) return ENOSPC;
  int (*next)(int, off_t, off_t);
  *(void**)&next = dlsym(RTLD_NEXT, "posix_fallocate");
  return next(file, at, bytes);
}
