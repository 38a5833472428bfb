//! Measures the targets of the framework and writes `docs/performance.md`.
//!
//! | Command | Does |
//! |---|---|
//! | `cargo bench -p hooks-tests --bench performance` | prints the tables |
//! | `… -- write` | writes them into `docs/performance.md` |
//! | `… -- counts` | fails if a count of instructions or allocations exceeds its bound |

mod allocations;
mod cases;
mod contenders;
mod time;
mod workload;

fn main() {
    if std::env::args().any(|a| a == "probe") {
        probe();
        let mut c = cases::all();
        let a: Vec<String> = std::env::args().collect();
        let c = c
            .iter_mut()
            .find(|c| c.slot == a[2] && c.hooks.to_string() == a[3])
            .unwrap();
        let r = if a[4] == "l" {
            &mut c.baseline
        } else {
            &mut c.ours
        };
        for _ in 0..a[5].parse().unwrap() {
            r();
        }
        return;
    }
    for case in &mut cases::all() {
        let allocations = allocations::count(&mut case.ours);
        let [ours, baseline] = time::interleaved([&mut case.ours, &mut case.baseline]);
        println!(
            "{:16} {:3}  {:7.1} ns  {:7.1} ns  {:5.2} {:?}  {} allocations (at most {}) against {}",
            case.slot,
            case.hooks,
            ours,
            baseline,
            ours / baseline,
            case.target,
            allocations,
            case.allocations,
            case.against
        );
    }
    let mut direct = cases::direct();
    let [ns] = time::interleaved([&mut direct]);
    println!("direct {ns:.1}");
}
#[allow(dead_code)]
fn probe() {
    let set = contenders::BenchSet::new();
    eprintln!("fold {}", std::mem::size_of_val(&set.fold("x")));
    eprintln!("chain {}", std::mem::size_of_val(&set.chain("x")));
}
