internal import Foundation
internal import RowStore

/// A request whose answer a batch stores. A load of pages counts as one request.
struct AnsweredRequest: Sendable {
    /// The number of the request in ``RunningRequests``; nil if the app made the request itself.
    let number: Int64?
    let requestedAt: Date
    /// The name of the scope; empty for an object without a scope.
    let scope: String
    /// Whether the load requests the list once more if this answer is refused.
    var canRequestAgain = true
    /// The largest number of requests of a load.
    static let attempts = 3
    /// The complete list that the answer is, as contexts know it; nil for other answers.
    var list: (any Sendable)?
}

/// The running requests of loads, and the rows that others have saved since these requests began.
///
/// An answer must not replace what an answer to a later request has stored, also if the other answer belongs to another scope
/// or to a single object. It is not known when the server has made an answer: at any time between the beginning of the request
/// and the answer. So while a request is running, this class keeps the keys of the rows that other answers store, and of all
/// rows that other members of a shared store save. It keeps nothing else: without overlapping requests, and without other
/// members, it only counts requests.
///
/// It keeps at most ``keyLimit`` keys. Beyond that, it only knows that some rows were saved. Then an answer that changes any row
/// is refused, so that its load begins again.
package final class RunningRequests: Sendable {
    /// Rows that were saved while requests were running.
    struct Saved: Sendable {
        let rows: SavedRows
        /// The rows matter to the requests with lower numbers.
        let limit: Int64
        /// The request whose answer has the rows; nil if there is none.
        let request: Int64?
        /// The complete list to which the rows belong; nil if there is none.
        var list: (any Sendable)?
        /// Whether another member has saved the rows, so that it is not known whether they are an answer.
        let isOfOtherMember: Bool
    }

    private struct State {
        /// The number of the newest request.
        var newest: Int64 = 0
        var running: Set<Int64> = []
        /// The rows that matter to running requests.
        var saved: [Saved] = []
        var keyCount = 0

        /// Forgets rows that matter to no running request.
        mutating func trim() {
            let oldest = running.min() ?? .max
            saved.removeAll { $0.limit <= oldest }
            keyCount = saved.reduce(0) { $0 + $1.rows.count }
        }

        mutating func add(_ new: Saved, keyLimit: Int) {
            saved.append(new)
            keyCount += new.rows.count
            guard keyCount > keyLimit || saved.count > RunningRequests.saveLimit else { return }
            forgetKeys()
        }

        /// Forgets which rows were saved.
        private mutating func forgetKeys() {
            // A load may store its own later pages. If there are too many requests, the pages are requested again.
            let isLong = saved.count > RunningRequests.saveLimit
            var limits: [Origin: Int64] = [:]
            for one in saved {
                let origin = Origin(request: isLong ? nil : one.request, isOfOtherMember: one.isOfOtherMember)
                limits[origin] = max(limits[origin] ?? 0, one.limit)
            }
            saved = limits.map { origin, limit in
                Saved(rows: .unknown, limit: limit, request: origin.request, isOfOtherMember: origin.isOfOtherMember)
            }
            keyCount = 0
        }
    }

    /// Who has saved rows.
    private struct Origin: Hashable {
        let request: Int64?
        let isOfOtherMember: Bool
    }

    private let state = Guarded(State())
    private let limit = Guarded(RunningRequests.keyLimit)
    /// The largest number of keys. They take a few megabytes.
    package static let keyLimit = 100_000
    /// The largest number of saves.
    private static let saveLimit = 10_000

    package init() {}

    // MARK: For tests

    /// The number of keys that are kept.
    package var keyCount: Int { state.withLock(\.keyCount) }
    /// The number of running requests.
    package var requestCount: Int { state.withLock(\.running.count) }
    /// The largest number of keys that are kept.
    package func keep(atMost count: Int) { limit.withLock { $0 = count } }
}

extension RunningRequests {
    /// Records that a request begins.
    ///
    /// - Returns: The number of the request.
    func begin() -> Int64 {
        state.withLock { state in
            state.newest += 1
            state.running.insert(state.newest)
            return state.newest
        }
    }

    /// Records that the answer to a request is stored or dropped.
    func end(_ number: Int64) {
        state.withLock { state in
            state.running.remove(number)
            state.trim()
        }
    }

    /// Returns the rows that others have saved since a request has begun. Returns none for requests of the app.
    func saved(since request: AnsweredRequest) -> [Saved] {
        guard let number = request.number else { return [] }
        return state.withLock { state in
            state.saved.isEmpty ? [] : state.saved.filter { $0.limit > number && $0.request != number }
        }
    }

    /// Whether any other request is running.
    func hasOthers(than request: AnsweredRequest) -> Bool {
        state.withLock { state in state.running.contains { $0 != request.number } }
    }

    /// Records the rows that an answer stores.
    func record(_ rows: SavedRows, from request: AnsweredRequest) {
        add(rows, request: request.number, list: request.list, isOfOtherMember: false)
    }

    /// Records the rows that another member has saved.
    ///
    /// - Parameter rows: Returns the rows. Not called if no request is running.
    func record(ofOtherMember rows: () -> SavedRows) {
        if state.withLock(\.running.isEmpty) { return }
        add(rows(), request: nil, list: nil, isOfOtherMember: true)
    }

    private func add(_ rows: SavedRows, request: Int64?, list: (any Sendable)?, isOfOtherMember: Bool) {
        let keyLimit = limit.withLock { $0 }
        state.withLock { state in
            if state.running.isEmpty { return }
            let saved = Saved(
                rows: rows, limit: state.newest + 1, request: request, list: list, isOfOtherMember: isOfOtherMember)
            state.add(saved, keyLimit: keyLimit)
        }
    }
}

/// The rows that a save has stored or deleted.
struct SavedRows: Sendable {
    /// The unique values of a row. An object that was deleted and is inserted again has another key.
    private struct Identity: Hashable {
        let owner: Int
        let columns: [Int]
        let values: [RowValue]
    }

    private struct Row: Hashable {
        let entity: Int
        let key: Int64
    }

    /// The inserted, changed and listed rows.
    private var rows: Set<Row> = []
    private var deleted: Set<Identity> = []
    /// The entities of deleted rows without unique values.
    private var entities: Set<Int> = []
    /// Whether it is not known which rows were saved.
    private var isUnknown = false

    static let unknown = SavedRows(isUnknown: true)

    private init(isUnknown: Bool) { self.isUnknown = isUnknown }

    /// - Parameter listed: The rows that the save has confirmed.
    init(_ changes: ChangeSet, listed: some Sequence<(entity: Int, key: Int64)> = [], _ layout: ModelLayout) {
        for (entity, key) in listed { rows.insert(Row(entity: entity, key: key)) }
        for changes in changes.entities {
            let entity = changes.entity
            rows.formUnion(changes.inserted.lazy.map { Row(entity: entity, key: $0.key) })
            rows.formUnion(changes.updated.lazy.map { Row(entity: entity, key: $0.key) })
            for row in changes.deleted {
                let identities = SavedRows.identities(row.row, layout.entities[entity])
                if identities.isEmpty { entities.insert(entity) }
                deleted.formUnion(identities)
            }
        }
    }

    func contains(entity: Int, key: Int64) -> Bool { rows.contains(Row(entity: entity, key: key)) }

    /// The number of kept keys.
    var count: Int { rows.count + deleted.count }

    /// Whether a change set changes or deletes any of the rows, or inserts rows that were deleted.
    func areReplaced(by changes: ChangeSet, _ layout: ModelLayout) -> Bool {
        if isUnknown { return !changes.entities.isEmpty }
        return changes.entities.contains { changes in
            let entity = changes.entity
            if changes.updated.contains(where: { contains(entity: entity, key: $0.key) }) { return true }
            if changes.deleted.contains(where: { contains(entity: entity, key: $0.key) }) { return true }
            if changes.inserted.isEmpty || deleted.isEmpty && entities.isEmpty { return false }
            if entities.contains(entity) { return true }
            let layout = layout.entities[entity]
            return changes.inserted.contains { !SavedRows.identities($0.row, layout).isDisjoint(with: deleted) }
        }
    }

    private static func identities(_ row: RowSnapshot, _ layout: EntityLayout) -> Set<Identity> {
        var found: Set<Identity> = []
        for (constraint, columns) in layout.constraints.enumerated() {
            let values = columns.map { row.value($0, layout.columns[$0].storage) }
            if values.contains(.null) { continue }
            found.insert(Identity(owner: layout.constraintOwners[constraint], columns: columns, values: values))
        }
        return found
    }
}
