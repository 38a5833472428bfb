//! The types of the last part of a dispatch: what stores the outputs, and the result.

use crate::companion::{
    AggregateIntoRole, AggregateRole, By, FinalizeIntoRole, FinalizeRole, NoCompanion, SyncRole,
};
use crate::typed::accumulator::{AllOutputs, LastOutput};
use crate::typed::slot_def::{SlotDef, SlotEnd};

impl<S: SlotDef + ?Sized> SlotEnd<S> for NoCompanion {
    type Accumulator = LastOutput<S::Out>;
    type Result = S::Out;
}

impl<S: SlotDef + ?Sized, C> SlotEnd<S> for By<AggregateRole, C> {
    type Accumulator = AllOutputs<S::Out>;
    type Result = S::Out;
}

impl<S: SlotDef + ?Sized, C, O> SlotEnd<S> for By<AggregateIntoRole<O>, C> {
    type Accumulator = AllOutputs<S::Out>;
    type Result = O;
}

impl<S: SlotDef + ?Sized, C> SlotEnd<S> for By<FinalizeRole, C> {
    type Accumulator = LastOutput<S::Out>;
    type Result = S::Out;
}

impl<S: SlotDef + ?Sized, C, O> SlotEnd<S> for By<FinalizeIntoRole<O>, C> {
    type Accumulator = LastOutput<S::Out>;
    type Result = O;
}

impl<S: SlotDef + ?Sized, C, R> SlotEnd<S> for By<SyncRole<R>, C>
where
    By<R, C>: SlotEnd<S>,
{
    type Accumulator = <By<R, C> as SlotEnd<S>>::Accumulator;
    type Result = <By<R, C> as SlotEnd<S>>::Result;
}
