/// Reading off the main actor, beside everybody who writes.
extension PersistentContainer {
    /// Reads one state of all rows, and returns the result of the body.
    ///
    /// ```swift
    /// let (names, count) = try await container.read { context in
    ///     (try context.values(FetchRequest<ContactEntity>(), \.name), try context.count(MessageEntity.self))
    /// }
    /// ```
    ///
    /// Everything that the body reads is of the same moment. Saves that were made before are seen, whether they are in the
    /// store yet or not; saves that are made meanwhile are not. It does not wait for writers, nor writers for it. During a
    /// long body the write-ahead log grows, which ``failures`` reports.
    ///
    /// **Isolation**: none; the body runs on a queue of the container. As many run at once as there are readers, 6; more
    /// calls wait for their turn, in their order and without blocking a thread.
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
