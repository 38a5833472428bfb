//! Nothing here yet: the examples are the files beside this one.
