//! Mistakes in what invokes a function.

use super::check_each;

/// Checks one event, on line 8, whose properties begin on line 10.
#[track_caller]
fn check_event(kind: &str, cases: &[(&str, &str)]) {
    check_each(cases, |properties| {
        format!(
            "  It:\n    Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: a\n      \
             Events:\n        E:\n          Type: {kind}\n          \
             Properties: {{ {properties} }}\n"
        )
    });
}

#[test]
fn routes_are_checked() {
    check_event(
        "HttpApi",
        &[
            (
                "Path: /x, Method: ANY",
                "10:11: Resources.It.Properties.Events.E.Properties: missing required property \
                 `ApiId`",
            ),
            (
                "ApiId: a, Path: x, Method: ANY",
                "10:41: Resources.It.Properties.Events.E.Properties.Path: expected a path that \
                 starts with `/`, found `x`",
            ),
            (
                "ApiId: a, Path: /x, Method: FETCH",
                "10:53: Resources.It.Properties.Events.E.Properties.Method: expected one of ANY, \
                 DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, found `FETCH`",
            ),
            (
                "ApiId: a, Path: /x",
                "10:41: Resources.It.Properties.Events.E.Properties.Path: a route with a Path \
                 needs a Method",
            ),
            (
                "ApiId: a, Method: GET",
                "10:43: Resources.It.Properties.Events.E.Properties.Method: a route with a Method \
                 needs a Path",
            ),
            (
                "ApiId: a, Pth: /x",
                "10:35: Resources.It.Properties.Events.E.Properties.Pth: unknown property (did \
                 you mean `Path`?)",
            ),
        ],
    );
}

#[test]
fn queues_are_checked() {
    check_event(
        "SQS",
        &[
            (
                "BatchSize: 10",
                "10:11: Resources.It.Properties.Events.E.Properties: missing required property \
                 `Queue`",
            ),
            (
                "Queue: a, BatchSize: 100",
                "10:23: Resources.It.Properties.Events.E.Properties: a BatchSize over 10 needs a \
                 MaximumBatchingWindowInSeconds of at least 1",
            ),
            (
                "Queue: a, BatchSize: many",
                "10:46: Resources.It.Properties.Events.E.Properties.BatchSize: expected a whole \
                 number, found `many`",
            ),
            (
                "Queue: a, Enabled: on",
                "10:44: Resources.It.Properties.Events.E.Properties.Enabled: expected true or \
                 false, found `on`",
            ),
            (
                "Queue: a, ScalingConfig: { MaximumConcurrency: 1 }",
                "10:72: \
                 Resources.It.Properties.Events.E.Properties.ScalingConfig.MaximumConcurrency: \
                 expected a number from 2 to 1000, found `1`",
            ),
            (
                "Queue: a, FunctionResponseTypes: [ReportFailures]",
                "10:59: Resources.It.Properties.Events.E.Properties.FunctionResponseTypes[0]: \
                 expected one of ReportBatchItemFailures, found `ReportFailures`",
            ),
            (
                r#"Queue: a, FilterCriteria: { Filters: [{ Pattern: "{" }] }"#,
                "10:74: \
                 Resources.It.Properties.Events.E.Properties.FilterCriteria.Filters[0].Pattern: \
                 not a JSON document: EOF while parsing an object at line 1 column 1",
            ),
        ],
    );
}

#[test]
fn topics_are_checked() {
    check_event(
        "SNS",
        &[
            (
                "FilterPolicy: { a: [b] }",
                "10:11: Resources.It.Properties.Events.E.Properties: missing required property \
                 `Topic`",
            ),
            (
                "Topic: a, SqsSubscription: true",
                "10:52: Resources.It.Properties.Events.E.Properties.SqsSubscription: unsupported; \
                 subscribe a queue and use an SQS event instead",
            ),
        ],
    );
}

#[test]
fn schedules_are_checked() {
    check_event(
        "Schedule",
        &[
            (
                "Schedule: rate(1 minutes)",
                "10:35: Resources.It.Properties.Events.E.Properties.Schedule: expected rate(1 \
                 minute), rate(5 minutes) or cron(with six fields), found `rate(1 minutes)`",
            ),
            (
                "Schedule: rate(5 minute)",
                "10:35: Resources.It.Properties.Events.E.Properties.Schedule: expected rate(1 \
                 minute), rate(5 minutes) or cron(with six fields), found `rate(5 minute)`",
            ),
            (
                "Schedule: rate(0 days)",
                "10:35: Resources.It.Properties.Events.E.Properties.Schedule: expected rate(1 \
                 minute), rate(5 minutes) or cron(with six fields), found `rate(0 days)`",
            ),
            (
                "Schedule: cron(0 * * * *)",
                "10:35: Resources.It.Properties.Events.E.Properties.Schedule: expected rate(1 \
                 minute), rate(5 minutes) or cron(with six fields), found `cron(0 * * * *)`",
            ),
            (
                "Schedule: rate(1 day), Enabled: true, State: ENABLED",
                "10:70: Resources.It.Properties.Events.E.Properties.State: give either Enabled or \
                 State, not both",
            ),
        ],
    );
}

#[test]
fn new_schedules_are_checked() {
    check_event(
        "ScheduleV2",
        &[
            (
                "Schedule: rate(1 day)",
                "10:25: Resources.It.Properties.Events.E.Properties.Schedule: unknown property",
            ),
            (
                "ScheduleExpression: at(2030-01-01T00:00:00)",
                "10:45: Resources.It.Properties.Events.E.Properties.ScheduleExpression: expected \
                 rate(1 minute), rate(5 minutes) or cron(with six fields), found \
                 `at(2030-01-01T00:00:00)`",
            ),
            (
                "ScheduleExpression: rate(1 day), State: On",
                "10:65: Resources.It.Properties.Events.E.Properties.State: expected one of \
                 ENABLED, DISABLED, found `On`",
            ),
        ],
    );
}

#[test]
fn other_events_are_unsupported() {
    check_event(
        "DynamoDB",
        &[(
            "Stream: a",
            "9:17: Resources.It.Properties.Events.E.Type: unsupported event type `DynamoDB`; \
             supported are HttpApi, SQS, SNS, Schedule and ScheduleV2",
        )],
    );
}
