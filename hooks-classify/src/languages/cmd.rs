//! Command shell of Windows: a text in, the effects of its commands out.

use crate::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;

/// Returns the effects of a text.
pub(super) fn read(arg: &Arg) -> Analysis {
    let mut analysis = Analysis::new();
    // A caret escapes the next character.
    let text = arg
        .text
        .replace('^', "")
        .replace("2>nul", "")
        .replace(">nul", "")
        .replace("2>&1", "");
    if text.contains('>') {
        analysis.find(Effect::Create, arg.span, "writes a file");
    }
    if !arg.known() || text.contains('%') {
        analysis.find(Effect::Code, arg.span, "a part is only known when it runs");
    }
    for part in text.split(['&', '|', '\n', '(', ')']) {
        let part = part.trim().trim_start_matches(['"', '@']).trim();
        let first = part
            .split(|c: char| c.is_whitespace() || c == '/' || c == '.')
            .next()
            .unwrap_or("")
            .to_ascii_lowercase();
        let effect = match first.as_str() {
            "" => continue,
            "del" | "erase" | "rd" | "rmdir" | "format" | "diskpart" => Effect::Delete,
            "dir" | "type" | "ver" | "echo" | "where" | "findstr" | "tree" | "vol" | "path"
            | "find" | "more" | "sort" | "fc" | "comp" | "assoc" | "ftype" | "help" | "cd"
            | "chdir" | "cls" | "exit" | "rem" | "pushd" | "popd" | "title" | "whoami"
            | "hostname" | "ipconfig" | "tasklist" | "systeminfo" | "if" | "set" => Effect::Read,
            "copy" | "xcopy" | "robocopy" | "md" | "mkdir" | "mklink" => Effect::Create,
            "move" | "ren" | "rename" | "attrib" | "icacls" | "taskkill" | "reg" | "setx" => {
                Effect::Update
            }
            "start" | "call" | "for" => Effect::Code,
            _ => {
                analysis.shell_text(&arg.with(part), &Input::Unknown);
                continue;
            }
        };
        analysis.find(
            effect,
            arg.span,
            format!("the command shell runs `{first}`"),
        );
    }
    analysis
}
