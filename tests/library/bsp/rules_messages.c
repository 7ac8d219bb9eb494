/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Messages, with int and with size_t. */
#include <stdint.h>

#include "rules.h"

static void set_tags(int bytes) {
  bsp_set_tagsize(&bytes);
  bsp_sync();
}

static void the_size_of_tags_changes_step_by_step(void) {
  int size = 4, status = 0, tag = 77, got = 0;
  bsp_set_tagsize(&size);
  EXPECT(size == 0);
  size = 8;
  bsp_set_tagsize(&size);
  EXPECT(size == 4); /* asked for last, not in force */
  size = 4;
  bsp_set_tagsize(&size);
  EXPECT(size == 8);
  bsp_send(RIGHT, NULL, NULL, 0); /* tags are still empty */
  bsp_sync();
  size = 0;
  bsp_set_tagsize(&size); /* from the next superstep on */
  bsp_get_tag(&status, &got);
  EXPECT(status == 0 && got == 0);
  bsp_send(RIGHT, &tag, NULL, 0);
  tag = 0;
  bsp_sync();
  bsp_get_tag(&status, &got);
  EXPECT(status == 0 && got == 77);
  bsp_send(RIGHT, NULL, NULL, 0);
  bsp_sync();
  got = 5;
  bsp_get_tag(&status, &got);
  EXPECT(status == 0 && got == 5);
  bsp_sync();
}

static void messages_are_copied_and_counted(void) {
  set_tags(sizeof(int));
  for (int k = 0; k < 5; ++k) {
    char text[6] = "abcde";
    int tag = 10 * bsp_pid() + k;
    bsp_send(RIGHT, &tag, text, k);
    tag = -1;
    text[0] = 'x';
  }
  int messages = -1, bytes = -1, seen = 0;
  bsp_qsize(&messages, &bytes);
  EXPECT(messages == 0 && bytes == 0);
  bsp_sync();
  for (int left = 5, sum = 10; left > 0; --left) {
    int status = -2, tag = -2;
    char text[6] = ".....";
    bsp_qsize(&messages, &bytes);
    EXPECT(messages == left && bytes == sum);
    bsp_get_tag(&status, &tag);
    EXPECT(tag / 10 == LEFT && status == tag % 10);
    bsp_move(text, 3); /* at most 3 bytes */
    int copied = status < 3 ? status : 3;
    EXPECT(memcmp(text, "abc", (size_t)copied) == 0 && text[copied] == '.');
    seen |= 1 << status;
    sum -= status;
  }
  EXPECT(seen == 31);
  set_tags(0);
}

static void an_empty_queue(void) {
  int messages = -1, bytes = -1, status = 0, tag = 9;
  void *tags, *payload;
  bsp_sync();
  bsp_qsize(&messages, &bytes);
  bsp_get_tag(&status, &tag);
  EXPECT(messages == 0 && bytes == 0 && status == -1 && tag == 9);
  EXPECT(bsp_hpmove(&tags, &payload) == -1);
  EXPECT(bsp_hpmove(&tags, &payload) < 0);
}

static void unread_messages_are_dropped(void) {
  int messages = -1, bytes = -1, status = 0;
  bsp_send(RIGHT, NULL, "one", 3);
  bsp_send(RIGHT, NULL, "two", 3);
  bsp_sync();
  bsp_move(NULL, 0); /* one of them */
  bsp_sync();
  bsp_qsize(&messages, &bytes);
  bsp_get_tag(&status, NULL);
  EXPECT(messages == 0 && bytes == 0 && status == -1);
}

static void messages_without_copying(void) {
  set_tags(3);
  for (int k = 0; k < 4; ++k) {
    double values[3] = {(double)k, k + 0.5, (double)bsp_pid()};
    bsp_send(k % 2 ? RIGHT : bsp_pid(), "tag", values, k * (int)sizeof(double));
  }
  bsp_sync();
  void *tag, *payload;
  int size, messages = 0, sum = 0;
  while ((size = (int)bsp_hpmove(&tag, &payload)) != -1) {
    EXPECT(memcmp(tag, "tag", 3) == 0);
    EXPECT((uintptr_t)payload % 16 == 0 && (uintptr_t)tag % 16 == 0);
    const double* values = (const double*)payload;
    int count = size / (int)sizeof(double);
    EXPECT(count < 1 || values[0] == count);
    EXPECT(count < 2 || values[1] == count + 0.5);
    EXPECT(count < 3 || values[2] == LEFT);
    sum += count;
    ++messages;
  }
  EXPECT(messages == 4 && sum == 6);
  set_tags(0);
}

/* A message stays where it is while the next one is under way. */
static void received_memory_stays_until_sync(void) {
  int here = 10 + bsp_pid(), other = 90 + bsp_pid();
  void *tag, *first, *second;
  for (int round = 0; round < 4; ++round) {
    for (int k = 0; k < 2; ++k) bsp_send(k ? RIGHT : bsp_pid(), NULL, &here, sizeof here);
    bsp_sync();
    EXPECT(bsp_hpmove(&tag, &first) == sizeof(int) && bsp_hpmove(&tag, &second) == sizeof(int));
    for (int k = 0; k < 40; ++k) bsp_send(k % bsp_nprocs(), NULL, &other, sizeof other);
    int sum = *(int*)first + *(int*)second;
    EXPECT(sum == 20 + bsp_pid() + LEFT);
    bsp_sync();
  }
}

static void sizes_may_be_size_t(void) {
  size_t size = 2, status = 0, bytes = 0;
  unsigned int messages = 7;
  int count = 7;
  char tag[2] = "", payload[9] = "........";
  bsp_set_tagsize(&size);
  EXPECT(size == 0);
  bsp_sync();
  bsp_get_tag(&status, tag);
  EXPECT(status == (size_t)-1);
  bsp_send((unsigned int)RIGHT, "ab", "12345678", (size_t)8);
  bsp_sync();
  bsp_qsize(&messages, &bytes);
  EXPECT(messages == 1 && bytes == 8);
  bsp_qsize(&messages, NULL);
  bsp_qsize(&count, &bytes);
  EXPECT(messages == 1 && count == 1);
  bsp_get_tag(&status, tag);
  EXPECT(status == 8 && memcmp(tag, "ab", 2) == 0);
  bsp_move(payload, (size_t)100);
  EXPECT(memcmp(payload, "12345678", 8) == 0);
  void *tags, *rest;
  size_t nothing = (size_t)bsp_hpmove(&tags, &rest);
  EXPECT(nothing == (size_t)-1);
  size = 0;
  bsp_set_tagsize(&size);
  EXPECT(size == 2);
  bsp_sync();
}

const Rule message_rules[] = {
    {"tag_sizes", the_size_of_tags_changes_step_by_step},
    {"counted", messages_are_copied_and_counted},
    {"empty_queue", an_empty_queue},
    {"dropped", unread_messages_are_dropped},
    {"in_place", messages_without_copying},
    {"stays", received_memory_stays_until_sync},
    {"size_t", sizes_may_be_size_t},
    {NULL, NULL},
};
