//! The signals that stop a worker.

/// Waits for SIGTERM or Ctrl-C; for ever where signals cannot be handled, which then keep their usual effect.
pub(crate) async fn shutdown() {
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
