//! Checks of the repository itself: its book, its names, words and times, and what an editor shows of
//! hooks. One program, because several of them wait for other programs.

mod book;
mod editor;
mod imports;
mod layers;
mod names;
mod rings;
mod specification;
mod times;
mod words;
