//! Nothing: the examples are the files beside this one, and `README.md` lists them.
