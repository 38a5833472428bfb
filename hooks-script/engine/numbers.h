// Parses and formats numbers. `shim.c` includes this file before the engine's source, so that the
// engine calls these functions instead of its own.
//
// Reason: the author of a message chooses its numbers, and a hook that returns the message pays for
// them. The C library parses with 128-bit floats, which are emulated here: half a million
// instructions for `5e-324`. The engine formats by trying fewer and fewer digits with integers of
// arbitrary length: as many instructions again.
#include <stdbool.h>
#include <string.h>

#include "dtoa.h"

// `strtod`, for `JSON.parse`. The engine's own way counts the first 32 digits.
static double read_number(const char *text, char **end) {
    size_t length = strspn(text, "0123456789+-.eE");
    JSATODTempMem room;
    return length > 32 ? strtod(text, end) : js_atod(text, (const char **)end, 10, 0, &room);
}

// Powers of ten: their first 128 bits, rounded up, for the whole range of a float.
enum { LEAST_POWER = -292, MOST_POWER = 324, LONG = 36 };
typedef struct { uint64_t high, low; } power;
static power powers[MOST_POWER - LEAST_POWER + 1];

// Returns the first 128 bits of a number in 32-bit digits, least significant first.
static power first_bits(const uint32_t *digits, bool exact) {
    int top = LONG - 1;
    while (!digits[top]) top--;
    int shift = __builtin_clz(digits[top]);
    uint32_t word[5];
    for (int i = 0; i < 5; i++) word[i] = top >= i ? digits[top - i] : 0;
    uint64_t high = (uint64_t)word[0] << 32 | word[1], low = (uint64_t)word[2] << 32 | word[3];
    uint32_t rest = word[4];
    if (shift) {
        high = high << shift | low >> (64 - shift);
        low = low << shift | rest >> (32 - shift);
        rest <<= shift;
    }
    for (int i = top - 5; i >= 0; i--) exact &= !digits[i];
    if ((!exact || rest) && !++low) high++;
    return (power){high, low};
}

// Runs once, at the start. A power of ten has the bits of a power of five.
static void make_powers(void) {
    uint32_t digits[LONG] = {1};
    for (int k = 0; k <= MOST_POWER; k++) {
        powers[k - LEAST_POWER] = first_bits(digits, true);
        uint64_t carry = 0;
        for (int i = 0; i < LONG; i++) {
            carry += (uint64_t)digits[i] * 5;
            digits[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    memset(digits, 0, sizeof digits);
    digits[LONG - 1] = 1u << 31;
    for (int k = -1; k >= LEAST_POWER; k--) {
        uint64_t rest = 0;
        for (int i = LONG - 1; i >= 0; i--) {
            rest = rest << 32 | digits[i];
            digits[i] = (uint32_t)(rest / 5);
            rest %= 5;
        }
        powers[k - LEAST_POWER] = first_bits(digits, false);
    }
}

static uint64_t product(uint64_t a, uint64_t b, uint64_t *high) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32);
    // Otherwise the compiler recognizes the pattern and calls a missing function.
    __asm__("" : "+r"(middle));
    uint64_t other = a0 * b1 + (uint32_t)middle;
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    return other << 32 | (uint32_t)low;
}

// Returns the product without its last 128 bits; its last bit is set if they are not zero.
static uint64_t round_to_odd(power g, uint64_t factor) {
    uint64_t carry, high;
    product(g.low, factor, &carry);
    uint64_t low = product(g.high, factor, &high);
    low += carry;
    return (high + (low < carry)) | (low > 1);
}

// Returns the shortest decimal that parses as `significand * 2^exponent`, after Raffaello Giulietti's
// "The Schubfach way to render doubles": `digits * 10^ten`.
static uint64_t shortest(uint64_t significand, int exponent, bool narrow_below, int *ten) {
    uint64_t odd = significand & 1;
    int k = (exponent * 1262611 - (narrow_below ? 524031 : 0)) >> 22;
    int h = exponent + ((-k * 1741647) >> 19) + 1;
    power g = powers[-k - LEAST_POWER];
    uint64_t below = round_to_odd(g, (4 * significand - 2 + narrow_below) << h) + odd;
    uint64_t value = round_to_odd(g, 4 * significand << h);
    uint64_t above = round_to_odd(g, (4 * significand + 2) << h) - odd;
    uint64_t s = value / 4;
    *ten = k;
    if (s >= 10) {
        uint64_t shorter = s / 10;
        bool down = below <= 40 * shorter, up = 40 * shorter + 40 <= above;
        if (down != up) {
            *ten = k + 1;
            return shorter + up;
        }
    }
    bool down = below <= 4 * s, up = 4 * s + 4 <= above;
    if (down != up) return s + up;
    uint64_t middle = 4 * s + 2;
    return s + (value > middle || (value == middle && s & 1));
}

// `js_dtoa`: formats the shortest decimal; the engine handles all other formats.
static int write_number(char *text, double number, int radix, int count, int flags, JSDTOATempMem *room) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    int biased = bits >> 52 & 0x7ff;
    uint64_t fraction = bits & ((1ull << 52) - 1);
    bool whole = number > -1e15 && number < 1e15 && number == (double)(int64_t)number;
    int form = flags & ~JS_DTOA_MINUS_ZERO;
    bool scientific = form == (JS_DTOA_FORMAT_FREE | JS_DTOA_EXP_ENABLED);
    if (radix != 10 || biased == 0x7ff || whole ||
        (!scientific && form != (JS_DTOA_FORMAT_FREE | JS_DTOA_EXP_AUTO)))
        return js_dtoa(text, number, radix, count, flags, room);

    int ten;
    uint64_t digits = biased ? shortest(fraction | 1ull << 52, biased - 1075, !fraction && biased > 1, &ten)
                             : shortest(fraction, -1074, false, &ten);
    char written[20];
    int length = 0;
    while (digits % 10 == 0) digits /= 10, ten++;
    for (; digits; digits /= 10) written[length++] = (char)('0' + digits % 10);
    // Position of the decimal point, counted from the first digit.
    int point = length + ten;
    char *to = text;
    if (bits >> 63) *to++ = '-';
    if (scientific || point > 21 || point < -5) {
        *to++ = written[--length];
        if (length) *to++ = '.';
        while (length) *to++ = written[--length];
        *to++ = 'e';
        *to++ = point > 0 ? '+' : '-';
        int shown = point > 0 ? point - 1 : 1 - point;
        if (shown >= 100) *to++ = (char)('0' + shown / 100);
        if (shown >= 10) *to++ = (char)('0' + shown / 10 % 10);
        *to++ = (char)('0' + shown % 10);
    } else {
        if (point <= 0) {
            *to++ = '0';
            *to++ = '.';
            for (int i = point; i < 0; i++) *to++ = '0';
        }
        for (int at = 0; length || at < point; at++) {
            if (at && at == point) *to++ = '.';
            *to++ = length ? written[--length] : '0';
        }
    }
    *to = 0;
    return (int)(to - text);
}

#define strtod read_number
#define js_dtoa write_number
