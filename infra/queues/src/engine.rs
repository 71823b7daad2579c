//! The engine itself: one `SQLite` connection, one clock, and a channel that wakes waiting consumers.
//!
//! Everything that reads or writes does so inside [`Queues::transact`], so that a call is kept as a
//! whole or not at all.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::watch;

use crate::error::{Error, Failure, Result};
use crate::ids::IdSource;
use crate::store::schema;

/// Milliseconds since the Unix epoch; tests move it.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A durable SQS and SNS. Clones share the same queues and topics.
#[derive(Clone)]
pub struct Queues {
    shared: Arc<Shared>,
}

struct Shared {
    core: Mutex<Core>,
    clock: Clock,
    changes: watch::Sender<u64>,
}

struct Core {
    connection: Connection,
    ids: IdSource,
}

impl Queues {
    /// Opens the queues in a file, which is created when missing. What was acknowledged survives
    /// the death of the process.
    pub fn open(path: &Path, clock: Clock) -> Result<Self, Failure> {
        let connection =
            Connection::open(path).map_err(|cause| Failure::new("open the queues", cause))?;
        Self::start(connection, clock, IdSource::Random)
    }

    /// Opens the queues in a file, with identifiers that follow from the seed. A file that is
    /// opened again needs another seed, or identifiers repeat.
    pub fn open_seeded(path: &Path, clock: Clock, seed: u64) -> Result<Self, Failure> {
        let connection =
            Connection::open(path).map_err(|cause| Failure::new("open the queues", cause))?;
        Self::start(connection, clock, IdSource::seeded(seed))
    }

    /// Opens queues that live as long as this value and its clones.
    pub fn memory(clock: Clock) -> Result<Self, Failure> {
        Self::start(in_memory()?, clock, IdSource::Random)
    }

    /// Opens queues in memory whose identifiers follow from the seed, so that a run of a test can
    /// be repeated exactly.
    pub fn memory_seeded(clock: Clock, seed: u64) -> Result<Self, Failure> {
        Self::start(in_memory()?, clock, IdSource::seeded(seed))
    }

    fn start(connection: Connection, clock: Clock, ids: IdSource) -> Result<Self, Failure> {
        schema::prepare(&connection).map_err(|cause| Failure::new("prepare the queues", cause))?;
        let core = Mutex::new(Core { connection, ids });
        let (changes, _) = watch::channel(0);
        Ok(Self { shared: Arc::new(Shared { core, clock, changes }) })
    }

    /// Wakes waiting consumers, because the clock moved.
    pub fn clock_moved(&self) {
        self.notify();
    }

    /// A handle that changes whenever a message was enqueued or became visible by a call, or the
    /// clock was moved. It does not change when a delay or a visibility timeout merely runs out:
    /// for that, ask [`Queues::next_visible_at`].
    pub fn arrivals(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// What the clock says.
    pub(crate) fn now(&self) -> i64 {
        (self.shared.clock)()
    }

    /// An identifier outside any transaction.
    pub(crate) fn new_id(&self) -> Result<String> {
        self.locked(|core, _| Ok(core.ids.uuid()?))
    }

    /// Runs `work` in one transaction: kept when it is `Ok`, undone when it is `Err`.
    pub(crate) fn transact<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        let (outcome, notifies) = self
            .locked(|core, now| {
                let Core { connection, ids } = core;
                let sql = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let tx = Tx { sql, now, ids: RefCell::new(ids), notifies: Cell::new(false) };
                let outcome = work(&tx)?;
                tx.sql.commit()?;
                Ok((outcome, tx.notifies.get()))
            })
            .map_err(|error| match error {
                Error::Failed(failure) => Error::Failed(failure.during(action)),
                Error::Refused(refused) => Error::Refused(refused),
            })?;
        if notifies {
            self.notify();
        }
        Ok(outcome)
    }

    /// A panic under the lock has rolled its transaction back, so the connection is still good.
    fn locked<T>(&self, work: impl FnOnce(&mut Core, i64) -> Result<T>) -> Result<T> {
        let mut core = self.shared.core.lock();
        let now = self.now();
        work(&mut core, now)
    }

    fn notify(&self) {
        self.shared.changes.send_modify(|count| *count = count.wrapping_add(1));
    }
}

impl fmt::Debug for Queues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queues").finish_non_exhaustive()
    }
}

fn in_memory() -> Result<Connection, Failure> {
    Connection::open_in_memory().map_err(|cause| Failure::new("open queues in memory", cause))
}

/// One call in progress: its transaction, its time, and the source of its identifiers. The modules under `store` add what it can do.
pub(crate) struct Tx<'a> {
    pub(crate) sql: Transaction<'a>,
    pub(crate) now: i64,
    ids: RefCell<&'a mut IdSource>,
    notifies: Cell<bool>,
}

impl Tx<'_> {
    /// A new identifier in the form of a UUID.
    pub(crate) fn uuid(&self) -> Result<String> {
        Ok(self.ids.borrow_mut().uuid()?)
    }

    /// An unguessable text for a receipt.
    pub(crate) fn nonce(&self) -> Result<String> {
        Ok(self.ids.borrow_mut().nonce()?)
    }

    /// Wakes waiting consumers, once the transaction is committed.
    pub(crate) fn notify_on_commit(&self) {
        self.notifies.set(true);
    }
}
