use bytes::Bytes;

/// The chunks that were sent, up to a bound of bytes.
///
/// Once cut, nothing more is kept, and what is kept lives only until the reader has passed it.
pub(super) struct Kept {
    /// The first chunk stands apart: most bodies have one, and need no list then.
    first: Option<Bytes>,
    more: Vec<Bytes>,
    /// Bytes that may still be kept; `None` once cut.
    room: Option<usize>,
}

impl Kept {
    pub(super) fn up_to(limit: usize) -> Self {
        Self {
            first: None,
            more: Vec::new(),
            room: Some(limit),
        }
    }

    /// Whether a later attempt would miss something.
    pub(super) fn is_cut(&self) -> bool {
        self.room.is_none()
    }

    /// Keeps nothing more.
    pub(super) fn cut(&mut self) {
        self.room = None;
    }

    pub(super) fn has(&self, index: usize) -> bool {
        index < usize::from(self.first.is_some()) + self.more.len()
    }

    pub(super) fn chunk(&self, index: usize) -> Option<Bytes> {
        match index.checked_sub(1) {
            None => self.first.clone(),
            Some(index) => self.more.get(index).cloned(),
        }
    }

    /// Keeps a chunk that a reader has just taken from the source, all kept ones being behind it.
    /// Answers the reader's next index.
    pub(super) fn keep(&mut self, chunk: &Bytes, next: usize) -> usize {
        if chunk.is_empty() {
            // Worth nothing to the peer, and without a bound in bytes.
            return next;
        }
        self.room = self.room.and_then(|room| room.checked_sub(chunk.len()));
        match self.room {
            None => {
                self.first = None;
                self.more = Vec::new();
                0
            }
            Some(_) if self.first.is_none() => {
                self.first = Some(chunk.clone());
                1
            }
            Some(_) => {
                self.more.push(chunk.clone());
                next + 1
            }
        }
    }
}
