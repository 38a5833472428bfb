//! Tests of whole expansions.

mod names_are_documented;
mod unfinished_bodies;
