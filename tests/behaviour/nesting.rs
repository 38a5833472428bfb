//! `#[nested_hooks(field = path::OtherHooksSet)]`: a set inside a set (T-41).

use futures::executor::block_on;
use hooks_core::{hooks, impl_hooks};

use crate::kit::{Log, in_every_form};

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            pub(crate) mod inner {
                use super::*;

                #[hooks]
                pub(crate) trait ToolHooks {
                    #[hook(always)]
                    async fn before(log: &Log) {
                        $($pause)*
                        log.add("default before");
                    }

                    #[hook(singleton)]
                    async fn owner() -> &'static str {
                        $($pause)*
                        "default owner"
                    }
                }

                #[hooks]
                #[nested_hooks(tools = ToolHooksSet)]
                pub(crate) trait AgentHooks {
                    #[hook(always)]
                    async fn think(log: &Log) {
                        $($pause)*
                        log.add("default think");
                    }
                }
            }

            use inner::{AgentHooksSet, ToolHooks, ToolHooksSet};

            #[hooks]
            #[nested_hooks(agent = inner::AgentHooksSet)]
            trait AppHooks {
                #[hook(always)]
                async fn before(log: &Log) {
                    $($pause)*
                    log.add("default app");
                }
            }

            struct Named<'a>(&'a str);

            #[impl_hooks(ToolHooksSet)]
            impl<'a> ToolHooks for Named<'a> {
                async fn before(&self, log: &Log) {
                    $($pause)*
                    log.add(self.0);
                }
            }

            struct Owner(&'static str);

            impl inner::Owner for Owner {
                async fn call(&self) -> &'static str {
                    $($pause)*
                    self.0
                }
            }

            struct App(&'static str);

            #[impl_hooks(AppHooksSet)]
            impl AppHooks for App {
                async fn before(&self, log: &Log) {
                    $($pause)*
                    log.add(self.0);
                }
            }

            fn before_tools(set: &AppHooksSet<'_>) -> Vec<String> {
                let log = Log::new();
                block_on(set.agent.tools.before(&log));
                log.lines()
            }

            /// T-41: `new()` takes no argument; the nested sets are new too
            #[test]
            fn a_new_set_contains_new_nested_sets() {
                let set = AppHooksSet::new();
                assert_eq!(before_tools(&set), ["default before"]);
                assert_eq!(block_on(set.agent.tools.owner()), "default owner");
                let log = Log::new();
                block_on(set.agent.think(&log));
                assert_eq!(log.lines(), ["default think"]);
                assert_eq!(before_tools(&AppHooksSet::default()), ["default before"]);
            }

            /// T-41: the field is public
            #[test]
            fn hooks_can_be_registered_in_a_nested_set_through_its_field() {
                let mut set = AppHooksSet::new();
                set.agent.tools.register_hooks(Named("a")).register_hooks(Named("b"));
                assert_eq!(before_tools(&set), ["default before", "a", "b"]);
            }

            /// T-41: `with_field(set)` replaces the nested set
            #[test]
            fn with_field_replaces_the_nested_set() {
                let tools = ToolHooksSet::new().with_hooks(Named("a"));
                let set = AppHooksSet::new().with_agent(AgentHooksSet::new().with_tools(tools));
                assert_eq!(before_tools(&set), ["default before", "a"]);
            }

            /// T-41: slots of outer and inner sets are separate, even with one name
            #[test]
            fn outer_and_nested_slots_with_one_name_are_separate() {
                let mut set = AppHooksSet::new().with_hooks(App("app"));
                set.agent.tools.register_hooks(Named("tool"));
                let log = Log::new();
                block_on(set.before(&log));
                assert_eq!(log.lines(), ["default app", "app"]);
                assert_eq!(before_tools(&set), ["default before", "tool"]);
            }

            /// T-40: nested sets are extended recursively
            #[test]
            fn extend_extends_nested_sets_recursively() {
                let make = |name: &'static str| {
                    let tools = ToolHooksSet::new().with_hooks(Named(name)).with_owner(Owner(name));
                    AppHooksSet::new()
                        .with_hooks(App(name))
                        .with_agent(AgentHooksSet::new().with_tools(tools))
                };
                let mut set = make("a");
                set.extend(make("b"));
                let set = set.with_extended(make("c"));
                assert_eq!(before_tools(&set), ["default before", "a", "b", "c"]);
                assert_eq!(block_on(set.agent.tools.owner()), "c");
                let log = Log::new();
                block_on(set.before(&log));
                assert_eq!(log.lines(), ["default app", "a", "b", "c"]);
            }

            /// T-03: a clone has its own lists at every level
            #[test]
            fn registrations_in_a_nested_set_do_not_affect_clones() {
                let mut set = AppHooksSet::new();
                set.agent.tools.register_hooks(Named("a"));
                let mut clone = set.clone();
                clone.agent.tools.register_hooks(Named("b"));
                assert_eq!(before_tools(&set), ["default before", "a"]);
                assert_eq!(before_tools(&clone), ["default before", "a", "b"]);
            }

            /// T-41, T-50: the nested set has the lifetime of the outer one
            #[test]
            fn nested_sets_can_borrow_like_the_outer_set() {
                let name = String::from("borrowed");
                let tool = Named(&name);
                let mut set = AppHooksSet::new();
                set.agent.tools.register_hooks(&tool);
                assert_eq!(before_tools(&set), ["default before", "borrowed"]);
            }

            /// T-41: more than one nested set
            #[test]
            fn a_set_can_nest_several_sets_of_one_type() {
                #[hooks]
                #[nested_hooks(left = inner::ToolHooksSet)]
                #[nested_hooks(right = inner::ToolHooksSet)]
                trait Both {
                    #[hook(singleton)]
                    async fn name() -> &'static str {
                        $($pause)*
                        "both"
                    }
                }

                let make = || {
                    BothSet::new()
                        .with_left(ToolHooksSet::new().with_owner(Owner("left")))
                        .with_right(ToolHooksSet::new().with_owner(Owner("right")))
                };
                let mut set = make();
                set.extend(make().with_left(ToolHooksSet::new().with_owner(Owner("new left"))));
                assert_eq!(block_on(set.left.owner()), "new left");
                assert_eq!(block_on(set.right.owner()), "right");
                assert_eq!(block_on(set.name()), "both");
            }
        }
    };
}

in_every_form!(rules);

mod depth {
    use std::sync::{Arc, OnceLock};
    use std::thread;

    use super::*;
    use hooks_tests::yield_once;

    #[hooks]
    trait Levels {
        #[hook(fallback)]
        async fn level(left: u32) -> u32 {
            left
        }
    }

    /// A hook that dispatches its own slot until `left` is 0. There it is pending once.
    struct Down(Arc<OnceLock<LevelsSet<'static>>>);

    impl Level for Down {
        async fn call(&self, left: u32, _: Option<u32>) -> u32 {
            if left == 0 {
                yield_once().await;
                return 0;
            }
            let set = self.0.get().expect("the set is whole before it is used");
            set.level(left - 1).await + 1
        }
    }

    #[test]
    fn t_41_a_thousand_nested_dispatches_fit_on_two_mebibytes() {
        let thread = thread::Builder::new().stack_size(2 << 20);
        let depth = thread.spawn(|| {
            let set = Arc::new(OnceLock::new());
            let whole = LevelsSet::new().with_level(Down(Arc::clone(&set)));
            set.set(whole).expect("it is set once");
            block_on(set.get().unwrap().level(1_000))
        });
        assert_eq!(depth.unwrap().join().unwrap(), 1_000);
    }
}
