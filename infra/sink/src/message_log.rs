//! The messages that were sent, newest first, up to a capacity.

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use domain::Timestamp;
use parking_lot::Mutex;

use crate::message::ReceivedMessage;
use crate::{ProviderKind, SinkMessage};

#[derive(Debug)]
pub(crate) struct MessageLog {
    capacity: usize,
    file: Option<PathBuf>,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    last: u64,
    messages: VecDeque<Arc<SinkMessage>>,
}

impl MessageLog {
    pub(crate) fn new(capacity: usize, file: Option<PathBuf>) -> Self {
        Self { capacity, file, log: Mutex::default() }
    }

    pub(crate) fn push(&self, received: ReceivedMessage, at: Timestamp, via: ProviderKind) -> u64 {
        let mut log = self.lock();
        log.last += 1;
        let message = Arc::new(received.with_id(log.last, at, via));
        self.append_to_file(&message);
        log.messages.push_front(message);
        log.messages.truncate(self.capacity);
        log.last
    }

    /// One line of JSON for each. What cannot be written is still on the page.
    fn append_to_file(&self, message: &SinkMessage) {
        let Some(path) = &self.file else { return };
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        if let (Ok(mut file), Ok(line)) = (file, serde_json::to_string(message)) {
            let _written = writeln!(file, "{line}");
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<SinkMessage>> {
        self.lock().messages.iter().cloned().collect()
    }

    pub(crate) fn clear(&self) {
        self.lock().messages.clear();
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Log> {
        self.log.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_the_oldest_makes_room() {
        let log = MessageLog::new(2, None);
        for title in ["one", "two", "three"] {
            let received =
                ReceivedMessage { title: title.to_owned(), ..ReceivedMessage::default() };
            log.push(received, Timestamp::UNIX_EPOCH, ProviderKind::Sms);
        }
        let titles: Vec<_> = log.all().iter().map(|it| (it.id, it.title.clone())).collect();
        assert_eq!(titles, [(3, "three".to_owned()), (2, "two".to_owned())]);
        log.clear();
        assert!(log.all().is_empty());
    }
}
