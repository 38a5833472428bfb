//! Checks the types for authors with the TypeScript compiler: `HOOKS_TSC`, or `tsc` by default.

use std::process::Command;
use std::{env, fs};

const VALID: &str = "
import type { Manifest, PreHook } from './hook';
export const manifest: Manifest = {
  source: 'https://example.org/hook.js', name: 'Polite', context: ['user'], hash: 'sha256-0',
};
class Spam extends HookStopException {}
const hook: PreHook = async ({ in: message, stage, data }) => {
  if (data.user?.name === 'spammer') throw new Spam('no');
  console.warn(context.stage, stage);
  queueMicrotask(() => console.log('later'));
  return { out: { ...message, seen: true } };
};
export default hook;
";

/// A hook that does not return a message.
const INVALID: &str = "
import type { PreHook } from './hook';
const hook: PreHook = ({ in: message }) => ({ output: message });
export default hook;
";

#[test]
fn the_published_types_accept_valid_and_reject_invalid_hooks() {
    let folder = tempfile::tempdir().unwrap();
    let compiler = env::var_os("HOOKS_TSC").unwrap_or_else(|| "tsc".into());
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("hook.d.ts", hooks_script::HOOK_TYPES);
    // Also with the browser types, which editors load by default.
    let libraries = ["es2022", "es2022,dom"];
    let cases = libraries.map(|library| [(library, VALID, true), (library, INVALID, false)]);
    for (library, text, is_valid) in cases.into_iter().flatten() {
        put("use.ts", text);
        let output = Command::new(&compiler)
            .current_dir(folder.path())
            .args(["--strict", "--noEmit", "--target", "es2022", "--lib"])
            .args([library, "use.ts"])
            .output();
        match output {
            Ok(output) => {
                let stdout = String::from_utf8_lossy(&output.stdout);
                assert_eq!(output.status.success(), is_valid, "{stdout}");
            }
            Err(error) => {
                println!(
                    "LEFT OUT: {} cannot be started: {error}",
                    compiler.display()
                );
                return;
            }
        }
    }
}
