//! What the tests and benches of this package share.
