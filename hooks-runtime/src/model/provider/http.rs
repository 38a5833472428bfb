//! The trait of HTTP clients for adapters.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use futures_util::Stream;

/// Sends requests: implement it with the program's HTTP client.
///
/// ```
/// use std::error::Error;
///
/// use hooks_runtime::model::provider::{HttpRequest, HttpResponse, HttpTransport};
///
/// /// Returns fixed events for every request.
/// struct Recorded(&'static str);
///
/// impl HttpTransport for Recorded {
///     async fn send(
///         &self,
///         _request: HttpRequest,
///     ) -> Result<HttpResponse<'_>, Box<dyn Error + Send + Sync>> {
///         let body = futures_util::stream::iter([Ok(self.0.into())]);
///         Ok(HttpResponse::new(200, [], Box::pin(body)))
///     }
/// }
/// ```
pub trait HttpTransport: Send + Sync {
    /// Sends a request. Returns once the head of the response has arrived, whatever its status.
    /// Implement it as an `async fn`.
    ///
    /// # Errors
    /// If there is no response.
    fn send(
        &self,
        request: HttpRequest,
    ) -> impl Future<Output = Result<HttpResponse<'_>, Box<dyn Error + Send + Sync>>> + Send;
}

/// A `POST` of JSON.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The complete address.
    pub url: String,
    /// Names in lower case, and values, including the provider's key.
    pub headers: Vec<(String, String)>,
    /// The JSON.
    pub body: Vec<u8>,
}

impl HttpRequest {
    pub(crate) fn new<const N: usize>(
        url: String,
        headers: [(&str, String); N],
        body: Vec<u8>,
    ) -> Self {
        let json = ("content-type".to_owned(), "application/json".to_owned());
        let more = headers.map(|(name, value)| (name.to_owned(), value));
        HttpRequest {
            url,
            headers: std::iter::once(json).chain(more).collect(),
            body,
        }
    }
}

/// Omits the values of the headers, which include the key.
impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpRequest")
            .field("url", &self.url)
            .field("headers", &names)
            .field("body", &String::from_utf8_lossy(&self.body))
            .finish()
    }
}

/// The bytes of a response, in pieces of any size.
pub type HttpBody<'a> =
    Pin<Box<dyn Stream<Item = Result<Vec<u8>, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// A response whose body is still arriving.
#[non_exhaustive]
pub struct HttpResponse<'a> {
    /// The status.
    pub status: u16,
    /// Names, in any case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: HttpBody<'a>,
}

impl<'a> HttpResponse<'a> {
    /// Creates a response.
    pub fn new(
        status: u16,
        headers: impl IntoIterator<Item = (String, String)>,
        body: HttpBody<'a>,
    ) -> Self {
        HttpResponse {
            status,
            headers: headers.into_iter().collect(),
            body,
        }
    }

    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(other, _)| other.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }
}

impl fmt::Debug for HttpResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}
