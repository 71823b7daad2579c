//! CloudWatch's embedded metric format: the member `_aws` of a line, which makes metrics of its other members.

use domain::Timestamp;
use serde::Serialize;

use super::Unit;

/// The member `_aws`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct EmfMetadata {
    timestamp: i64,
    cloud_watch_metrics: [MetricDirective; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetricDirective {
    namespace: &'static str,
    dimensions: [Vec<&'static str>; 1],
    metrics: Vec<MetricDefinition>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetricDefinition {
    name: &'static str,
    unit: &'static str,
}

impl EmfMetadata {
    /// For a line written at `at` whose members have the names of these dimensions and metrics.
    pub fn new(
        at: Timestamp,
        dimensions: Vec<&'static str>,
        metrics: impl IntoIterator<Item = (&'static str, Unit)>,
    ) -> Self {
        let definition = |(name, unit): (_, Unit)| MetricDefinition { name, unit: unit.name() };
        Self {
            timestamp: at.as_millisecond(),
            cloud_watch_metrics: [MetricDirective {
                namespace: "Switchyard",
                dimensions: [dimensions],
                metrics: metrics.into_iter().map(definition).collect(),
            }],
        }
    }
}
