//! A worker: asks for jobs over HTTP and runs as many at once as it may.
//!
//! Trigger: none but itself; it asks, less often the longer there was nothing. Guarantee: it never
//! holds more jobs than it can start at once, and ends only when everything it ran has been reported
//! or given up. A claim whose answer is lost costs a minute: the jobs go back by themselves.

mod name;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::backoff::Backoff;
use crate::{
    Context, Done, Ending, Error, Http, Job, NotConnected, Patience, Stop, Ticket, Trouble,
    run_one, stop,
};

/// The most jobs that the API gives out at once.
const MOST: usize = 20;

/// What a worker has to tell whoever runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A job has ended, for this worker.
    Ended(Ticket, Ending),
    /// It could not ask for jobs and will ask again.
    Trouble(Trouble),
}

type Told = dyn Fn(Note) + Send + Sync;

/// Takes jobs and runs them.
#[must_use = "a worker does nothing until it is run"]
pub struct Worker {
    http: Http,
    job_types: Vec<String>,
    at_once: usize,
    polls: (Duration, Duration),
    patience: Patience,
    stopping: BoxFuture<'static, ()>,
    notes: Arc<Told>,
}

impl Worker {
    /// A worker for the API at `url`, with a key that has the role job-worker. It is named after the
    /// machine and the process. Nothing is sent yet.
    pub fn connect(url: &str, key: &str) -> Result<Self, NotConnected> {
        Ok(Self::over(Http::new(url, key, &name::unique())?))
    }

    pub(crate) fn over(http: Http) -> Self {
        Self {
            http,
            job_types: Vec::new(),
            at_once: 1,
            polls: (Duration::from_secs(1), Duration::from_secs(10)),
            patience: Patience::default(),
            stopping: Box::pin(stop::signalled()),
            notes: Arc::new(|_| {}),
        }
    }

    /// Calls itself `id`: 1 to 128 printable ASCII characters without spaces, which no other process
    /// uses.
    pub fn id(self, id: &str) -> Self {
        Self { http: self.http.named(id), ..self }
    }

    /// Takes jobs of this type too. Types take turns in being asked for first.
    pub fn job_type(mut self, job_type: &str) -> Self {
        self.job_types.push(job_type.to_owned());
        self
    }

    /// Runs up to so many jobs at once; one unless said otherwise.
    pub fn at_once(self, jobs: usize) -> Self {
        Self { at_once: jobs.max(1), ..self }
    }

    /// Asks again after `first` when there was nothing, then less and less often down to once per
    /// `last`; 1 and 10 seconds unless said otherwise.
    pub fn polls(self, first: Duration, last: Duration) -> Self {
        Self { polls: (first, last), ..self }
    }

    /// How long handlers may go on once they were told to stop; 25 seconds unless said otherwise.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.patience.grace = grace;
        self
    }

    /// Stops when `stopping` ends, instead of on SIGTERM or Ctrl-C.
    pub fn stop_on(self, stopping: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { stopping: Box::pin(stopping), ..self }
    }

    /// Hands every note to `notes`, which writes a log or counts.
    pub fn notes(self, notes: impl Fn(Note) + Send + Sync + 'static) -> Self {
        Self { notes: Arc::new(notes), ..self }
    }

    /// Runs jobs with `handler` until it is stopped. An error means that the API does not want this
    /// worker: the key, the role or the type is wrong. What runs by then is still brought to its end.
    pub async fn run<H, F>(mut self, handler: H) -> Result<(), Trouble>
    where
        H: Fn(Job, Context) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Done, Error>> + Send + 'static,
    {
        let stop = Stop::new();
        let stopping = std::mem::replace(&mut self.stopping, Box::pin(std::future::pending()));
        let listen = async {
            stopping.await;
            stop.now();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            ended = self.work(&stop, Arc::new(handler)) => ended,
            () = listen => Ok(()),
        }
    }

    async fn work<H, F>(&self, stop: &Stop, handler: Arc<H>) -> Result<(), Trouble>
    where
        H: Fn(Job, Context) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Done, Error>> + Send + 'static,
    {
        let mut running = JoinSet::new();
        let asked = tokio::select! {
            biased;
            () = stop.called() => Ok(()),
            refused = self.ask(&mut running, stop, &handler) => Err(refused),
        };
        while running.join_next().await.is_some() {}
        asked
    }

    /// Asks for jobs and runs them, until it is refused for good. Dropping it between two steps
    /// loses no more than a claim.
    async fn ask<H, F>(&self, running: &mut JoinSet<()>, stop: &Stop, handler: &Arc<H>) -> Trouble
    where
        H: Fn(Job, Context) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Done, Error>> + Send + 'static,
    {
        let mut backoff = Backoff::new(self.polls.0, self.polls.1);
        for turn in (0..self.job_types.len().max(1)).cycle() {
            while running.try_join_next().is_some() {}
            while running.len() >= self.at_once {
                running.join_next().await;
                backoff.reset();
            }
            match self.claim(turn, self.at_once - running.len()).await {
                Ok(tickets) if tickets.is_empty() => sleep(backoff.next()).await,
                Ok(tickets) => {
                    backoff.reset();
                    for ticket in tickets {
                        running.spawn(self.one(ticket, stop.clone(), Arc::clone(handler)));
                    }
                }
                Err(refused @ Trouble::Lasting { .. }) => return refused,
                Err(trouble) => {
                    let wait = backoff.next().max(trouble.wait());
                    (self.notes)(Note::Trouble(trouble));
                    sleep(wait).await;
                }
            }
        }
        Trouble::lasting("there is nothing to ask for")
    }

    /// Takes up to `free` jobs, of the type whose turn it is first. What one type gave is not lost
    /// to the trouble with the next, which will be met again.
    async fn claim(&self, turn: usize, free: usize) -> Result<Vec<Ticket>, Trouble> {
        if self.job_types.is_empty() {
            return Err(Trouble::lasting("the worker was given no type of jobs to take"));
        }
        let mut tickets = Vec::new();
        let (later, first) = self.job_types.split_at(turn);
        for job_type in first.iter().chain(later) {
            let room = free.saturating_sub(tickets.len()).min(MOST);
            if room == 0 {
                break;
            }
            match self.http.claim(job_type, room).await {
                Ok(claimed) => tickets.extend(claimed),
                Err(trouble) if tickets.is_empty() => return Err(trouble),
                Err(_) => break,
            }
        }
        Ok(tickets)
    }

    /// Runs one job to its end.
    fn one<H, F>(
        &self,
        ticket: Ticket,
        stop: Stop,
        handler: Arc<H>,
    ) -> impl Future<Output = ()> + use<H, F>
    where
        H: Fn(Job, Context) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Done, Error>> + Send + 'static,
    {
        let (line, patience) = (Arc::new(self.http.clone()), self.patience);
        let notes = Arc::clone(&self.notes);
        async move {
            let call = move |job, ctx| (*handler)(job, ctx);
            let ending = run_one(line, ticket.clone(), patience, &stop, call).await;
            notes(Note::Ended(ticket, ending));
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (http, types) = (&self.http, &self.job_types);
        f.debug_struct("Worker").field("http", http).field("types", types).finish_non_exhaustive()
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(ticket, ending) => {
                write!(f, "job {}, attempt {}: {ending}", ticket.job_id, ticket.attempt)
            }
            Self::Trouble(trouble) => write!(f, "no jobs could be had: {trouble}"),
        }
    }
}
