/// A read transaction that stays open from one look-up to the next, because beginning and ending one takes as long as the look-up.
///
/// It shows the store as it was when it began, so it ends as soon as the store is written. Other programs may write, too, which
/// is not noticed at once, and SQLite cannot empty the write-ahead log while it is open; so it also ends after a while.
struct KeptRead {
    /// The age from which it is not used any more; one that nobody uses is ended then.
    static let longest = Duration.milliseconds(10)

    /// How often the store had been written when it began.
    let writes: UInt64
    private let start = ContinuousClock.now

    var isOld: Bool { ContinuousClock.now - start > KeptRead.longest }
}
