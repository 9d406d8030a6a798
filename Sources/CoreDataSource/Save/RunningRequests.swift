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
    /// The answer, if it is a complete list; nil for other answers.
    var list: CompleteList?
    /// Identifies the rows of the answer in ``RunningRequests``. Each page of a list has a number of its own.
    var answer = Int64.random(in: .min ... .max)
}

/// A complete list that an answer has stored: all other rows of the entities that match its predicate are missing in the list.
struct CompleteList: Sendable {
    /// The entities of the listed objects.
    let family: [Int]
    /// The query of the list, for each of the entities. A part of the predicate that needs objects is left out.
    let query: RowQuery
    /// Whether an object is on an earlier page.
    private var isOnEarlierPage: @Sendable (_ entity: Int, _ key: Int64) -> Bool
    /// The number of objects on earlier pages, whose keys the list keeps.
    private(set) var earlierCount: Int

    init(
        _ family: [Int], _ query: RowQuery, earlierCount: Int,
        isOnEarlierPage: @escaping @Sendable (_ entity: Int, _ key: Int64) -> Bool
    ) {
        self.family = family
        self.query = query
        self.earlierCount = earlierCount
        self.isOnEarlierPage = isOnEarlierPage
    }

    func hasOnEarlierPage(entity: Int, key: Int64) -> Bool { isOnEarlierPage(entity, key) }

    /// Forgets the objects on earlier pages, so that these objects count as missing in the list.
    mutating func forgetKeys() {
        isOnEarlierPage = { _, _ in false }
        earlierCount = 0
    }
}

/// The running requests of loads, and the rows that others have saved since these requests began.
///
/// An answer must not replace what an answer to a later request has stored, even if the later request is for another scope or for
/// a single object. A server makes its answer at an unknown time between the beginning of the request and the arrival of the
/// answer. So while a request is running, this class keeps the keys of the rows that other answers store, and of all rows that
/// other members of a shared store save. It also keeps the keys of the rows that other saves insert or link, because the server may
/// not have known these rows yet: a sweep during the save of the answer does not delete them. It keeps nothing else.
///
/// It keeps at most ``keyLimit`` keys. Beyond that, it only knows the entities of the saved rows, and the predicates of complete
/// lists. Then an answer that changes or deletes any row of these entities is refused, so that its load begins again. An answer
/// that only inserts rows is refused if rows of the entity were deleted, or if a complete list should have the rows. If rows of
/// an entity were inserted or linked, a sweep deletes no rows of this entity.
package final class RunningRequests: Sendable {
    /// Rows that were saved while requests were running.
    struct Saved: Sendable {
        fileprivate(set) var rows: SavedRows
        /// The rows matter to the requests with lower numbers.
        fileprivate(set) var limit: Int64
        /// The request whose answer has the rows; nil if there is none.
        fileprivate(set) var request: Int64?
        /// The number of the answer that has the rows; nil if there is none.
        let answer: Int64?
        /// The complete list to which the rows belong; nil if there is none.
        fileprivate(set) var list: CompleteList?
        /// Whether another member has saved the rows, so that it is not known whether they are an answer.
        let isOfOtherMember: Bool

        /// Whether this container has saved the rows without an answer.
        fileprivate var isOwn: Bool { answer == nil && !isOfOtherMember }

        /// The number of kept keys.
        fileprivate var keyCount: Int { rows.count + (list?.earlierCount ?? 0) }

        /// Forgets which rows of their entities were saved.
        fileprivate mutating func forgetKeys() {
            rows.forgetKeys()
            list?.forgetKeys()
        }
    }

    private struct State {
        /// The number of the newest request.
        var newest: Int64 = 0
        var running: Set<Int64> = []
        /// No request with a lower number is running.
        private var oldest: Int64 = 1
        /// The rows that matter to running requests, in the order of their limits.
        private(set) var saved: [Saved] = []
        private(set) var keyCount = 0
        /// The largest number of keys.
        var keyLimit = RunningRequests.keyLimit

        /// Forgets rows that matter to no running request.
        mutating func trim() {
            while oldest <= newest, !running.contains(oldest) { oldest += 1 }
            let count = saved.firstIndex { $0.limit > oldest } ?? saved.count
            if count == 0 { return }
            keyCount -= saved[..<count].reduce(0) { $0 + $1.keyCount }
            saved.removeFirst(count)
        }

        mutating func add(_ new: Saved) {
            let last = saved.count - 1
            if last >= 0, saved[last].isOwn, new.isOwn, saved[last].limit == new.limit {
                // An app may save many times during a request.
                keyCount -= saved[last].keyCount
                saved[last].rows.formUnion(new.rows)
                keyCount += saved[last].keyCount
            } else {
                saved.append(new)
                keyCount += new.keyCount
            }
            if keyCount > keyLimit { forgetKeys() }
            if saved.count > RunningRequests.saveLimit { forgetSaves() }
        }

        /// Forgets the rows of an answer.
        mutating func remove(_ answer: Int64) {
            saved.removeAll { one in
                guard one.answer == answer else { return false }
                keyCount -= one.keyCount
                return true
            }
        }

        /// Forgets which rows of their entities were saved.
        private mutating func forgetKeys() {
            for index in saved.indices { saved[index].forgetKeys() }
            keyCount = 0
        }

        /// Forgets who has saved the rows. From now on, the pages of a load count as rows of others, so its later pages may be
        /// requested again.
        private mutating func forgetSaves() {
            forgetKeys()
            var merged: [Bool: Saved] = [:]
            for one in saved {
                var all =
                    merged[one.isOfOtherMember]
                    ?? Saved(
                        rows: SavedRows(), limit: 0, request: nil, answer: nil, isOfOtherMember: one.isOfOtherMember)
                all.limit = one.limit
                all.rows.formUnion(one.rows)
                if let list = one.list { all.rows.formUnion(SavedRows(anyOf: list.family)) }
                merged[one.isOfOtherMember] = all
            }
            saved = merged.values.sorted { $0.limit < $1.limit }
        }
    }

    private let state = Guarded(State())
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
    package func keep(atMost count: Int) { state.withLock { $0.keyLimit = count } }
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
        add { limit in
            Saved(
                rows: rows, limit: limit, request: request.number, answer: request.answer, list: request.list,
                isOfOtherMember: false)
        }
    }

    /// Forgets the rows of an answer that could not be stored, so that they refuse no other answers.
    func forget(_ answer: Int64, after error: any Error) {
        // If the outcome is unknown, the rows may be stored.
        if (error as? DataSourceError)?.code == .outcomeUnknown { return }
        state.withLock { $0.remove(answer) }
    }

    /// Records the rows that another member has saved.
    ///
    /// - Parameter rows: Returns the rows. Not called if no request is running.
    func record(ofOtherMember rows: () -> SavedRows) {
        if !isAnyRunning { return }
        let rows = rows()
        add { Saved(rows: rows, limit: $0, request: nil, answer: nil, isOfOtherMember: true) }
    }

    /// Records the rows that a save without an answer inserts or links.
    func record(arrived changes: ChangeSet, _ layout: ModelLayout) {
        if !isAnyRunning { return }
        let rows = SavedRows(arrived: changes, layout)
        if rows.hasArrivals { add { Saved(rows: rows, limit: $0, request: nil, answer: nil, isOfOtherMember: false) } }
    }

    /// Each save asks for this. A key path in the place of the closure would cost a thousand instructions.
    private var isAnyRunning: Bool { state.withLock { !$0.running.isEmpty } }

    private func add(_ saved: (_ limit: Int64) -> Saved) {
        state.withLock { state in
            if state.running.isEmpty { return }
            state.add(saved(state.newest + 1))
        }
    }
}

/// The rows that a save has stored or deleted.
struct SavedRows: Sendable {
    /// The unique values of a row. An object that was deleted and is inserted again has another key.
    private struct Identity: Hashable {
        /// The entity that declares the constraint.
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
    /// The entities of inserted, changed and listed rows whose keys were forgotten.
    private var forgottenEntities: Set<Int> = []
    /// The owners of the constraints of deleted rows whose unique values were forgotten.
    private var forgottenOwners: Set<Int> = []
    /// The rows that were inserted or linked to another row.
    private var arrived: Set<Row> = []
    /// The entities of such rows whose keys were forgotten.
    private var arrivedEntities: Set<Int> = []
    /// Whether not even the entities are known.
    private var isUnknown = false

    static let unknown = SavedRows(isUnknown: true)

    init() {}

    private init(isUnknown: Bool) { self.isUnknown = isUnknown }

    /// Any rows of the entities may have been stored or deleted.
    init(anyOf entities: some Sequence<Int>) {
        self.entities = Set(entities)
        forgottenEntities = self.entities
    }

    /// The rows that a save has inserted or linked. A sweep deletes only rows with a column for their owner.
    init(arrived changes: ChangeSet, _ layout: ModelLayout) {
        for changes in changes.entities {
            let (entity, layout) = (changes.entity, layout.entities[changes.entity])
            if layout.links != nil || layout.linkColumns.isEmpty { continue }
            arrived.formUnion(changes.inserted.lazy.map { Row(entity: entity, key: $0.key) })
            for row in changes.updated where layout.linkColumns.contains(where: row.columns.contains) {
                arrived.insert(Row(entity: entity, key: row.key))
            }
        }
    }

    /// The rows that another member has saved.
    init(ofOtherMember changes: ChangeSet, _ layout: ModelLayout) {
        self.init(changes, layout)
        arrived = SavedRows(arrived: changes, layout).arrived
    }

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

    /// Whether a row was inserted, changed or listed, or may have been.
    func mayContain(entity: Int, key: Int64) -> Bool {
        isUnknown || forgottenEntities.contains(entity) || contains(entity: entity, key: key)
    }

    /// Whether a row was inserted or linked, or may have been.
    func mayHaveArrived(entity: Int, key: Int64) -> Bool {
        isUnknown || arrivedEntities.contains(entity) || arrived.contains(Row(entity: entity, key: key))
    }

    /// Whether any row was inserted or linked, or may have been.
    var hasArrivals: Bool { isUnknown || !arrivedEntities.isEmpty || !arrived.isEmpty }

    /// The number of kept keys.
    var count: Int { rows.count + deleted.count + arrived.count }

    /// Keeps only the entities of the rows.
    mutating func forgetKeys() {
        for row in rows { forgottenEntities.insert(row.entity) }
        for row in deleted { forgottenOwners.insert(row.owner) }
        for row in arrived { arrivedEntities.insert(row.entity) }
        (rows, deleted, arrived) = ([], [], [])
    }

    /// Adds what is known of inserted and linked rows.
    mutating func formUnion(arrivedIn other: SavedRows) {
        arrived.formUnion(other.arrived)
        arrivedEntities.formUnion(other.arrivedEntities)
        isUnknown = isUnknown || other.isUnknown
    }

    mutating func formUnion(_ other: SavedRows) {
        formUnion(arrivedIn: other)
        rows.formUnion(other.rows)
        deleted.formUnion(other.deleted)
        entities.formUnion(other.entities)
        forgottenEntities.formUnion(other.forgottenEntities)
        forgottenOwners.formUnion(other.forgottenOwners)
    }

    /// Whether a change set changes or deletes any of the rows, or inserts rows that were deleted.
    func areReplaced(by changes: ChangeSet, _ layout: ModelLayout) -> Bool {
        if isUnknown { return !changes.entities.isEmpty }
        if count == arrived.count, entities.isEmpty, forgottenEntities.isEmpty, forgottenOwners.isEmpty { return false }
        return changes.entities.contains { changes in
            let (entity, layout) = (changes.entity, layout.entities[changes.entity])
            if forgottenEntities.contains(entity), !changes.updated.isEmpty || !changes.deleted.isEmpty { return true }
            if changes.updated.contains(where: { contains(entity: entity, key: $0.key) }) { return true }
            if changes.deleted.contains(where: { contains(entity: entity, key: $0.key) }) { return true }
            if changes.inserted.isEmpty { return false }
            if entities.contains(entity) || !forgottenOwners.isDisjoint(with: layout.constraintOwners) { return true }
            if deleted.isEmpty { return false }
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
