//! What becomes of a notification when it is accepted: its ways, and which of them are stopped at once.

use crate::store::{Accept, Person};
use boundary::http::Problem;
use domain::Timestamp;
use domain::notifications::{
    Asked, Channel, Delivery, Event, Facts, Notification, Standing, Step, Submission,
    TemplateVersion, Unfit, Verdict, Way, stopped, transition,
};

use crate::http::state::App;

/// What is going to be said.
pub(crate) enum Words {
    /// A template.
    Version(Box<TemplateVersion>),
    /// The caller's own.
    Inline(Vec<Channel>),
}

impl Words {
    /// Reads the template, if one is named, and checks that it can be filled in.
    pub(crate) async fn of(
        submission: &Submission,
        app: &App,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        let (id, version, data) = match &submission.asked {
            Asked::Inline(words) => return Ok(Self::Inline(words.channels().collect())),
            Asked::Template { id, version, data } => (id, version, data),
        };
        let number = match version {
            Some(number) => *number,
            None => app.template(id, now).await.map_err(unknown)?.active,
        };
        let version = app.version(id, number).await.map_err(unknown)?;
        version.accepts(data).map_err(|unfit| wrong_data(&unfit))?;
        let words = version.draft.channels();
        if let Some(channel) = submission.channels.iter().find(|it| !words.contains(it)) {
            let rule =
                format!("channels that the template has words for; not `{}`", channel.name());
            return Err(Problem::field("channels", rule));
        }
        Ok(Self::Version(Box::new(version)))
    }

    /// The version that is used; 0 where there is none.
    pub(crate) fn version(&self) -> u32 {
        match self {
            Self::Version(version) => version.number,
            Self::Inline(_) => 0,
        }
    }

    fn channels(&self) -> Vec<Channel> {
        match self {
            Self::Version(version) => version.draft.channels(),
            Self::Inline(channels) => channels.clone(),
        }
    }
}

/// A template that a body names is a wrong field, not a wrong path.
fn unknown(problem: Problem) -> Problem {
    if problem.status() == 404 {
        let detail = "There is no such template, or no such version of it.";
        Problem::invalid_field("template", detail)
    } else {
        problem
    }
}

/// Data that a template can't be filled in with.
pub(crate) fn wrong_data(unfit: &Unfit) -> Problem {
    match unfit {
        Unfit::Missing(names) => {
            let field = format!("data.{}", names.first().map_or("", String::as_str));
            Problem::invalid_field(field, format!("The template also needs: {}.", names.join(", ")))
        }
        Unfit::NoObject => Problem::field("data", "an object"),
        Unfit::NoWords(channel) => {
            Problem::invalid_field("channel", format!("It has no words for {}.", channel.name()))
        }
        Unfit::Failed { .. } | Unfit::Unsendable { .. } => {
            Problem::invalid_field("data", boundary::http::sentence(&unfit.to_string()))
        }
    }
}

/// A notification that is about to be written.
pub(crate) struct Planned {
    pub(crate) notification: Notification,
    pub(crate) deliveries: Vec<Delivery>,
}

impl Planned {
    /// A delivery for each way. What the person does not want is written down as suppressed, so that
    /// its caller can read why. Whether an address is suppressed is looked up right before sending.
    pub(crate) fn of(
        notification: Notification,
        submission: &Submission,
        words: &Words,
        person: &Person,
        now: Timestamp,
    ) -> Self {
        let deliveries = ways(submission, words, person)
            .into_iter()
            .map(|way| checked(&notification, way, person, now))
            .collect();
        Self { notification, deliveries }
    }

    pub(crate) fn wanted(&self) -> Accept<'_> {
        Accept { notification: &self.notification, deliveries: &self.deliveries }
    }
}

fn ways(submission: &Submission, words: &Words, person: &Person) -> Vec<Way> {
    let Person { preferences, contacts } = person;
    let said = words.channels();
    let mut ways = contacts.ways_for(&submission.channels, &submission.category, preferences);
    ways.retain(|way| said.contains(&way.channel()));
    if ways.is_empty() && submission.channels.is_empty() {
        // Whatever they switched off is why; it is written down way by way.
        ways = said.into_iter().flat_map(|channel| contacts.ways(channel)).collect();
    }
    ways
}

fn checked(notification: &Notification, way: Way, person: &Person, now: Timestamp) -> Delivery {
    let delivery = Delivery::accepted(notification, way);
    let facts = Facts {
        notification,
        delivery: &delivery,
        preferences: &person.preferences,
        standing: Standing::Good,
        verdict: Verdict::Within,
        providers: &[],
    };
    let Some(why) = stopped(&facts, now) else { return delivery };
    match transition(&delivery, &Event::Suppressed { why }, now) {
        Step::Become(after) => *after,
        Step::Stay | Step::Refuse(_) => delivery,
    }
}
