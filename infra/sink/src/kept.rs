//! What was sent, newest first, and no more of it than there is room for.

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use domain::Timestamp;
use parking_lot::Mutex;

use crate::message::Draft;
use crate::{Message, Via};

#[derive(Debug)]
pub(crate) struct Kept {
    room: usize,
    file: Option<PathBuf>,
    shelf: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    last: u64,
    messages: VecDeque<Arc<Message>>,
}

impl Kept {
    pub(crate) fn new(room: usize, file: Option<PathBuf>) -> Self {
        Self { room, file, shelf: Mutex::default() }
    }

    pub(crate) fn keep(&self, draft: Draft, at: Timestamp, via: Via) -> u64 {
        let mut kept = self.lock();
        kept.last += 1;
        let message = Arc::new(draft.numbered(kept.last, at, via));
        self.append(&message);
        kept.messages.push_front(message);
        kept.messages.truncate(self.room);
        kept.last
    }

    /// One line of JSON for each. What cannot be written is still on the page.
    fn append(&self, message: &Message) {
        let Some(path) = &self.file else { return };
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        if let (Ok(mut file), Ok(line)) = (file, serde_json::to_string(message)) {
            let _written = writeln!(file, "{line}");
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<Message>> {
        self.lock().messages.iter().cloned().collect()
    }

    pub(crate) fn clear(&self) {
        self.lock().messages.clear();
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Shelf> {
        self.shelf.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_the_oldest_makes_room() {
        let kept = Kept::new(2, None);
        for title in ["one", "two", "three"] {
            let draft = Draft { title: title.to_owned(), ..Draft::default() };
            kept.keep(draft, Timestamp::UNIX_EPOCH, Via::Sms);
        }
        let titles: Vec<_> = kept.all().iter().map(|kept| (kept.id, kept.title.clone())).collect();
        assert_eq!(titles, [(3, "three".to_owned()), (2, "two".to_owned())]);
        kept.clear();
        assert!(kept.all().is_empty());
    }
}
