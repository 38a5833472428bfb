//! What the last part of a dispatch converts, and into what: the aggregate or the finalizer in a slot's
//! definition, or none. Holds also for a companion that does not implement its trait, so that such a
//! companion causes one error only.

use std::future::Future;

use crate::bounds::MaybeSend;
use crate::companion::{
    AggregateIntoRole, AggregateRole, By, FinalizeIntoRole, FinalizeRole, NoCompanion,
};
use crate::typed::accumulator::{AllOutputs, LastOutput, Outputs};
use crate::typed::slot_def::{SlotDef, SlotEnd};

impl<S: SlotDef + ?Sized> SlotEnd<S> for NoCompanion {
    type Accumulator = LastOutput<S::Out>;
    type Outputs = S::Out;
    type Result = S::Out;

    #[inline]
    fn pass(
        dispatch: impl Future<Output = S::Out> + MaybeSend,
    ) -> impl Future<Output = S::Out> + MaybeSend {
        dispatch
    }
}

impl<S: SlotDef + ?Sized, C> SlotEnd<S> for By<AggregateRole, C> {
    type Accumulator = AllOutputs<S::Out>;
    type Outputs = Outputs<S::Out>;
    type Result = S::Out;
}

impl<S: SlotDef + ?Sized, C, O> SlotEnd<S> for By<AggregateIntoRole<O>, C> {
    type Accumulator = AllOutputs<S::Out>;
    type Outputs = Outputs<S::Out>;
    type Result = O;
}

impl<S: SlotDef + ?Sized, C> SlotEnd<S> for By<FinalizeRole, C> {
    type Accumulator = LastOutput<S::Out>;
    type Outputs = S::Out;
    type Result = S::Out;
}

impl<S: SlotDef + ?Sized, C, O> SlotEnd<S> for By<FinalizeIntoRole<O>, C> {
    type Accumulator = LastOutput<S::Out>;
    type Outputs = S::Out;
    type Result = O;
}
