//! Inner attributes, and lints that are allowed for a whole trait.

#![deny(warnings)]

use hooks_core::{hooks, impl_hook, impl_hooks};

#[hooks]
pub trait AppHooks {
    #![allow(unused_variables)]
    //! The decisions.

    #[hook(singleton)]
    async fn check(number: u8) -> u8 {
        #![allow(clippy::identity_op)]
        let unused = 1;
        number + 0
    }
}

#[derive(Clone)]
#[deprecated]
pub struct Old;

#[allow(deprecated)]
#[hooks]
pub trait OldHooks {
    #[hook(always)]
    async fn read(old: Old) -> u8 {
        let _ = old;
        1
    }
}

#[hooks]
pub trait OtherHooks {
    #[allow(deprecated)]
    #[hook(always)]
    async fn write(old: Old) -> u8 {
        let _ = old;
        1
    }
}

#[hooks]
pub trait Rendering {
    #[hook(singleton)]
    async fn renderer(name: &str) -> Box<dyn Fn(&str) -> String + Send + Sync> {
        let _ = name;
        Box::new(str::to_owned)
    }
}

#[impl_hook(Renderer)]
pub async fn plain(name: &str) -> Box<dyn Fn(&str) -> String + Send + Sync> {
    let _ = name;
    Box::new(str::to_uppercase)
}

pub struct Policy;

#[impl_hooks(AppHooksSet,)]
impl AppHooks for Policy {
    #![allow(unused_variables)]

    async fn check(&self, number: u8) -> u8 {
        let unused = 2;
        number
    }
}

pub(crate) fn main() {
    let _ = AppHooksSet::new().with_hooks(Policy);
    let _ = RenderingSet::new().with_renderer(Plain);
}
