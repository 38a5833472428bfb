//! What all layers speak of: plain data without judgements.

pub(crate) mod analysis;
