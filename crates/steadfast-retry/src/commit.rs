/// When an answer counts as the caller's, so that no other attempt may follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commit {
    /// With its head; for gRPC with its first frame, so that a status that comes alone in the
    /// trailers can still be answered by another attempt. Not so for unprotected calls, which
    /// could not be repeated: what their trailers say reaches neither budget nor observer. The
    /// default.
    #[default]
    FirstFrame,
    /// With its head, also for gRPC: as gRFC A6 has it.
    Head,
    /// With its end: the body is read first, so that one that breaks can be asked for again. A
    /// body longer than `limit` bytes is handed on when that many were read. For small answers
    /// that are of no use in part; not for streams.
    WholeBody {
        /// Bytes that are read at most; a frame counts as 32 at least.
        limit: usize,
    },
}
