// Interface between the engine and its host: boot, load, run.
//
// Includes the engine's source to access its internals: the compiler without an `eval` that
// scripts could reach, the imports and exports of a module, and the state of the random
// number generator.
//
// Text of a script is never confused with results of the engine: the outcome of a run is the
// status that a function returns, and each text has a separate field in `result`.
#include <sys/time.h>
#include <time.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"
#include "numbers.h"
#include "quickjs.c"

#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module("host"), import_name(#name)))

enum status {
    DONE, // loaded, or returned: in the stage `pre`, `text` is the value as JSON
    STOP, // threw a `HookStopException`
    THROWN,
    SYNTAX,
    IMPORTED,
    EXPORTS,
    UNSETTLED, // awaits a promise that never settles
    NO_DATA,   // returned a value that is not JSON: `text` is its kind, or the rest its exception
    JOBS,
    BROKEN, // the engine cannot read the input of the host
};

// Texts that the host reads after a call: pairs of address and length, in bytes of UTF-8.
static struct {
    const char *class, *message, *stack, *text;
    uint32_t class_length, message_length, stack_length, text_length;
} result;

enum level { LOG, INFO, WARN, ERROR, DEBUG };
IMPORT(console) void host_console(enum level level, const char *text, size_t length);
enum posted { POSTED, FULL, REFUSED };
IMPORT(post) enum posted host_post(const char *url, size_t url_length, const char *body, size_t body_length);

// Bits of the argument `mode` of a run.
enum mode { PRE = 1, HTTP = 2 };

#define FILE_NAME "hook.js"

static JSRuntime *runtime;
static JSContext *context;
static JSValue is_stop, hook, given;
static int64_t now_us;
static JSValue refused_import; // exception of the first import
static int jobs_left;
// Promises that were rejected without a handler.
static JSValue *rejected;
static size_t rejected_count, rejected_room;

// System functions of the C library.

int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
    (void)zone;
    tv->tv_sec = (time_t)(now_us / 1000000);
    tv->tv_usec = (suseconds_t)(now_us % 1000000);
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ts) {
    (void)clock;
    ts->tv_sec = (time_t)(now_us / 1000000);
    ts->tv_nsec = (long)(now_us % 1000000) * 1000;
    return 0;
}

// The time zone of scripts is UTC.
struct tm *localtime_r(const time_t *restrict t, struct tm *restrict tm) {
    (void)t;
    memset(tm, 0, sizeof *tm);
    return tm;
}

_Noreturn void abort(void) { __builtin_trap(); }
_Noreturn void __assert_fail(const char *e, const char *f, int l, const char *n) {
    (void)e, (void)f, (void)l, (void)n;
    __builtin_trap();
}

// There is no output.
int printf(const char *restrict format, ...) { (void)format; return 0; }
int fprintf(FILE *restrict f, const char *restrict format, ...) { (void)f, (void)format; return 0; }
int putchar(int c) { return c; }
int puts(const char *s) { (void)s; return 0; }
int fputc(int c, FILE *f) { (void)f; return c; }
int putc(int c, FILE *f) { (void)f; return c; }
int fputs(const char *restrict s, FILE *restrict f) { (void)s, (void)f; return 0; }
int fflush(FILE *f) { (void)f; return 0; }
size_t __stdio_write(FILE *f, const unsigned char *b, size_t n) { (void)f, (void)b; return n; }
size_t __stdout_write(FILE *f, const unsigned char *b, size_t n) { (void)f, (void)b; return n; }
off_t __stdio_seek(FILE *f, off_t o, int w) { (void)f, (void)o, (void)w; return -1; }
int __stdio_close(FILE *f) { (void)f; return 0; }
int __isatty(int fd) { (void)fd; return 0; }

// Allocator interface of the engine.

static void *engine_calloc(void *o, size_t count, size_t size) { (void)o; return calloc(count, size); }
static void *engine_malloc(void *o, size_t size) { (void)o; return malloc(size); }
static void engine_free(void *o, void *p) { (void)o; free(p); }
static void *engine_realloc(void *o, void *p, size_t size) { (void)o; return realloc(p, size); }

// Refuses all imports, including that of the module itself.
static char *no_module(JSContext *ctx, const char *base, const char *name, void *opaque) {
    (void)base, (void)opaque;
    JS_ThrowTypeError(ctx, "cannot import '%s': a hook has no imports", name);
    if (JS_IsUndefined(refused_import)) refused_import = JS_DupValue(ctx, runtime->current_exception);
    return NULL;
}

static bool handled(JSValueConst promise) {
    return ((JSPromiseData *)JS_GetOpaque(promise, JS_CLASS_PROMISE))->is_handled;
}

// Removes promises that have a handler by now.
static void sift_rejections(JSContext *ctx) {
    size_t kept = 0;
    for (size_t i = 0; i < rejected_count; i++) {
        if (handled(rejected[i])) JS_FreeValue(ctx, rejected[i]);
        else rejected[kept++] = rejected[i];
    }
    rejected_count = kept;
}

// The list is in the script's heap. If the heap is full, the refused allocation fails the run.
static void note_rejection(JSContext *ctx, JSValueConst promise, JSValueConst reason,
                           bool is_handled, void *opaque) {
    (void)reason, (void)opaque;
    if (is_handled) return;
    if (rejected_count == rejected_room) {
        sift_rejections(ctx);
        // Sifting must free half of the list, otherwise the list grows: so its cost is amortised.
        if (rejected_count >= rejected_room / 2) {
            size_t room = rejected_room ? 2 * rejected_room : 16;
            JSValue *more = realloc(rejected, room * sizeof *more);
            if (!more) return;
            rejected = more;
            rejected_room = room;
        }
    }
    rejected[rejected_count++] = JS_DupValue(ctx, promise);
}

// Copies texts of a script to `result`. Does not fail: unreadable texts become empty.

static void say(JSContext *ctx, JSValueConst value, const char **text, uint32_t *length) {
    size_t n = 0;
    const char *s = JS_ToCStringLen(ctx, &n, value);
    if (!s) JS_FreeValue(ctx, JS_GetException(ctx));
    *text = s ? s : "";
    *length = s ? (uint32_t)n : 0;
}

static JSValue look(JSContext *ctx, JSValueConst object, const char *name) {
    JSValue value = JS_GetPropertyStr(ctx, object, name);
    if (!JS_IsException(value)) return value;
    JS_FreeValue(ctx, JS_GetException(ctx));
    return JS_UNDEFINED;
}

#define SAY(value, field) say(ctx, value, &result.field, &result.field##_length)

// Returns `error.constructor.name`, or the name of the first superclass that has one.
static JSValue class_name(JSContext *ctx, JSValueConst error) {
    JSValue class = look(ctx, error, "constructor");
    for (int depth = 0; depth < 64 && JS_IsFunction(ctx, class); depth++) {
        JSValue name = look(ctx, class, "name");
        // A rope string is never empty.
        if (JS_IsString(name) && (JS_VALUE_GET_TAG(name) != JS_TAG_STRING || JS_VALUE_GET_STRING(name)->len)) {
            JS_FreeValue(ctx, class);
            return name;
        }
        JS_FreeValue(ctx, name);
        JSValue above = JS_GetPrototype(ctx, class);
        JS_FreeValue(ctx, class);
        if (JS_IsException(above)) {
            JS_FreeValue(ctx, JS_GetException(ctx));
            return JS_UNDEFINED;
        }
        class = above;
    }
    JS_FreeValue(ctx, class);
    return JS_UNDEFINED;
}

// Compiles a regular expression for the compiler; an invalid one is copied to `text`.
static JSValue compile_literal(JSContext *ctx, JSValueConst pattern, JSValueConst flags) {
    JSValue compiled = js_compile_regexp(ctx, pattern, flags);
    if (JS_IsException(compiled)) {
        JSValue literal = JS_ConcatString3(ctx, "/", JS_DupValue(ctx, pattern), "/");
        literal = JS_ConcatString(ctx, literal, JS_DupValue(ctx, flags));
        if (JS_IsString(literal)) SAY(literal, text);
        JS_FreeValue(ctx, literal);
    }
    return compiled;
}

// Returns true if the constructor of `HookStopException` created the object. Runs no script code.
static bool stops(JSContext *ctx, JSValueConst thrown) {
    JSValue answer = JS_Call(ctx, is_stop, JS_UNDEFINED, 1, &thrown);
    bool stop = JS_VALUE_GET_TAG(answer) == JS_TAG_BOOL && JS_VALUE_GET_BOOL(answer);
    if (JS_IsException(answer)) JS_FreeValue(ctx, JS_GetException(ctx));
    JS_FreeValue(ctx, answer);
    return stop;
}

// Returns an own property of an exception without running script code.
static JSValue part(JSContext *ctx, JSValueConst error, const char *name) {
    JSPropertyDescriptor found;
    JSAtom atom = JS_NewAtom(ctx, name);
    int is_there = JS_GetOwnProperty(ctx, &found, error, atom);
    JS_FreeAtom(ctx, atom);
    if (is_there < 0) JS_FreeValue(ctx, JS_GetException(ctx));
    if (is_there <= 0) return JS_UNDEFINED;
    JS_FreeValue(ctx, found.getter);
    JS_FreeValue(ctx, found.setter);
    return found.value;
}

// Returns `thrown` if it is a stop, or the stop among exceptions that the language combined:
// rejections of `Promise.any`, or an exception followed by another in a disposal.
static JSValue stop_in(JSContext *ctx, JSValueConst thrown, int depth) {
    if (stops(ctx, thrown)) return JS_DupValue(ctx, thrown);
    if (!JS_IsError(thrown) || depth == 8) return JS_UNDEFINED;
    JSValue stop = JS_UNDEFINED;
    const char *parts[] = {"error", "suppressed"};
    for (int i = 0; i < 2 && JS_IsUndefined(stop); i++) {
        JSValue other = part(ctx, thrown, parts[i]);
        stop = stop_in(ctx, other, depth + 1);
        JS_FreeValue(ctx, other);
    }
    JSValue others = part(ctx, thrown, "errors");
    JSValue *each;
    uint32_t count;
    if (JS_IsObject(others) && js_get_fast_array(ctx, others, &each, &count)) {
        for (uint32_t i = 0; i < count && JS_IsUndefined(stop); i++) stop = stop_in(ctx, each[i], depth + 1);
    }
    JS_FreeValue(ctx, others);
    return stop;
}

static enum status tell(JSContext *ctx, JSValueConst thrown) {
    bool stop = stops(ctx, thrown);
    if (JS_IsObject(thrown)) {
        JSValue class = class_name(ctx, thrown);
        if (!JS_IsUndefined(class)) SAY(class, class);
        JS_FreeValue(ctx, class);
        JSValue stack = look(ctx, thrown, "stack");
        if (JS_IsString(stack)) SAY(stack, stack);
        JS_FreeValue(ctx, stack);
        JSValue message = look(ctx, thrown, "message");
        if (JS_IsString(message)) SAY(message, message);
        else if (!stop && !JS_IsError(thrown)) SAY(thrown, message);
        JS_FreeValue(ctx, message);
    } else {
        SAY(thrown, message);
    }
    return stop ? STOP : THROWN;
}

static enum status tell_exception(JSContext *ctx) {
    JSValue thrown = JS_GetException(ctx);
    enum status status = tell(ctx, thrown);
    JS_FreeValue(ctx, thrown);
    return status;
}

// Writes a line to the console: strings verbatim, errors and objects as readable text.
static JSValue console(JSContext *ctx, JSValueConst this, int count, JSValueConst *values, int level) {
    (void)this;
    DynBuf line;
    js_dbuf_init(ctx, &line);
    for (int i = 0; i < count; i++) {
        JSValue shown = JS_UNDEFINED;
        if (i) dbuf_putc(&line, ' ');
        if (JS_IsObject(values[i]) && !JS_IsFunction(ctx, values[i]) && !JS_IsError(values[i]))
            shown = JS_JSONStringify(ctx, values[i], JS_UNDEFINED, JS_UNDEFINED);
        else if (JS_IsSymbol(values[i]))
            shown = js_symbol_toString(ctx, values[i], 0, NULL);
        // Console functions never throw.
        if (JS_IsException(shown)) {
            JSValue why = JS_GetException(ctx);
            JSValue message = JS_IsError(why) ? look(ctx, why, "message") : JS_UNDEFINED;
            shown = JS_ConcatString3(ctx, "[no JSON: ", JS_IsString(message) ? message : JS_NewString(ctx, "something was thrown"), "]");
            JS_FreeValue(ctx, why);
        }
        size_t n;
        const char *s = JS_ToCStringLen(ctx, &n, JS_IsString(shown) ? shown : values[i]);
        if (s) dbuf_put(&line, (const uint8_t *)s, n);
        else JS_FreeValue(ctx, JS_GetException(ctx));
        JS_FreeCString(ctx, s);
        JS_FreeValue(ctx, shown);
    }
    host_console(level, (const char *)line.buf, line.size);
    dbuf_free(&line);
    return JS_UNDEFINED;
}

// `context.http.post(url, body)`: passes a request to the host, which may send it after the run.
// A body that is not a string is sent as JSON.
static JSValue post(JSContext *ctx, JSValueConst this, int count, JSValueConst *values) {
    (void)this, (void)count;
    if (!JS_IsString(values[0])) return JS_ThrowTypeError(ctx, "the URL is no text");
    JSValue body = JS_IsString(values[1]) ? JS_DupValue(ctx, values[1])
                                          : JS_JSONStringify(ctx, values[1], JS_UNDEFINED, JS_UNDEFINED);
    if (JS_IsException(body)) return body;
    if (!JS_IsString(body)) {
        JS_FreeValue(ctx, body);
        return JS_ThrowTypeError(ctx, "the body is neither a text nor data");
    }
    size_t url_length, body_length;
    const char *url = JS_ToCStringLen(ctx, &url_length, values[0]);
    const char *text = url ? JS_ToCStringLen(ctx, &body_length, body) : NULL;
    JS_FreeValue(ctx, body);
    enum posted posted = text ? host_post(url, url_length, text, body_length) : REFUSED;
    if (text) JS_FreeCString(ctx, text);
    if (url) JS_FreeCString(ctx, url);
    if (!text) return JS_EXCEPTION;
    if (posted == FULL) return JS_ThrowRangeError(ctx, "the outbox is full");
    if (posted != POSTED) return JS_ThrowTypeError(ctx, "the request is refused");
    return JS_UNDEFINED;
}

// Added only for a run with permission: in all other runs it is unreachable.
static bool add_http(JSContext *ctx, JSValueConst given) {
    JSValue http = JS_NewObject(ctx);
    if (JS_IsException(http)) return false;
    int flags = JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE | JS_PROP_THROW;
    if (JS_DefinePropertyValueStr(ctx, http, "post", JS_NewCFunction(ctx, post, "post", 2), flags) < 0) {
        JS_FreeValue(ctx, http);
        return false;
    }
    return JS_DefinePropertyValueStr(ctx, given, "http", http, flags) >= 0;
}

static void begin(double now_ms, uint64_t seed, int jobs) {
    now_us = (int64_t)now_ms * 1000;
    // With the state zero, the generator returns only zeros.
    context->random_state = seed ? seed : 0x9e3779b97f4a7c15;
    memset(&result, 0, sizeof result);
    result.class = result.message = result.stack = result.text = "";
    refused_import = JS_UNDEFINED;
    jobs_left = jobs;
    JS_UpdateStackTop(runtime);
}

// Runs one job. Returns false if there is none, or the limit is reached.
static bool job(bool *allowed) {
    if (!JS_IsJobPending(runtime)) return false;
    if (!jobs_left) return *allowed = false;
    jobs_left--;
    JSContext *ctx;
    if (JS_ExecutePendingJob(runtime, &ctx) < 0) {
        // A job without a promise, such as one of `queueMicrotask`: create a rejected one without a handler.
        JSValue thrown = JS_GetException(ctx);
        JSValueConst reason = thrown;
        JS_FreeValue(ctx, js_promise_resolve(ctx, ctx->promise_ctor, 1, &reason, true));
        JS_FreeValue(ctx, thrown);
    }
    return true;
}

// Returns the result of awaiting `value`; an exception if it throws or never settles. For a
// promise of a subclass, calls the `then` of the subclass.
static JSValue settle(JSContext *ctx, JSValue value, enum status *status) {
    bool allowed = true;
    if (!JS_IsObject(value)) return value;
    if (!JS_IsPromise(value)) {
        JSValue then = JS_GetPropertyStr(ctx, value, "then");
        if (JS_IsException(then)) {
            JS_FreeValue(ctx, value);
            return then;
        }
        bool thenable = JS_IsFunction(ctx, then);
        JS_FreeValue(ctx, then);
        if (!thenable) return value;
    }
    JSValueConst argument = value;
    JSValue promise = js_promise_resolve(ctx, ctx->promise_ctor, 1, &argument, 0);
    JS_FreeValue(ctx, value);
    if (JS_IsException(promise)) return promise;
    value = promise;
    while (JS_PromiseState(ctx, value) == JS_PROMISE_PENDING && job(&allowed)) {}
    JSPromiseStateEnum state = JS_PromiseState(ctx, value);
    JSValue outcome;
    if (state == JS_PROMISE_PENDING) {
        *status = allowed ? UNSETTLED : JOBS;
        outcome = JS_EXCEPTION;
    } else {
        outcome = JS_PromiseResult(ctx, value);
        if (state == JS_PROMISE_REJECTED) {
            ((JSPromiseData *)JS_GetOpaque(value, JS_CLASS_PROMISE))->is_handled = true;
            outcome = JS_Throw(ctx, outcome);
        }
    }
    JS_FreeValue(ctx, value);
    return outcome;
}

// Runs the remaining jobs and returns the final status of a call: a stop, if the call threw one or
// a promise without a handler was rejected with one; otherwise `status`, with its exception `thrown`;
// otherwise the first of the rejections without a handler.
static enum status conclude(JSContext *ctx, enum status status, JSValueConst thrown) {
    bool allowed = true;
    while (job(&allowed)) {}
    sift_rejections(ctx);
    JSValue stop = stop_in(ctx, thrown, 0);
    for (size_t i = 0; i < rejected_count && JS_IsUndefined(stop); i++) {
        JSValue reason = JS_PromiseResult(ctx, rejected[i]);
        stop = stop_in(ctx, reason, 0);
        JS_FreeValue(ctx, reason);
    }
    if (!JS_IsUndefined(stop)) {
        status = tell(ctx, stop);
        JS_FreeValue(ctx, stop);
        return status;
    }
    if (status == THROWN) return tell(ctx, thrown);
    if (status == UNSETTLED || status == JOBS) return status;
    if (!allowed) return JOBS;
    if (rejected_count) {
        JSValue reason = JS_PromiseResult(ctx, rejected[0]);
        status = tell(ctx, reason);
        JS_FreeValue(ctx, reason);
        return status;
    }
    if (status == NO_DATA && !result.text_length) tell(ctx, thrown);
    return status;
}

// Returns the peak heap in bytes since the call began, and bit 32 if an allocation was refused.
// Can also be called after a trap.
EXPORT(heap) uint64_t hook_heap(void) { return (uint64_t)heap_refused() << 32 | heap_peak(); }

EXPORT(result) void *hook_result(void) { return &result; }

// Allocates memory for a text of the host: an address, or 0 if the heap is full. The host adds a zero.
EXPORT(room) void *hook_room(size_t length) { return malloc(length + 1); }

// The allocator enforces the heap limit, because it reports refusals; the engine's own limit would
// only throw. The host's memory limit backs it up.
EXPORT(limits) void hook_limits(size_t heap, size_t stack) {
    heap_limit(heap);
    if (!runtime) return;
    JS_UpdateStackTop(runtime);
    JS_SetMaxStackSize(runtime, stack);
}

EXPORT(boot) enum status hook_boot(char *prelude, size_t length) {
    static const JSMallocFunctions heap = {
        engine_calloc, engine_malloc, engine_free, engine_realloc, malloc_usable_size,
    };
    static const char *const levels[] = {"log", "info", "warn", "error", "debug"};

    runtime = JS_NewRuntime2(&heap, NULL);
    if (!runtime) return BROKEN;
    make_powers();
    // The default is larger than the stack; the host sets another limit afterwards.
    JS_SetMaxStackSize(runtime, 128 << 10);
    JS_SetModuleLoaderFunc(runtime, no_module, NULL, NULL);
    JS_SetHostPromiseRejectionTracker(runtime, note_rejection, NULL);
    JSContext *ctx = context = JS_NewContextRaw(runtime);
    // Excluded: `eval` and similar functions, weak references, `performance`, `atob`.
    if (!ctx || JS_AddIntrinsicBaseObjects(ctx) || JS_AddIntrinsicDate(ctx) ||
        JS_AddIntrinsicRegExp(ctx) || JS_AddIntrinsicJSON(ctx) || JS_AddIntrinsicProxy(ctx) ||
        JS_AddIntrinsicMapSet(ctx) || JS_AddIntrinsicTypedArrays(ctx) || JS_AddIntrinsicPromise(ctx))
        return BROKEN;

    ctx->compile_regexp = compile_literal;
    JSValue object = JS_NewObject(ctx);
    for (int i = 0; i < (int)countof(levels); i++)
        JS_SetPropertyStr(ctx, object, levels[i],
                          JS_NewCFunctionMagic(ctx, (JSCFunctionMagic *)console, levels[i], 0, JS_CFUNC_generic_magic, i));
    JS_DefinePropertyValueStr(ctx, ctx->global_obj, "console", object, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);

    begin(0, 1, 0);
    is_stop = __JS_EvalInternal(ctx, ctx->global_obj, prelude, length, "prelude.js", 1,
                                JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT, -1);
    if (JS_IsException(is_stop)) return tell_exception(ctx);
    free(prelude);
    JS_RunGC(runtime);
    heap_settle();
    return JS_IsFunction(ctx, is_stop) ? DONE : BROKEN;
}

// Returns true for a function that can be called without `new` and is not a generator.
static bool callable(JSContext *ctx, JSValueConst value) {
    if (!JS_IsFunction(ctx, value)) return false;
    JSObject *function = JS_VALUE_GET_OBJ(value);
    switch (function->class_id) {
    case JS_CLASS_GENERATOR_FUNCTION:
    case JS_CLASS_ASYNC_GENERATOR_FUNCTION:
        return false;
    case JS_CLASS_BOUND_FUNCTION:
        return callable(ctx, function->u.bound_function->func_obj);
    case JS_CLASS_PROXY: {
        JSProxyData *proxy = JS_GetOpaque(value, JS_CLASS_PROXY);
        return !proxy->is_revoked && callable(ctx, proxy->target);
    }
    case JS_CLASS_C_FUNCTION:
        return function->u.cfunc.cproto != JS_CFUNC_constructor && function->u.cfunc.cproto != JS_CFUNC_constructor_magic;
    case JS_CLASS_BYTECODE_FUNCTION:
        // A constructor without a prototype by the compiler is a class, which defines its own.
        return !function->is_constructor || function->u.func.function_bytecode->has_prototype;
    default:
        return true;
    }
}

EXPORT(load) enum status hook_load(char *source, size_t length, double now_ms, uint64_t seed, int jobs) {
    JSContext *ctx = context;
    heap_mark();
    begin(now_ms, seed, jobs);
    JSValue module = __JS_EvalInternal(ctx, JS_UNDEFINED, source, length, FILE_NAME, 1,
                                       JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY, -1);
    free(source);
    if (JS_IsException(module)) {
        tell_exception(ctx);
        return JS_IsUndefined(refused_import) ? SYNTAX : IMPORTED;
    }
    JSModuleDef *m = JS_VALUE_GET_PTR(module);
    if (m->export_entries_count != 1 || m->export_entries[0].export_name != JS_ATOM_default) {
        for (int i = 0; i < m->export_entries_count; i++) {
            if (m->export_entries[i].export_name == JS_ATOM_default) continue;
            JSValue name = JS_AtomToString(ctx, m->export_entries[i].export_name);
            SAY(name, text);
            JS_FreeValue(ctx, name);
            break;
        }
        return EXPORTS;
    }
    enum status status = THROWN;
    JSValue thrown = JS_UNDEFINED;
    JSValue done = settle(ctx, JS_EvalFunction(ctx, module), &status);
    if (!JS_IsException(done)) status = DONE;
    else if (status == THROWN) thrown = JS_GetException(ctx);
    JS_FreeValue(ctx, done);
    status = conclude(ctx, status, thrown);
    bool imported = JS_IsObject(thrown) && JS_IsObject(refused_import) &&
                    JS_VALUE_GET_PTR(thrown) == JS_VALUE_GET_PTR(refused_import);
    JS_FreeValue(ctx, thrown);
    JS_FreeValue(ctx, refused_import);
    if (status == THROWN && imported) return IMPORTED;
    // There is no action yet that a stop could reject.
    if (status != DONE) return status == STOP ? THROWN : status;

    JSValue space = JS_GetModuleNamespace(ctx, m);
    hook = JS_IsException(space) ? space : JS_GetProperty(ctx, space, JS_ATOM_default);
    if (JS_IsException(hook)) {
        tell_exception(ctx);
        return THROWN;
    }
    JS_FreeValue(ctx, space);
    if (!callable(ctx, hook)) {
        result.text = "default";
        result.text_length = 7;
        return EXPORTS;
    }
    // Fail now if no run could set the global.
    JSAtom name = JS_NewAtom(ctx, "context");
    if (JS_DefinePropertyValue(ctx, ctx->global_obj, name, JS_UNDEFINED, JS_PROP_C_W_E | JS_PROP_THROW) < 0) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        JS_ThrowTypeError(ctx, "`context` cannot be set, because the top level has frozen the global object or the name");
        return tell_exception(ctx);
    }
    JS_DeleteProperty(ctx, ctx->global_obj, name, 0);
    JS_FreeAtom(ctx, name);
    JS_RunGC(runtime);
    heap_settle();
    return DONE;
}

// Parses the context of the next run. It is a separate call with separate fuel, because the hook
// is not responsible for the size of its input.
EXPORT(read) enum status hook_read(char *input, size_t length) {
    JSContext *ctx = context;
    heap_mark();
    begin(0, 1, 0);
    given = JS_ParseJSON(ctx, input, length, "context");
    free(input);
    if (!JS_IsException(given)) return DONE;
    tell_exception(ctx);
    return BROKEN;
}

// Copies the returned value as JSON to `text`. Returns false with the exception in `thrown` if it is not JSON.
static bool say_data(JSContext *ctx, JSValueConst returned, JSValue *thrown) {
    JSValue text = JS_JSONStringify(ctx, returned, JS_UNDEFINED, JS_UNDEFINED);
    if (JS_IsException(text)) {
        *thrown = JS_GetException(ctx);
        return false;
    }
    bool data = !JS_IsUndefined(text);
    if (data) {
        SAY(text, text);
    } else {
        result.text = JS_IsUndefined(returned) ? "undefined" : JS_IsFunction(ctx, returned) ? "a function" : "a symbol";
        result.text_length = (uint32_t)strlen(result.text);
    }
    JS_FreeValue(ctx, text);
    return data;
}

EXPORT(run) enum status hook_run(double now_ms, uint64_t seed, int jobs, int mode) {
    JSContext *ctx = context;
    begin(now_ms, seed, jobs);
    if (mode & HTTP && !add_http(ctx, given)) return tell_exception(ctx);
    if (JS_DefinePropertyValueStr(ctx, ctx->global_obj, "context", JS_DupValue(ctx, given),
                                  JS_PROP_C_W_E | JS_PROP_THROW) < 0)
        return tell_exception(ctx);

    enum status status = THROWN;
    JSValue thrown = JS_UNDEFINED;
    JSValueConst argument = given;
    JSValue returned = settle(ctx, JS_Call(ctx, hook, JS_UNDEFINED, 1, &argument), &status);
    JS_FreeValue(ctx, given);
    if (JS_IsException(returned)) {
        if (status == THROWN) thrown = JS_GetException(ctx);
    } else {
        // Serialize the value now, before remaining jobs can change it.
        status = !(mode & PRE) || say_data(ctx, returned, &thrown) ? DONE : NO_DATA;
    }
    JS_FreeValue(ctx, returned);
    status = conclude(ctx, status, thrown);
    JS_FreeValue(ctx, thrown);
    return status;
}
