public import RowStore

/// The kept history of the store.
extension PersistentContainer {
    /// The records of the kept history after a position, the oldest first.
    ///
    /// ```swift
    /// for try await record in container.history(after: position) {
    ///     for change in try record.changes(of: ContactEntity.self) {
    ///         print(change.kind, change.id)
    ///     }
    ///     position = record.position
    /// }
    /// ```
    ///
    /// The sequence ends once the loop has got the newest record. To follow later records, begin another loop after each save
    /// of ``saves``. A save has a record once the save is in the store. Records are read in pages, so a loop over a large
    /// history needs little memory. But the record of a very large save is read as a whole.
    ///
    /// **Isolation**: none. The records are read on a queue of the container.
    ///
    /// - Parameters:
    ///   - position: The position after which to begin; nil, the default, to begin with the oldest record that there is.
    ///   - filter: The records to return; by default all.
    /// - Returns: A sequence that throws `historyNotKept` if the store keeps no history; `historyExpired` if the history no
    ///   longer has all records after the position (``DataSourceError/historyStart`` is then the position before the oldest
    ///   record); `historyOfOtherStore`; errors of the store. So a loop that ends without an error has got all records.
    public func history(
        after position: HistoryPosition? = nil, where filter: HistoryFilter = HistoryFilter()
    ) -> HistoryRecords {
        HistoryRecords(self, .position(position), filter)
    }

    /// The position after the newest record of the kept history. To read all objects once and to follow the changes from then on,
    /// take the position first, and then read the objects. A save in between is then read twice, but never missed.
    ///
    /// ```swift
    /// let position = try await container.historyPosition()
    /// ```
    ///
    /// - Throws: `historyNotKept`; errors of the store.
    public func historyPosition() async throws -> HistoryPosition {
        try await readingHistory { (store) throws(DataSourceError) in try store.historyEnd() }
    }

    /// Registers a consumer of the kept history, or returns the registered consumer. The store remembers the position up to
    /// which the consumer has read. The store keeps the records that the consumer has not read, up to the limit of bytes in
    /// ``KeptHistory/kept(for:upTo:)``.
    ///
    /// ```swift
    /// let index = try await container.historyConsumer("search index")
    /// for try await record in index.records() {
    ///     try await update(record)
    ///     try await index.didRead(record.position)
    /// }
    /// ```
    ///
    /// A new consumer begins with the oldest record that there is. To begin with the next save instead, call
    /// `try await index.didRead(container.historyPosition())`.
    ///
    /// - Parameter name: The name, which is unique in the store. All processes that use the name share one position.
    /// - Throws: `historyNotKept`; errors of the store.
    public func historyConsumer(_ name: String) async throws -> HistoryConsumer {
        let position = try await readingHistory { (store) throws(DataSourceError) in
            try store.changeConsumer(name, .register)
        }
        return HistoryConsumer(container: self, name: name, historyID: Guarded(position?.historyID ?? ""))
    }

    /// Makes objects from the values of records.
    var historyObjects: DetachedObjectFactory { DetachedObjectFactory(layout: stack.layout, types: stack.types) }

    /// Runs the body with the store and its history, on a queue of the container.
    func readingHistory<Result: Sendable>(
        _ body: @Sendable (any RecordStore) throws(DataSourceError) -> Result
    ) async throws -> Result {
        guard let store = stack.root.store.recordStore else { throw DataSourceError.historyNotKept }
        return try await onReadQueue { try body(store) }
    }

    // MARK: Authors

    /// Runs the body, and gives its saves an author. Core Data calls this the `transactionAuthor`.
    ///
    /// ```swift
    /// try await container.withAuthor("importer") {
    ///     try await contacts.sync(list, entity: ContactEntity.self)
    /// }
    /// ```
    ///
    /// The author is a value of the task: it applies to all saves of this container that the body and its child tasks make,
    /// with `add`, `sync`, `perform`, drafts and calls with a callback. `Configuration.author` is the author of all other
    /// saves.
    ///
    /// Loops over ``saves`` get the author as ``CommittedSave/author``, also in other processes and without a kept history. A
    /// kept history records the author with each save: ``HistoryRecord/author``.
    ///
    /// **Isolation**: the isolation of the caller.
    ///
    /// - Throws: Any error that the body throws.
    @discardableResult
    public func withAuthor<Result>(
        _ author: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await SaveAuthor.$named.withValue(stack.authors(with: author), operation: body, isolation: isolation)
    }

    /// The form of ``withAuthor(_:isolation:_:)`` for code without `await`, such as calls of `performAndWait`.
    ///
    /// ```swift
    /// try container.withAuthor("editor") {
    ///     try contacts.performAndWait { context in
    ///         try context.fetch(ContactEntity.self).first?.note = "edited"
    ///     }
    /// }
    /// ```
    ///
    /// - Throws: Any error that the body throws.
    @discardableResult
    public func withAuthor<Result>(_ author: String, _ body: () throws -> Result) rethrows -> Result {
        try SaveAuthor.$named.withValue(stack.authors(with: author), operation: body)
    }
}

/// A registered consumer of the kept history: ``PersistentContainer/historyConsumer(_:)``.
public struct HistoryConsumer: Sendable {
    let container: PersistentContainer
    /// The name of the consumer.
    public let name: String
    /// The history in which the consumer was registered.
    let historyID: Guarded<String>

    /// The records that the consumer has not read, the oldest first.
    ///
    /// ```swift
    /// for try await record in index.records() { print(record) }
    /// ```
    ///
    /// Records that the filter leaves out count as not read until ``didRead(_:)`` stores a later position. So if the filter may
    /// leave out many records, take ``PersistentContainer/historyPosition()`` before the loop, and call ``didRead(_:)`` with it
    /// after the loop.
    ///
    /// - Parameter filter: The records to return; by default all.
    /// - Returns: A sequence with the errors of ``PersistentContainer/history(after:where:)``. It throws `historyNotKept` if
    ///   this or another process has removed the consumer. If the history has reached its limit of bytes and has dropped
    ///   records that the consumer has not read, it throws `historyExpired`, until ``didRead(_:)`` has stored
    ///   ``DataSourceError/historyStart``. After a reset, the consumer is registered in the new history. In this case, if the
    ///   history was off for a time, and in a store that was restored from a copy, the first record is of the kind
    ///   ``HistoryKind/reset``.
    public func records(where filter: HistoryFilter = HistoryFilter()) -> HistoryRecords {
        HistoryRecords(container, .consumer(self), filter)
    }

    /// Stores the position up to which the consumer has read all records. A position before the stored position changes
    /// nothing.
    ///
    /// ```swift
    /// try await index.didRead(record.position)
    /// ```
    ///
    /// **Complexity**: one small transaction.
    ///
    /// - Throws: `historyNotKept` if the consumer was removed; `historyOfOtherStore`, `historyExpired`; errors of the store.
    public func didRead(_ position: HistoryPosition) async throws { _ = try await change(.move(position)) }

    /// Removes the consumer, so that no records are kept for it.
    ///
    /// ```swift
    /// try await index.remove()
    /// ```
    ///
    /// - Throws: `historyNotKept`; errors of the store.
    public func remove() async throws { _ = try await change(.remove) }

    func change(_ change: ConsumerChange) async throws -> HistoryPosition? {
        let name = name
        return try await container.readingHistory { (store) throws(DataSourceError) in
            try store.changeConsumer(name, change)
        }
    }

    /// Returns the position from which to read.
    fileprivate func resume(_ store: any RecordStore) throws(DataSourceError) -> HistoryPosition? {
        let position = try store.changeConsumer(name, .resume(historyID: historyID.withLock { $0 }))
        if let position { historyID.withLock { $0 = position.historyID } }
        return position
    }
}

/// The records of the kept history, for one loop: ``PersistentContainer/history(after:where:)``.
public struct HistoryRecords: AsyncSequence, Sendable {
    enum Start: Sendable {
        case position(HistoryPosition?)
        case consumer(HistoryConsumer)
    }

    fileprivate let container: PersistentContainer
    private let start: Start
    private let filter: HistoryFilter

    init(_ container: PersistentContainer, _ start: Start, _ filter: HistoryFilter) {
        self.container = container
        self.start = start
        self.filter = filter.resolved(container.stack.layout)
    }

    /// Begins a loop.
    ///
    /// ```swift
    /// var iterator = container.history().makeAsyncIterator()
    /// let first = try await iterator.next()
    /// ```
    public func makeAsyncIterator() -> Iterator { Iterator(records: self) }

    /// Returns the records one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private let records: HistoryRecords
        /// The records of the page that were not returned yet.
        private var read: IndexingIterator<[HistoryRecord]> = [].makeIterator()
        /// The position after the page; nil before the first page.
        private var position: HistoryPosition?
        private var isMore = true

        fileprivate init(records: HistoryRecords) {
            self.records = records
        }

        /// Reads the next record; nil after the newest one.
        ///
        /// ```swift
        /// if let record = try await iterator.next() { print(record.kind) }
        /// ```
        ///
        /// - Throws: The errors of ``PersistentContainer/history(after:where:)``; `CancellationError`.
        public mutating func next() async throws -> HistoryRecord? {
            while true {
                if let record = read.next() { return record }
                if !isMore { return nil }
                let page = try await records.read(after: position)
                let objects = records.container.historyObjects
                read = page.records.map { HistoryRecord($0, page.historyID, objects) }.makeIterator()
                (position, isMore) = (page.position, page.isMore)
            }
        }
    }

    fileprivate func read(after position: HistoryPosition?) async throws -> HistoryPage {
        let (start, filter) = (start, filter)
        return try await container.readingHistory { (store) throws(DataSourceError) in
            let first =
                switch start {
                case .position(let first): first
                case .consumer(let consumer): position == nil ? try consumer.resume(store) : nil
                }
            return try store.readHistory(after: position ?? first, filter)
        }
    }
}
