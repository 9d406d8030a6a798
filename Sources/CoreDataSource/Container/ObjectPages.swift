internal import RowStore

/// Reading many objects, a page at a time.
extension PersistentContainer {
    /// Returns the values of a request in pages, which all show the same state of the store.
    ///
    /// ```swift
    /// for try await page in container.pages(as: ContactValue.self, size: 500) {
    ///     try await server.send(page)
    /// }
    /// ```
    ///
    /// The call itself reads nothing. Each loop opens a snapshot for its first page, and ends the snapshot after the last page.
    /// So the pages of a loop show all earlier saves, even saves that are not in the store yet. Later saves of this or another
    /// process do not change the pages. The pages together have the values, and the order, of ``EntityDataSource/fetch(as:_:)``
    /// at that time.
    ///
    /// **Memory**: only the objects of one page are in memory, and they are released before the page is returned. A loop also
    /// keeps the key of each object that later pages return, which takes 8 bytes, or 12 bytes if the request includes several
    /// entities. If the request includes several entities, or follows relationships, the first page also needs the rows of all
    /// objects for a moment, but only the attributes that the order uses.
    ///
    /// **Isolation**: none. Values are made on a queue of the container, like the bodies of ``read(_:)``. No queue is blocked
    /// between two pages.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - request: The request for the objects; by default all objects, in creation order.
    ///   - size: The number of values in each page except the last; 1,000 by default.
    ///   - limit: The longest time of one loop; 60 seconds by default, at most a day. The limit includes the time that the app
    ///     spends on the pages. See ``ObjectPages/Iterator/next()``.
    /// - Complexity: O(1). A whole loop takes O(n log n) for n objects: one query for the keys of all objects, and one query by
    ///   key for each page.
    public func pages<Value: ManagedObjectConvertible>(
        as type: Value.Type, _ request: ObjectRequest<Value.Object> = ObjectRequest(), size: Int = 1000,
        for limit: Duration = .seconds(60)
    ) -> ObjectPages<Value> {
        ObjectPages(container: self, request: request, size: size, limit: limit)
    }
}

/// The values of a request in pages, from ``PersistentContainer/pages(as:_:size:for:)``.
///
/// ```swift
/// let pages = container.pages(
///     as: ContactValue.self, ObjectRequest(where: \.age >= 18))
/// for try await page in pages {
///     print(page.count)
/// }
/// ```
///
/// A sequence can be used by several loops, even at the same time. Each loop has a snapshot of its own. The sequence keeps its
/// container open.
public struct ObjectPages<Value: ManagedObjectConvertible>: AsyncSequence, Sendable {
    public typealias Element = [Value]

    fileprivate let container: PersistentContainer
    fileprivate let request: ObjectRequest<Value.Object>
    fileprivate let size: Int
    fileprivate let limit: Duration

    /// Makes an iterator. The iterator reads nothing before its first page.
    ///
    /// ```swift
    /// var iterator = pages.makeAsyncIterator()
    /// ```
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// Returns the pages one by one.
    ///
    /// The snapshot ends after the last page, after an error, and when the iterator is released, for example because the loop
    /// was left. It also ends at the time limit, and when the store is reset or closed.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let pages: ObjectPages
        /// The position of the next page; nil after the last page, and after an error.
        fileprivate var position: Position? = .start

        /// Reads the next page.
        ///
        /// ```swift
        /// while let page = try await iterator.next() { print(page.count) }
        /// ```
        ///
        /// **Isolation**: none. The page is read on a queue of the container. At most 6 pages and bodies of
        /// ``PersistentContainer/read(_:)`` are read at the same time; further calls wait without blocking a thread.
        ///
        /// **Ordering**: the order of the request, from page to page.
        ///
        /// - Returns: At least one value; nil after the last page, and after an error.
        /// - Throws: The errors of ``ManagedObjectContext/fetch(_:)``; `invalidRequest` also if the size is less than 1; any
        ///   error that the value's initializer throws; `snapshotsNotKept` if the store is custom; `storeBusy` if 8 loops of
        ///   the container are open, or if large changes begin during each of several tries to open a snapshot; `pagesExpired`
        ///   after the time limit, or if the store has lost the snapshot; `storeReset` or `storeClosed` if the store was reset
        ///   or closed after the first page; `CancellationError`. After an error, the loop has ended, and its snapshot is
        ///   released.
        /// - Complexity: the first page: O(n log n) for the n objects of the request. Every other page: O(m log n) for the m
        ///   objects of the page.
        public mutating func next() async throws -> [Value]? {
            guard let position else { return nil }
            // Remove the position while the page is read, so that the iterator holds no snapshot after an error.
            self.position = nil
            let (page, next) = try await pages.container.onReadQueue { [pages] in try pages.page(at: position) }
            self.position = next
            return page.isEmpty ? nil : page
        }
    }

    fileprivate enum Position: Sendable {
        case start
        case within(PageSnapshot, PageKeys)
    }
}

extension ObjectPages {
    /// Reads a page on the current queue.
    ///
    /// - Returns: The page, and the position of the next page; nil after the last page.
    private func page(at position: Position) throws -> (page: [Value], next: Position?) {
        switch position {
        case .start:
            guard size > 0 else {
                throw DataSourceError(
                    .invalidRequest,
                    "Pages of \(size) values were requested of \(Value.Object.entityName). Use a size of 1 or more.",
                    entityName: Value.Object.entityName)
            }
            let snapshot = try container.pageSnapshots.open(for: limit)
            return try snapshot.read {
                let context = ReadContext(container.stack, .pinned(snapshot.rows))
                return try page(from: PageKeys(request, context, snapshot.rows), snapshot)
            }
        case .within(let snapshot, let keys): return try snapshot.read { try page(from: keys, snapshot) }
        }
    }

    private func page(from keys: PageKeys, _ snapshot: PageSnapshot) throws -> (page: [Value], next: Position?) {
        var keys = keys
        var page: [Value] = []
        // If the snapshot ends meanwhile, its objects may be gone. Stop then: `snapshot.read` throws, and drops the page.
        while page.count < size, !keys.isEmpty, !snapshot.rows.hasEnded {
            try Task.checkCancellation()
            // Objects live as long as their context, so each group of objects has a context of its own.
            let context = ReadContext(container.stack, .pinned(snapshot.rows))
            for object in try keys.next(size - page.count, of: size, request, context) {
                page.append(try Value(object))
            }
            // If a relationship could not be read, the initializer got nil for it. In this case, throw the error of the read.
            try context.checkRefusal()
        }
        return (page, keys.isEmpty ? nil : .within(snapshot, keys))
    }
}
