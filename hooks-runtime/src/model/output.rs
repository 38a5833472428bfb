//! The two forms of output: text and JSON.

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

/// Marks an operation whose output is text.
#[derive(Debug, Clone, Copy)]
pub enum Text {}

/// Marks an operation whose output is JSON, read as a `T`.
pub struct Json<T>(PhantomData<fn() -> T>);

impl<T> fmt::Debug for Json<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Json")
    }
}

/// Form of the output of an operation: [`Text`] or [`Json`].
pub trait ModelOutput: sealed::Sealed {
    /// Type that the caller gets.
    type Value;

    #[doc(hidden)]
    const IS_JSON: bool;

    #[doc(hidden)]
    fn read(text: &str) -> Result<Self::Value, serde_json::Error>;
}

impl ModelOutput for Text {
    type Value = String;

    const IS_JSON: bool = false;

    fn read(text: &str) -> Result<String, serde_json::Error> {
        Ok(text.to_owned())
    }
}

impl<T: DeserializeOwned> ModelOutput for Json<T> {
    type Value = T;

    const IS_JSON: bool = true;

    fn read(text: &str) -> Result<T, serde_json::Error> {
        serde_json::from_str(text)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Text {}
    impl<T> Sealed for super::Json<T> {}
}
