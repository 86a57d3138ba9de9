// BERTH_VECTORIZE before a function: compiled twice, for any x86-64 processor and for those with 256-bit vectors; the
// right one is chosen when the program starts. For loops over all nodes, where it is worth it. Results are identical.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define BERTH_VECTORIZE __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define BERTH_VECTORIZE
#endif
