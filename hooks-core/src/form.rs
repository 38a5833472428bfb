//! The forms in which a hook can be registered: the parameter `M` of [`IntoHook`](crate::IntoHook).
//!
//! The compiler infers the form. Generic code that registers hooks has it as a type parameter.

use std::marker::PhantomData;

/// Form of a value that is registered directly; `M` is the way of calling it.
#[derive(Debug)]
pub struct Bare<M>(PhantomData<M>);

/// The form of an [`Entry`](crate::Entry) of a hook.
#[derive(Debug)]
pub struct InEntry<M>(PhantomData<M>);

/// The form of a hook that implements the slot's trait.
#[derive(Debug)]
pub enum ByTrait {}

/// The form of a closure.
#[derive(Debug)]
pub enum ByClosure {}

/// The form of a [`Stateful`](crate::Stateful).
#[derive(Debug)]
pub enum ByState {}

/// The form of a hook behind an `Arc`.
#[derive(Debug)]
pub struct InArc<M>(PhantomData<M>);

/// The form of a hook behind a `Box`. A `Box` of a closure is a closure.
#[derive(Debug)]
pub enum InBox {}

/// The form of a borrowed hook. A borrowed closure is a closure.
#[derive(Debug)]
pub enum Borrowed {}

/// The form of a hook with a condition, [`Entry::when`](crate::Entry::when).
#[derive(Debug)]
pub struct Conditional<M>(PhantomData<M>);

/// The form of a [`BoxHook`](crate::BoxHook).
#[derive(Debug)]
pub enum Boxed {}
