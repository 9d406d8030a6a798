/// A batch that uses leases for which others wait.
struct LongBatch: Equatable {
    /// The name of its data source.
    let source: String
    let begin: ContinuousClock.Instant
}
