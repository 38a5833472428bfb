//! Checks of the repository itself: its book, its names and words, and what an editor shows of
//! hooks. One program, because several of them wait for other programs.

mod book;
mod editor;
mod names;
mod specification;
mod words;
