/// Reading off the main actor, beside everybody who writes.
extension PersistentContainer {
    /// Reads one state of all rows, and returns what the body made of it.
    ///
    /// ```swift
    /// let (names, count) = try await container.read { context in
    ///     (try context.values(FetchRequest<ContactEntity>(), \.name), try context.count(MessageEntity.self))
    /// }
    /// ```
    ///
    /// All that the body reads is of the same moment: saves that are made meanwhile are not seen, and those that were made
    /// before are, whether they are in the store yet or not. It waits for no writer, and holds none up. A body that takes
    /// long keeps the write-ahead log from being restarted, which ``failures`` reports.
    ///
    /// **Isolation**: none; the body runs on a queue of the container. As many run at once as there are readers, 6; more
    /// calls wait for their turn, in their order and without blocking a thread.
    ///
    /// - Parameter body: Reads. Objects stay in it; it returns values.
    /// - Throws: What the body throws, what the store throws, and `CancellationError` if the task is cancelled while it waits
    ///   or while a query runs.
    public func read<Result: Sendable>(_ body: @Sendable (ReadContext) throws -> Result) async throws -> Result {
        let reader = try await readers.take()
        defer { readers.give(back: reader) }
        return try await reader.read(body)
    }
}
