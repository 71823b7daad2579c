//! CloudWatch's embedded metric format: the member `_aws` of a line, which makes metrics of its other members.

use domain::Timestamp;
use serde::Serialize;

use super::Unit;

/// The member `_aws`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct EmfMetadata<'a> {
    timestamp: i64,
    cloud_watch_metrics: [MetricDirective<'a>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetricDirective<'a> {
    namespace: &'static str,
    dimensions: [&'a [&'static str]; 1],
    metrics: Vec<MetricDefinition>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetricDefinition {
    name: &'static str,
    unit: &'static str,
}

impl<'a> EmfMetadata<'a> {
    /// The dimensions of most metrics.
    pub const DIMENSIONS: &'static [&'static str] = &["Stage", "Operation"];

    /// For a line written at `at` with a member for each of these dimensions and metrics.
    pub fn new(
        at: Timestamp,
        dimensions: &'a [&'static str],
        metrics: impl IntoIterator<Item = (&'static str, Unit)>,
    ) -> Self {
        let definition = |(name, unit): (_, Unit)| MetricDefinition { name, unit: unit.name() };
        let metrics = metrics.into_iter().map(definition).collect();
        let directive =
            MetricDirective { namespace: "Switchyard", dimensions: [dimensions], metrics };
        Self { timestamp: at.as_millisecond(), cloud_watch_metrics: [directive] }
    }
}
