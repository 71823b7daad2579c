//! Every queue has dead letters, and queues and functions have alarms.

use std::collections::BTreeSet;

use super::stack;

/// Queues that other queues redrive to.
fn dead_letters() -> BTreeSet<&'static str> {
    let redrives = stack().queues.iter().filter_map(|queue| queue.redrive.as_ref());
    redrives.map(|redrive| redrive.target_arn.as_str()).collect()
}

#[test]
fn every_queue_has_dead_letters_after_five_tries() {
    for queue in stack().queues.iter().filter(|queue| !dead_letters().contains(queue.arn.as_str()))
    {
        let redrive = queue.redrive.as_ref();
        let redrive = redrive.unwrap_or_else(|| panic!("{} has no dead letters", queue.logical_id));
        assert!(redrive.max_receive_count >= 5, "{}", queue.logical_id);
        let target = stack().queue_by_arn(&redrive.target_arn);
        let target = target.unwrap_or_else(|| panic!("{}: no such queue", redrive.target_arn));
        assert_eq!(target.retention_seconds, 14 * 24 * 3600, "{}", target.logical_id);
    }
}

#[test]
fn a_message_stays_hidden_six_times_as_long_as_its_function_may_run() {
    let mut mappings = 0;
    for function in &stack().functions {
        for event in &function.queue_events {
            let name = format!("{}.{}", function.logical_id, event.event_id);
            let queue = stack().queue_by_arn(&event.queue_arn);
            let queue = queue.unwrap_or_else(|| panic!("{name}: no such queue"));
            let least = 6 * function.timeout_seconds + event.window_seconds;
            assert!(queue.visibility_seconds >= least, "{name}: visibility is under {least} s");
            assert!(event.report_batch_item_failures, "{name} does not report partial failures");
            assert!(event.max_concurrency.is_some(), "{name} has no bound on its concurrency");
            assert!(event.batch_size <= 10 || event.window_seconds > 0, "{name}");
            mappings += 1;
        }
    }
    assert!(mappings >= 2);
}

#[test]
fn every_queue_dead_letter_queue_and_function_has_its_alarms() {
    let alarms: Vec<(String, String)> = stack()
        .resources_of("AWS::CloudWatch::Alarm")
        .filter_map(|alarm| {
            let metric = alarm.properties["MetricName"].as_str()?.to_owned();
            let dimension = alarm.properties["Dimensions"][0]["Value"].as_str()?.to_owned();
            Some((metric, dimension))
        })
        .collect();
    let has = |metric: &str, dimension: &str| {
        assert!(
            alarms.contains(&(metric.to_owned(), dimension.to_owned())),
            "no alarm on {metric} of {dimension}"
        );
    };
    for queue in &stack().queues {
        if dead_letters().contains(queue.arn.as_str()) {
            has("ApproximateNumberOfMessagesVisible", &queue.name);
        } else {
            has("ApproximateAgeOfOldestMessage", &queue.name);
        }
    }
    for function in &stack().functions {
        has("Errors", &function.name);
    }
}

#[test]
fn every_subscription_leads_to_a_queue_of_the_stack_that_lets_its_topic_in() {
    for subscription in &stack().subscriptions {
        let queue = stack().queue_by_arn(&subscription.endpoint);
        let queue = queue.unwrap_or_else(|| panic!("{}: no queue", subscription.logical_id));
        let allowed = stack().resources_of("AWS::SQS::QueuePolicy").any(|policy| {
            let statement = &policy.properties["PolicyDocument"]["Statement"][0];
            statement["Resource"] == queue.arn.as_str()
                && statement["Condition"]["ArnEquals"]["aws:SourceArn"]
                    == subscription.topic_arn.as_str()
                && policy.properties["Queues"][0] == queue.url.as_str()
        });
        assert!(allowed, "{} does not let {} in", queue.logical_id, subscription.topic_arn);
    }
}
