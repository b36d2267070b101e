//! What the environment says, as far as the SDK does not read it by itself.

use std::env;

use opentelemetry::{Key, KeyValue};
use opentelemetry_sdk::Resource;

/// Whether the operator wants traces, and says where to.
pub(crate) fn asks_for_traces() -> bool {
    let said = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let somewhere = said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or(said("OTEL_EXPORTER_OTLP_ENDPOINT"));
    let disabled = said("OTEL_SDK_DISABLED").is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
    if somewhere.is_none() || disabled {
        return false;
    }
    let Some(exporters) = said("OTEL_TRACES_EXPORTER") else { return true };
    let otlp = exporters.split(',').any(|name| name.trim() == "otlp");
    if !otlp && exporters.trim() != "none" {
        tracing::warn!(
            exporters,
            "OTEL_TRACES_EXPORTER names no exporter that is known; there is only `otlp`"
        );
    }
    otlp
}

/// What all spans say of this program: `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`. Without a name it is `rival`.
pub(crate) fn resource() -> Resource {
    let name = Key::from_static_str("service.name");
    let resource = Resource::builder().build();
    let unnamed = |value: &opentelemetry::Value| value.as_str().starts_with("unknown_service");
    if resource.get_ref(&name).is_none_or(unnamed) {
        return Resource::builder().with_attribute(KeyValue::new(name, "rival")).build();
    }
    resource
}
