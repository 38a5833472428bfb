// The heap of the engine: see `memory.c`.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *malloc(size_t bytes);
void *calloc(size_t count, size_t each);
void *realloc(void *p, size_t bytes);
void free(void *p);
size_t malloc_usable_size(const void *p);

// What may be in use at the same time, headers included.
void heap_limit(size_t bytes);
// The most that was in use, and whether anything was refused, since the mark.
size_t heap_peak(void);
int heap_refused(void);
void heap_mark(void);
// What is free becomes zeros, and is put aside: what is asked for from now on lies together, behind
// all that there is, where a reset finds it with less to look at.
void heap_settle(void);
