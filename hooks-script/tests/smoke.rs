//! x
use futures_executor::block_on;
use hooks_script::*;
use serde_json::json;
#[test]
fn smoke() {
    let engine = ScriptEngine::builder().hash_memory(true).build().unwrap();
    for source in [
        "export default ({in: m}) => ({out: {...m, n: 1}})",
        "export default async (c) => { await null; console.log('hi', {a:1}, new Error('x')); return {out: {g: context === c, t: Date.now(), r: Math.random()}} }",
        "class Spam extends HookStopException {}; export default () => { throw new Spam('no'); }",
        "export default () => { throw new TypeError('no'); }",
        "export default () => { for(;;); }",
        "export default () => { const a=[]; for(;;) a.push(new Array(1000).fill(1)); }",
        "export default () => { const f = () => f() + 1; f(); }",
        "export default () => { let d=0; const f = () => { d++; f(); }; try { f() } catch (e) { return {out:{d, e: String(e)}} } }",
        "export default () => { const f = () => Promise.resolve().then(f); return f(); }",
        "export default () => new Promise(() => {})",
        "export default () => ({out: {s: '\\ud800', k: [typeof eval, typeof SharedArrayBuffer, typeof WeakRef]}})",
        "export default () => ({out: {e: (()=>{try { return Function('return 1')() } catch (e) { return String(e) }})()}})",
        "import 'x'; export default 1", "export default 1", "export default class {}", "export const a = 1; export default () => 1",
        "export default () => {", "throw 1; export default () => {}", "let x = 1",
        "export default async () => ({out: await import('hook.js')})",
    ] {
        println!("--- {source}");
        match engine.register(Manifest::new("s", "n", []).unwrap(), source) {
            Err(e) => println!("{e:?} {:?}", e.position()),
            Ok(hook) => {
                for _ in 0..2 {
                let run = block_on(hook.run_pre(json!({"text": "x"}).as_object().unwrap(), &ContextData::new()));
                println!("{:?}\n   fuel {} peak {} snap {} {:?} {:?} {:?}", run.verdict, run.fuel, run.memory_bytes, hook.snapshot_bytes(), run.console, run.duration, run.memory_hash.unwrap()[..8].to_string());
                }
            }
        }
    }
}
