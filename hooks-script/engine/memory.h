// The heap of the engine: see `memory.c`.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *malloc(size_t bytes);
void *calloc(size_t count, size_t each);
void *realloc(void *p, size_t bytes);
void free(void *p);
size_t malloc_usable_size(const void *p);

// Sets the limit of memory in use, headers included.
void heap_limit(size_t bytes);
// Peak of memory in use, and 1 if an allocation was refused, since the mark.
size_t heap_peak(void);
int heap_refused(void);
void heap_mark(void);
// Zeroes free memory and sets it aside: later allocations are adjacent, after all existing ones, so
// that a reset has fewer pages to compare.
void heap_settle(void);
