// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Before a function: compiled for several instruction sets, of which the processor's best is chosen when the
// program starts. What it inlines is compiled for the same ones. Not under a simulator, where computing takes
// a preset time, nor with sanitizers, which cannot check the functions that choose. Older compilers do not
// offer these sets by name, and Clang (19) emits no inline function that only such functions call.
#if defined(__GNUC__) && !defined(__clang__)
#define HOCKNEY_NAMES_INSTRUCTION_SETS (__GNUC__ >= 12)
#else
#define HOCKNEY_NAMES_INSTRUCTION_SETS 0
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOCKNEY_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HOCKNEY_SANITIZED
#endif

#if defined(__x86_64__) && defined(__gnu_linux__) && HOCKNEY_NAMES_INSTRUCTION_SETS && \
    !defined(HOCKNEY_SMPI) && !defined(HOCKNEY_SANITIZED)
#define HOCKNEY_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HOCKNEY_VECTORISED
#endif
