//! How do hooks run in a WebAssembly module, without an executor?
//!
//! Synchronous slots return their result, and `run_now` dispatches an async slot whose hooks do not
//! wait.
//!
//! `cargo build -p hooks-example-on-wasm --target wasm32-unknown-unknown` builds the module. It has no
//! imports; its export `main` runs the program, and traps if an assertion fails.

use hooks_core::{Entry, ShortCircuit, hooks, impl_hooks, run_now};

#[hooks]
trait GameHooks {
    /// Checks a move of the player; the first error refuses it.
    #[hook(always, sync, chain = ShortCircuit<(), String>)]
    fn check(from: &(u8, u8), to: &(u8, u8)) -> Result<(), String> {
        if from == to {
            Err("a move needs a destination".to_owned())
        } else {
            Ok(())
        }
    }

    /// Runs after a hit.
    #[hook(always, sync)]
    fn on_hit(points: u32, score: &mut u32) {
        *score += points;
    }

    /// Saves the score. The host may await a server here.
    #[hook(fallback)]
    async fn save(score: u32) -> String {
        format!("{score} points, not saved")
    }
}

/// Doubles the points of a streak.
struct Streak;

#[impl_hooks(GameHooksSet)]
impl GameHooks for Streak {
    fn on_hit(&self, points: u32, score: &mut u32) {
        if *score > 10 {
            *score += points;
        }
    }
}

fn main() {
    let mut game = GameHooksSet::new()
        .with_hooks(Entry::new(Streak).key("streak"))
        .with_check(|_: &(u8, u8), to: &(u8, u8)| {
            if to.0 < 8 && to.1 < 8 {
                Ok(())
            } else {
                Err("outside of the board".to_owned())
            }
        });

    assert_eq!(game.check(&(0, 0), &(1, 1)), Ok(()));
    assert_eq!(
        game.check(&(0, 0), &(8, 1)),
        Err("outside of the board".to_owned())
    );

    let mut score = 0;
    game.on_hit(10, &mut score);
    game.on_hit(10, &mut score);
    assert_eq!(score, 30);
    assert!(game.set_enabled("streak", false));
    game.on_hit(10, &mut score);
    assert_eq!(score, 40);

    let saved = run_now(game.save(score)).expect("no hook waits");
    assert_eq!(saved, "40 points, not saved");
    game.register_save(
        Entry::new(async |_: u32, _: Option<String>| std::future::pending().await).key("server"),
    );
    let waits = run_now(game.save(score)).expect_err("the server has not replied");
    assert_eq!(waits.hook(), Some("server"));
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_program_runs_natively() {
        super::main();
    }
}
