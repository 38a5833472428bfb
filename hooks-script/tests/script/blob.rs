//! Checks on the compiled engine that resets and fuel rely on.

use std::collections::BTreeMap;

use wasmparser::{Operator, Parser, Payload, TypeRef};

static BLOB: &[u8] = include_bytes!("../../engine/quickjs.wasm");

fn payloads() -> impl Iterator<Item = Payload<'static>> {
    Parser::new(0).parse_all(BLOB).map(Result::unwrap)
}

#[test]
fn s_01_the_engine_imports_only_the_console_and_the_outbox() {
    let mut imports = Vec::new();
    for payload in payloads() {
        if let Payload::ImportSection(section) = payload {
            for import in section.into_imports() {
                let import = import.unwrap();
                assert!(matches!(import.ty, TypeRef::Func(_)));
                imports.push((import.module, import.name));
            }
        }
    }
    imports.sort_unstable();
    assert_eq!(imports, [("host", "console"), ("host", "post")]);
}

#[test]
fn s_24_only_memory_and_the_stack_pointer_are_mutable() {
    let (mut mutable, mut memories, mut exported) = (0, 0, false);
    for payload in payloads() {
        match payload {
            Payload::GlobalSection(section) => {
                mutable += section
                    .into_iter()
                    .filter(|global| global.as_ref().unwrap().ty.mutable)
                    .count();
            }
            Payload::MemorySection(section) => memories += section.count(),
            Payload::ExportSection(section) => {
                exported |= section
                    .into_iter()
                    .any(|export| export.unwrap().name == "__stack_pointer");
            }
            Payload::StartSection { .. } => {
                panic!("a start function runs before the host is ready")
            }
            _ => {}
        }
    }
    assert_eq!((mutable, memories, exported), (1, 1, true));
}

/// Fuel counts instructions, so no instruction may do more work for longer operands. No instruction
/// changes a table or drops a segment.
#[test]
fn pitfall_01_every_instruction_does_a_bounded_amount_of_work() {
    let mut found = BTreeMap::<String, usize>::new();
    for payload in payloads() {
        let Payload::CodeSectionEntry(body) = payload else {
            continue;
        };
        for operator in body.get_operators_reader().unwrap() {
            let operator = operator.unwrap();
            if matches!(
                operator,
                Operator::MemoryCopy { .. }
                    | Operator::MemoryFill { .. }
                    | Operator::MemoryInit { .. }
                    | Operator::DataDrop { .. }
                    | Operator::ElemDrop { .. }
                    | Operator::TableCopy { .. }
                    | Operator::TableFill { .. }
                    | Operator::TableInit { .. }
                    | Operator::TableGrow { .. }
                    | Operator::TableSet { .. }
            ) {
                *found.entry(format!("{operator:?}")).or_default() += 1;
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}
