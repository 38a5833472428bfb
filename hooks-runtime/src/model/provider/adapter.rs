//! Shared code of the adapters: a protocol in, an adapter with constructors, hooks and requests out.

/// Declares an adapter for a [`Protocol`](super::protocol::Protocol), and its hooks.
macro_rules! adapter {
    (
        protocol: $Protocol:ident,
        $(#[$of_hooks:meta])*
        hooks: $Hooks:ident, $Set:ident,
        $(#[$of_adapter:meta])*
        adapter: $Adapter:ident $(,)?
    ) => {
        $(#[$of_hooks])*
        #[hooks_core::hooks]
        pub trait $Hooks {
            /// Selects the model. `requested` is the model in the request's
            /// [`GenerationOptions`](crate::model::GenerationOptions), else the adapter's.
            #[hook(fallback)]
            async fn select_model(
                extensions: &hooks_core::RequestExtensions,
                requested: &str,
            ) -> String {
                let _ = extensions;
                requested.to_owned()
            }

            /// Returns the JSON to send. A hook changes `last`, else `body`.
            #[hook(fallback)]
            async fn on_request_body(
                extensions: &hooks_core::RequestExtensions,
                body: serde_json::Value,
            ) -> serde_json::Value {
                let _ = extensions;
                body
            }

            /// Receives an event of the provider, before it is parsed.
            #[hook(always)]
            async fn on_wire_event(
                extensions: &hooks_core::RequestExtensions,
                event: &super::sse::SseEvent,
            ) {
                let _ = (extensions, event);
            }
        }

        $(#[$of_adapter])*
        pub struct $Adapter<'h, T> {
            transport: T,
            config: super::config::ProviderConfig,
            hooks: $Set<'h>,
        }

        impl<'h, T: super::http::HttpTransport> $Adapter<'h, T> {
            /// Creates an adapter without hooks.
            pub fn new(transport: T, config: super::config::ProviderConfig) -> Self {
                $Adapter::with_hooks(transport, config, $Set::new())
            }

            /// Creates an adapter with hooks.
            pub fn with_hooks(
                transport: T,
                config: super::config::ProviderConfig,
                hooks: $Set<'h>,
            ) -> Self {
                $Adapter {
                    transport,
                    config,
                    hooks,
                }
            }

            /// Adds hooks after those of equal priority.
            pub fn extend_hooks(&mut self, hooks: $Set<'h>) -> &mut Self {
                self.hooks.extend(hooks);
                self
            }

            /// Like [`extend_hooks`](Self::extend_hooks), for builder chains.
            #[must_use]
            pub fn with_extended_hooks(mut self, hooks: $Set<'h>) -> Self {
                self.extend_hooks(hooks);
                self
            }
        }

        impl<T: super::http::HttpTransport> crate::model::adapter::ModelAdapter
            for $Adapter<'_, T>
        {
            async fn stream(
                &self,
                request: crate::model::input::ModelRequest,
            ) -> Result<crate::model::adapter::AdapterEvents<'_>, crate::model::AdapterError> {
                let (config, hooks) = (&self.config, &self.hooks);
                let extensions = request.extensions;
                let mut options = config.options(&extensions);
                options.model = hooks.select_model(&extensions, &options.model).await;
                let body = <$Protocol as super::protocol::Protocol>::body(&request.operation, options)?;
                let body = hooks.on_request_body(&extensions, body).await;
                super::response::exchange::<$Protocol>(&self.transport, config, body, hooks, extensions)
                    .await
            }
        }

        impl super::response::Observer for $Set<'_> {
            async fn see(
                &self,
                extensions: &hooks_core::RequestExtensions,
                event: &super::sse::SseEvent,
            ) {
                self.on_wire_event(extensions, event).await;
            }
        }

        impl<T> std::fmt::Debug for $Adapter<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($Adapter))
                    .field("config", &self.config)
                    .field("hooks", &self.hooks)
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use adapter;
