//! QuickJS compiled for this machine: no sandbox, and no enforced limits.

use rquickjs::{CatchResultExt, Context, Ctx, Function, Module, Persistent, Runtime, Value};

pub(crate) struct Native {
    source: &'static str,
    // Fields are dropped in this order.
    kept: Persistent<Function<'static>>,
    context: Context,
    runtime: Runtime,
}

impl Native {
    pub(crate) fn new(source: &'static str) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let context = Context::full(&runtime).expect("a context");
        let kept = context.with(|ctx| Persistent::save(&ctx, load(&ctx, source)));
        Native {
            source,
            kept,
            context,
            runtime,
        }
    }

    /// Runs the hook that was loaded once; its state persists.
    pub(crate) fn warm(&self, input: &[u8]) {
        self.context.with(|ctx| {
            let hook = self.kept.clone().restore(&ctx).expect("of this runtime");
            call(&ctx, &hook, input);
        });
    }

    /// Runs the hook in a new context.
    pub(crate) fn fresh(&self, input: &[u8]) {
        let context = Context::full(&self.runtime).expect("a context");
        context.with(|ctx| {
            let hook = load(&ctx, self.source);
            call(&ctx, &hook, input);
        });
    }
}

fn load<'js>(ctx: &Ctx<'js>, source: &str) -> Function<'js> {
    let declared = Module::declare(ctx.clone(), "hook.js", source);
    let declared = declared.catch(ctx).expect("it compiles");
    let (module, done) = declared.eval().catch(ctx).expect("it loads");
    done.finish::<()>().catch(ctx).expect("it loads");
    module.get("default").catch(ctx).expect("it exports one")
}

fn call<'js>(ctx: &Ctx<'js>, hook: &Function<'js>, input: &[u8]) {
    let given: Value<'js> = ctx.json_parse(input).catch(ctx).expect("it is JSON");
    let returned: Value<'js> = hook.call((given,)).catch(ctx).expect("it returns");
    let text = ctx.json_stringify(returned).catch(ctx).expect("it is data");
    let text = text.expect("it is data").to_string().expect("UTF-8");
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert!(value["out"]["text"].is_string());
}
