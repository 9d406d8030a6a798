/// Reading off the main actor, beside all writers.
extension PersistentContainer {
    /// Reads one state of all rows, and returns the result of the body.
    ///
    /// ```swift
    /// let (names, count) = try await container.read { context in
    ///     (try context.values(FetchRequest<ContactEntity>(), \.name), try context.count(MessageEntity.self))
    /// }
    /// ```
    ///
    /// Everything that the body reads is from the same moment. It sees all earlier saves, including those that are not in the
    /// store yet, and no later ones. It does not wait for writers, and writers do not wait for it. During a long body the
    /// write-ahead log grows, which ``failures`` reports.
    ///
    /// **Isolation**: none; the body runs on a queue of the container. At most 6 bodies run at once; further calls wait for
    /// their turn, in their order and without blocking a thread.
    ///
    /// - Parameter body: It reads, and returns values. Objects cannot leave it.
    /// - Throws: What the body throws, what the store throws, and `CancellationError` if the task is cancelled while it waits
    ///   or while a query runs.
    public func read<Result: Sendable>(_ body: @Sendable (ReadContext) throws -> Result) async throws -> Result {
        let reader = try await readers.take()
        defer { readers.give(back: reader) }
        return try await reader.read(body).get()
    }
}
