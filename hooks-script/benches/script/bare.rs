//! Baseline without isolation: one WebAssembly instance that is not reset between runs. The sandbox
//! is compared with it; programs must not run hooks in this way.

use hooks_script::measure::{PRELUDE, module};
use wasmtime::{Caller, Global, Linker, Memory, Store, TypedFunc, Val};

/// Runs before the memory is restored, untimed: the engine relies on a reset to free its results.
const KEPT: u32 = 100;

pub(crate) struct Bare {
    store: Store<()>,
    memory: Memory,
    stack_pointer: Global,
    room: TypedFunc<u32, u32>,
    read: TypedFunc<(u32, u32), u32>,
    run: TypedFunc<(f64, u64, u32, u32), u32>,
    result: u32,
    loaded: (Vec<u8>, Val),
}

impl Bare {
    pub(crate) fn new(source: &str) -> wasmtime::Result<Self> {
        let (engine, module) = module()?;
        let mut store = Store::new(engine, ());
        store.set_fuel(u64::MAX / 2)?;
        store.set_epoch_deadline(u64::MAX / 2);
        let mut linker = Linker::new(engine);
        linker.func_wrap(
            "host",
            "console",
            |_: Caller<'_, ()>, _: u32, _: u32, _: u32| (),
        )?;
        linker.func_wrap(
            "host",
            "post",
            |_: Caller<'_, ()>, _: u32, _: u32, _: u32, _: u32| 2_u32,
        )?;
        let wasm = linker.instantiate(&mut store, module)?;
        let memory = wasm.get_memory(&mut store, "memory").expect("exported");
        let stack_pointer = wasm.get_global(&mut store, "__stack_pointer");
        let mut bare = Bare {
            memory,
            stack_pointer: stack_pointer.expect("exported"),
            room: wasm.get_typed_func(&mut store, "room")?,
            read: wasm.get_typed_func(&mut store, "read")?,
            run: wasm.get_typed_func(&mut store, "run")?,
            result: wasm
                .get_typed_func::<(), u32>(&mut store, "result")?
                .call(&mut store, ())?,
            loaded: (Vec::new(), Val::I32(0)),
            store,
        };
        let limits = wasm.get_typed_func::<(u32, u32), ()>(&mut bare.store, "limits")?;
        let boot = wasm.get_typed_func::<(u32, u32), u32>(&mut bare.store, "boot")?;
        let load =
            wasm.get_typed_func::<(u32, u32, f64, u64, u32), u32>(&mut bare.store, "load")?;
        limits.call(&mut bare.store, (8 << 20, 192 << 10))?;
        let place = bare.put(PRELUDE.as_bytes())?;
        assert_eq!(boot.call(&mut bare.store, place)?, 0);
        limits.call(&mut bare.store, (8 << 20, 192 << 10))?;
        let (address, length) = bare.put(source.as_bytes())?;
        let status = load.call(&mut bare.store, (address, length, 0.0, 1, 5_000))?;
        assert_eq!(status, 0);
        bare.loaded = (
            bare.memory.data(&bare.store).to_vec(),
            bare.stack_pointer.get(&mut bare.store),
        );
        Ok(bare)
    }

    /// Returns microseconds per run, without the time for restoring the memory.
    pub(crate) fn timed(&mut self, input: &[u8], repeats: u32) -> f64 {
        let (mut left, mut time) = (repeats, std::time::Duration::ZERO);
        while left > 0 {
            let runs = left.min(KEPT);
            self.put_back();
            // The first run warms the caches after the memory is restored.
            self.once(input).expect("it returns");
            let began = std::time::Instant::now();
            for _ in 0..runs {
                self.once(input).expect("it returns");
            }
            time += began.elapsed();
            left -= runs;
        }
        crate::time::micros(time) / f64::from(repeats)
    }

    fn put_back(&mut self) {
        let (state, stack_pointer) = &self.loaded;
        let memory = self.memory.data_mut(&mut self.store);
        memory[..state.len()].copy_from_slice(state);
        memory[state.len()..].fill(0);
        let set = self.stack_pointer.set(&mut self.store, *stack_pointer);
        set.expect("of its type");
    }

    /// Performs the steps of a run in the sandbox: writes the input, calls, reads the output.
    fn once(&mut self, input: &[u8]) -> wasmtime::Result<Vec<u8>> {
        self.store.set_fuel(u64::MAX / 2)?;
        let place = self.put(input)?;
        assert_eq!(self.read.call(&mut self.store, place)?, 0);
        let status = self.run.call(&mut self.store, (0.0, 1, 5_000, 1))?;
        assert_eq!(status, 0);
        let memory = self.memory.data(&self.store);
        let word = |index: usize| {
            let at = self.result as usize + 4 * index;
            u32::from_le_bytes(memory[at..at + 4].try_into().expect("four bytes")) as usize
        };
        let (text, length) = (word(3), word(7));
        Ok(memory[text..text + length].to_vec())
    }

    fn put(&mut self, text: &[u8]) -> wasmtime::Result<(u32, u32)> {
        let length = u32::try_from(text.len())?;
        let address = self.room.call(&mut self.store, length)?;
        assert_ne!(address, 0);
        self.memory.write(&mut self.store, address as usize, text)?;
        let end = address as usize + text.len();
        self.memory.write(&mut self.store, end, &[0])?;
        Ok((address, length))
    }
}
