//! The wish to stop, from whoever may wish it to all who run jobs.

use tokio::sync::watch;

/// Told once, heard by every clone, also by those that listen later.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// Nobody wishes to stop yet.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Stop now: no new jobs, and those that run have to come to an end.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Waits until somebody wishes to stop.
    pub async fn called(&self) {
        let mut heard = self.0.subscribe();
        // The sender is `self`, so that this ends only with the wish.
        let _wished = heard.wait_for(|wished| *wished).await;
    }
}

/// Waits for SIGTERM or Ctrl-C. Where a signal cannot be listened for it is waited for in vain, and
/// keeps its usual meaning.
pub(crate) async fn signalled() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupted => {}
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(mut signals) = signal(SignalKind::terminate()) {
        signals.recv().await;
    } else {
        std::future::pending::<()>().await;
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending::<()>().await;
}
