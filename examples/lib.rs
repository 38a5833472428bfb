//! Empty library: the examples are the files in this folder, listed in `README.md`.
