//! The words about one job, from the first to the last, and how long ago the last was heard.
//!
//! Guarantee: after a word that was refused because the job is somebody else's, or once nothing was
//! heard for [`Patience::silence`](crate::Patience), no further word is said. The silence is counted
//! from when a word left, so that the worker takes itself for lost before others do.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use crate::backoff::Backoff;
use crate::{
    Action, Answer, Cancelled, Context, Done, Ending, Error, Line, Started, Ticket, Trouble,
};

/// Heartbeats are not sent more often, whatever was asked for.
const FASTEST: Duration = Duration::from_secs(1);

/// One job's line, kept alive.
pub(crate) struct Pulse {
    line: Arc<dyn Line>,
    ticket: Ticket,
    period: Duration,
    silence: Duration,
    heard: Instant,
}

/// What became of one word.
enum Said<T> {
    Heard(T),
    Lost(Cancelled),
    Unheard(Trouble),
}

impl Pulse {
    /// Nothing was said yet; there is as much time for the first word as for any other.
    pub(crate) fn new(line: Arc<dyn Line>, ticket: Ticket, silence: Duration) -> Self {
        Self { line, ticket, period: FASTEST, silence, heard: Instant::now() }
    }

    /// Says that the work begins.
    pub(crate) async fn start(&mut self) -> Result<Started, Ending> {
        let mut backoff = Backoff::for_words();
        loop {
            let sent = Instant::now();
            match self.say(self.line.start(&self.ticket)).await {
                Said::Heard(started) => {
                    self.heard = sent;
                    self.period = started.heartbeat.max(FASTEST);
                    return Ok(started);
                }
                Said::Lost(why) => return Err(Ending::lost(why)),
                Said::Unheard(trouble @ Trouble::Lasting { .. }) => {
                    return Err(Ending::Refused(trouble));
                }
                Said::Unheard(trouble @ Trouble::Passing { .. }) => {
                    self.rest(&mut backoff, &trouble).await;
                }
            }
        }
    }

    /// Sends heartbeats until the job is lost. A heartbeat that was refused for whatever reason but
    /// the fence is sent again: a key may come back, a job does not.
    pub(crate) async fn keep(&mut self, ctx: &Context) -> Cancelled {
        let mut backoff = Backoff::for_words();
        loop {
            sleep_until(self.heard + self.period).await;
            backoff.reset();
            loop {
                match self.beat(ctx.percent()).await {
                    Said::Heard(Action::Continue) => break,
                    Said::Heard(Action::Cancel) => {
                        ctx.tell(Cancelled::ByOwner);
                        break;
                    }
                    Said::Lost(why) => return why,
                    Said::Unheard(trouble) => self.rest(&mut backoff, &trouble).await,
                }
            }
        }
    }

    /// Says how the work ended, until it is heard. Between two tries the job is kept alive, so that
    /// a long run is not lost to a short outage. What is refused for good fails the job instead.
    pub(crate) async fn report(&mut self, mut outcome: Result<Done, Error>) -> Ending {
        let mut backoff = Backoff::for_words();
        loop {
            let said = match &outcome {
                Ok(done) => self.say(self.line.complete(&self.ticket, done)).await,
                Err(error) => self.say(self.line.fail(&self.ticket, error)).await,
            };
            match said {
                Said::Heard(()) => {
                    return outcome.map_or_else(Ending::Failed, |_| Ending::Completed);
                }
                Said::Lost(why) => return Ending::lost(why),
                Said::Unheard(trouble @ Trouble::Lasting { .. }) => {
                    if outcome.is_err() {
                        return Ending::Refused(trouble);
                    }
                    let reason = format!("its completion was refused: {trouble}");
                    outcome = Err(Error::give_up(reason));
                }
                Said::Unheard(trouble @ Trouble::Passing { .. }) => {
                    self.rest(&mut backoff, &trouble).await;
                    if self.heard + self.period <= Instant::now()
                        && let Said::Lost(why) = self.beat(None).await
                    {
                        return Ending::lost(why);
                    }
                }
            }
        }
    }

    async fn beat(&mut self, progress: Option<u8>) -> Said<Action> {
        let sent = Instant::now();
        let said = self.say(self.line.heartbeat(&self.ticket, progress)).await;
        if let Said::Heard(_) = said {
            self.heard = sent;
        }
        said
    }

    /// Says one word, if there is still time for it.
    async fn say<T>(&self, word: impl Future<Output = Result<Answer<T>, Trouble>>) -> Said<T> {
        let deadline = self.heard + self.silence;
        if deadline <= Instant::now() {
            return Said::Lost(Cancelled::Silent);
        }
        match timeout_at(deadline, word).await {
            Ok(Ok(Answer::Accepted(answer))) => Said::Heard(answer),
            Ok(Ok(Answer::Gone)) => Said::Lost(Cancelled::Gone),
            Ok(Err(trouble)) => Said::Unheard(trouble),
            Err(_elapsed) => Said::Lost(Cancelled::Silent),
        }
    }

    /// Waits before the next try, but not past the moment from which there is none.
    async fn rest(&self, backoff: &mut Backoff, trouble: &Trouble) {
        let next = Instant::now() + backoff.next().max(trouble.wait());
        sleep_until(next.min(self.heard + self.silence)).await;
    }
}
