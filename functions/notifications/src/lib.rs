//! Notifications: people are told once, by the ways they want, when they want it.

pub mod deliver;
pub mod http;
pub mod store;
pub mod sweep;

use boundary::{Host, Misconfigured, System};
use messaging::DeliveryQueues;

const QUEUES: &str = "DELIVERY_QUEUES";

pub fn system() -> System {
    System::new(
        "notifications",
        "Notifications",
        "People are told once, by the ways they want, when they want it.",
    )
    .http("notify", http::function, http::operations)
    .queue("deliver", deliver::function)
    .schedule("sweep-notifications", sweep::function)
    .table(&store::TABLE)
    .example(
        "curl -XPUT $SWITCHYARD_URL/api/v1/users/ada/contacts -H \"$A\" -d '{\"email\":\"ada@example.com\"}'\n\
         curl -XPOST $SWITCHYARD_URL/api/v1/notifications -H \"$A\" -d '{\"userId\":\"ada\",\"category\":\"news\",\
         \"content\":{\"email\":{\"subject\":\"Hi\",\"text\":\"Hello\"}}}'",
    )
}

fn delivery_queues(host: &Host) -> Result<DeliveryQueues, Misconfigured> {
    let urls = host.vars.required(QUEUES)?;
    DeliveryQueues::new(host.aws.sqs(), urls).ok_or_else(|| nine_queues(QUEUES))
}

fn nine_queues(name: &str) -> Misconfigured {
    let problem = "must be nine queues, separated by commas".to_owned();
    Misconfigured { name: name.to_owned(), problem }
}
