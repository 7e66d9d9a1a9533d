//! `[telemetry]`: where to export to. Plain data: must not connect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[telemetry]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Your own OpenTelemetry collector, to which decisions and figures are exported by OTLP over
    /// HTTP, such as `http://localhost:4318`. Without it nothing is exported. It gets the same data
    /// as a fleet's copy of a decision; `[fleet] machine` and `[fleet] ship_evidence` apply to
    /// both.
    #[schemars(with = "String", extend("x-project" = "never"))]
    pub otlp: Option<String>,
}
