// The heap of the engine, and the functions that move bytes.
//
// Unlike the C library's allocator, it counts every byte, reports refused allocations (the
// engine reports them as `throw null`, or not at all), and places equal objects at equal
// addresses in every run. Bytes are moved by loops, because the fuel of a bulk instruction
// depends on the host's version, and most copies are too short to be worth a call of the
// host.
//
// Two-level segregated fit: blocks are adjacent, each with the size of the previous one; free
// blocks are in lists by size. Memory after `top` was never used.
#include "memory.h"

typedef uint32_t u32;

typedef struct block {
    u32 before; // size of the block in front, 0 for the first
    u32 size;   // of this block with its header; bit 0: in use
    struct block *next, *prev; // in its list, while it is free
} block;

#define HEADER 8u
#define SMALLEST 16u
#define SUB_BITS 3
#define SUBS (1u << SUB_BITS)
#define CLASSES 32
#define PAGE 65536u
#define USED 1u

extern unsigned char __heap_base;

static block *lists[CLASSES][SUBS];
static u32 class_map;
static u32 sub_map[CLASSES];
static u32 top, last; // start of unused memory, and the size of the block before it
static u32 highest;   // maximum of `top` before it was reduced
static block *aside;  // free blocks marked as in use, until there is no other memory
static u32 used, peak, limit;
static int refused;

static u32 size_of(const block *b) { return b->size & ~USED; }
static block *at(u32 address) { return (block *)(uintptr_t)address; }
static u32 address_of(const void *p) { return (u32)(uintptr_t)p; }
static block *of(const void *p) { return at(address_of(p) - HEADER); }

static void place(u32 size, u32 *class, u32 *sub) {
    u32 log = 31u - (u32)__builtin_clz(size);
    *class = log;
    *sub = log < SUB_BITS ? 0 : (size >> (log - SUB_BITS)) & (SUBS - 1);
}

static void hang(block *b) {
    u32 c, s;
    place(size_of(b), &c, &s);
    b->prev = 0;
    b->next = lists[c][s];
    if (b->next) b->next->prev = b;
    lists[c][s] = b;
    class_map |= 1u << c;
    sub_map[c] |= 1u << s;
}

static void unhang(block *b) {
    u32 c, s;
    place(size_of(b), &c, &s);
    if (b->prev) b->prev->next = b->next;
    else lists[c][s] = b->next;
    if (b->next) b->next->prev = b->prev;
    if (!lists[c][s]) {
        sub_map[c] &= ~(1u << s);
        if (!sub_map[c]) class_map &= ~(1u << c);
    }
}

// Removes a free block of at least `size` from its list and returns it.
static block *find(u32 size) {
    u32 c, s;
    // Rounded up, so that every block of the selected list is large enough.
    u32 wanted = size + (1u << (31u - (u32)__builtin_clz(size) - SUB_BITS)) - 1;
    place(wanted, &c, &s);
    u32 subs = sub_map[c] & (~0u << s);
    if (!subs) {
        u32 classes = c + 1 < CLASSES ? class_map & (~0u << (c + 1)) : 0;
        if (!classes) return 0;
        c = (u32)__builtin_ctz(classes);
        subs = sub_map[c];
    }
    block *b = lists[c][(u32)__builtin_ctz(subs)];
    unhang(b);
    return b;
}

static u32 have(void) { return (u32)__builtin_wasm_memory_size(0) * PAGE; }

// Grows the memory up to `end`.
static int reach(u32 end) {
    if (end <= have()) return 1;
    return __builtin_wasm_memory_grow(0, (end - have() + PAGE - 1) / PAGE) != (size_t)-1;
}

static void *refuse(void) {
    refused = 1;
    return 0;
}

static void account(u32 more) {
    used += more;
    if (used > peak) peak = used;
}

static u32 rounded(size_t bytes) {
    u32 size = ((u32)bytes + HEADER + 7u) & ~7u;
    return size < SMALLEST ? SMALLEST : size;
}

static void behind(block *b, u32 size) {
    u32 next = address_of(b) + size;
    if (next == top) last = size;
    else at(next)->before = size;
}

// Frees a block that is in no list, merged with its free neighbours.
static void give_back(block *b) {
    u32 size = size_of(b);
    u32 next = address_of(b) + size;
    if (next != top && !(at(next)->size & USED)) {
        unhang(at(next));
        size += size_of(at(next));
    }
    if (b->before) {
        block *front = at(address_of(b) - b->before);
        if (!(front->size & USED)) {
            unhang(front);
            size += size_of(front);
            b = front;
        }
    }
    if (address_of(b) + size == top) {
        if (top > highest) highest = top;
        top = address_of(b);
        last = b->before;
        return;
    }
    b->size = size;
    behind(b, size);
    hang(b);
}

// Shrinks a block in use to `size` and frees the rest.
static void cut(block *b, u32 size) {
    u32 rest = size_of(b) - size;
    if (rest < SMALLEST) return;
    b->size = size | USED;
    block *tail = at(address_of(b) + size);
    tail->before = size;
    tail->size = rest | USED;
    behind(tail, rest);
    give_back(tail);
}

void heap_settle(void) {
    for (block *b; (b = find(SMALLEST));) {
        memset((unsigned char *)b + HEADER, 0, size_of(b) - HEADER);
        b->size |= USED;
        b->next = aside;
        aside = b;
    }
    if (highest > top) memset(at(top), 0, highest - top);
}

// Releases the blocks that were set aside if there is no other memory up to `end`.
static int bring_back(u32 end) {
    if (!aside || end <= have()) return 0;
    while (aside) {
        block *b = aside;
        aside = b->next;
        give_back(b);
    }
    return 1;
}

void heap_limit(size_t bytes) { limit = bytes; }
size_t heap_peak(void) { return peak; }
void heap_mark(void) { peak = used; refused = 0; }
int heap_refused(void) { return refused; }

void *malloc(size_t bytes) {
    if (bytes > limit) return refuse();
    u32 size = rounded(bytes);
    if (size > limit - used || used > limit) return refuse();
    block *b = find(size);
    if (!b && bring_back(top + size)) b = find(size);
    if (b) {
        b->size |= USED;
        cut(b, size);
    } else {
        if (!top) top = (address_of(&__heap_base) + 7u) & ~7u;
        if (!reach(top + size)) return refuse();
        b = at(top);
        b->before = last;
        b->size = size | USED;
        top += size;
        last = size;
    }
    account(size_of(b));
    return (unsigned char *)b + HEADER;
}

void free(void *p) {
    if (!p) return;
    block *b = of(p);
    used -= size_of(b);
    give_back(b);
}

void *calloc(size_t count, size_t each) {
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes)) return refuse();
    void *p = malloc(bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

size_t malloc_usable_size(const void *p) { return p ? size_of(of(p)) - HEADER : 0; }

void *realloc(void *p, size_t bytes) {
    if (!p) return malloc(bytes);
    if (!bytes) {
        free(p);
        return 0;
    }
    if (bytes > limit) return refuse();
    block *b = of(p);
    u32 size = rounded(bytes), old = size_of(b);
    if (size <= old) {
        cut(b, size);
        used -= old - size_of(b);
        return p;
    }
    if (size - old > limit - used || used > limit) return refuse();
    u32 next = address_of(b) + old;
    if (next == top) {
        bring_back(next - old + size);
        if (!reach(next - old + size)) return refuse();
        top = next - old + size;
        last = size;
        b->size = size | USED;
        account(size - old);
        return p;
    }
    if (!(at(next)->size & USED) && old + size_of(at(next)) >= size) {
        unhang(at(next));
        b->size = (old + size_of(at(next))) | USED;
        behind(b, size_of(b));
        cut(b, size);
        account(size_of(b) - old);
        return p;
    }
    void *moved = malloc(bytes);
    if (!moved) return 0;
    memcpy(moved, p, old - HEADER);
    free(p);
    return moved;
}

// Moves words where possible; wasm allows unaligned access.
typedef uint64_t __attribute__((may_alias, aligned(1))) word;

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
    for (; n >= 32; n -= 32, t += 32, f += 32) {
        word a = ((const word *)f)[0], b = ((const word *)f)[1];
        word c = ((const word *)f)[2], d = ((const word *)f)[3];
        ((word *)t)[0] = a, ((word *)t)[1] = b, ((word *)t)[2] = c, ((word *)t)[3] = d;
    }
    for (; n >= 8; n -= 8, t += 8, f += 8) *(word *)t = *(const word *)f;
    while (n--) *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t <= f || t >= f + n) {
        // Forwards, a word is read whole before the bytes in front of it are overwritten.
        for (; n >= 8; n -= 8, t += 8, f += 8) *(word *)t = *(const word *)f;
        while (n--) *t++ = *f++;
    } else {
        t += n, f += n;
        for (; n >= 8; n -= 8) t -= 8, f -= 8, *(word *)t = *(const word *)f;
        while (n--) *--t = *--f;
    }
    return to;
}

void *memset(void *to, int byte, size_t n) {
    unsigned char *t = to;
    word all = 0x0101010101010101ull * (unsigned char)byte;
    for (; n >= 32; n -= 32, t += 32)
        ((word *)t)[0] = all, ((word *)t)[1] = all, ((word *)t)[2] = all, ((word *)t)[3] = all;
    for (; n >= 8; n -= 8, t += 8) *(word *)t = all;
    while (n--) *t++ = (unsigned char)byte;
    return to;
}
