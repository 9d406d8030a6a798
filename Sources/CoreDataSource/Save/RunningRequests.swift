internal import Foundation
internal import RowStore
internal import Synchronization

/// A complete list that an answer has stored: all objects of its entities that match its predicate on the server. A stored row
/// that also matches, but is not in the list, counts as missing in the list.
struct CompleteList: Sendable {
    /// The entities of the listed objects.
    let family: [Int]
    /// The query of the list, for each of the entities. Parts of the predicate that only objects can evaluate are left out.
    let query: RowQuery
    /// Whether the server has only said that the list is not modified, so that the answer names no objects.
    var isConfirmed = false
    /// Whether a load of another member has stored only the first pages of the list. A missing object may be on a later page.
    var isPart = false
    /// The objects on earlier pages of the list. After these objects were forgotten, they count as missing in the list.
    var earlier: Set<LinkEnd>
}

/// The running requests of loads, and the rows that others have saved since these requests began.
///
/// An answer must not replace what an answer to a later request has stored, even if the later request is for another scope or for a
/// single object. A server makes its answer at an unknown time between the beginning of the request and the arrival of the answer.
/// So while a request is running, this class keeps:
/// - the keys of the rows that other answers store, and of all rows that other members of a shared store save;
/// - the keys of the rows that other saves insert or link. The server might not have known these rows when it made the answer. So a
///   sweep, which deletes rows that are missing in the answer, must keep these rows;
/// - the complete lists of other answers;
/// - the numbers of the answers that this container stores.
///
/// A link of a many-to-many or a one-to-one relationship belongs to both of its objects (``LinkOwners``). So an answer that changes
/// such a link changes the links of both objects. If the work of an answer has read or set a relationship of an object, the links
/// of this relationship belong to the answer, even if the answer changes no link.
///
/// The class keeps at most ``keyLimit`` keys. Beyond this limit, the class knows only the entities of the saved rows, and the
/// predicates of complete lists. The same is true for a save of another member if the feed has only the entities of the save. If
/// the keys of an entity's saved rows are unknown, an answer that changes or deletes any row of the entity is refused, and its load
/// begins again. An answer that only inserts rows of the entity is refused if rows of the entity were deleted, or if the inserted
/// rows match the predicate of a complete list. If rows of the entity were inserted or linked, a sweep deletes no rows of the
/// entity. Beyond ``saveLimit`` saves, the class knows only the entities. It has then forgotten the lists, and who has saved the
/// rows.
package final class RunningRequests: Sendable {
    /// Who has saved rows.
    enum Origin: Hashable {
        /// This container, in a save that stores no answer.
        case save
        /// Another member. It is not known whether the rows are an answer.
        case otherMember
        /// An answer to a request. The number of the request is nil for an answer that the app passes to `apply`, without a
        /// load. ``AnsweredRequest/answer`` identifies the answer.
        case answer(request: Int64?, Int64)
        /// Saves of this container. It is no longer known which of them are answers.
        case forgotten

        /// Whether the rows are, or may be, those of an answer that this container has stored.
        var isAnswer: Bool { self != .save && self != .otherMember }

        fileprivate func isRequest(_ number: Int64) -> Bool {
            if case .answer(number, _) = self { true } else { false }
        }
    }

    /// Rows that were saved while requests were running.
    struct Saved: Sendable {
        fileprivate(set) var rows: SavedRows
        /// The rows matter to the requests with numbers below this limit.
        fileprivate(set) var limit: Int64
        let origin: Origin
        /// The complete list to which the rows belong; nil if there is none.
        fileprivate(set) var list: CompleteList?

        /// Whether both are pages of the same load, or the same answer.
        func isOfSameRequest(as other: Saved) -> Bool {
            guard case .answer(let number?, _) = origin else { return origin == other.origin }
            return other.origin.isRequest(number)
        }

        /// The number of kept keys.
        fileprivate var keyCount: Int { rows.count + (list?.earlier.count ?? 0) }

        /// Keeps only the entities of the saved rows.
        fileprivate mutating func forgetKeys() {
            rows.forgetKeys()
            list?.earlier = []
        }
    }

    private struct State {
        /// The number of the newest request.
        var newest: Int64 = 0
        var running: Set<Int64> = []
        /// The ``AnsweredRequest/answer`` of each answer that this container has stored while requests were running, or while it
        /// was storing answers.
        private(set) var answers: Set<Int64> = []
        /// The number of answers that are being stored.
        private var storingCount = 0
        /// No request with a lower number is running.
        private var oldest: Int64 = 1
        /// The rows that matter to running requests, in the order of their limits.
        private(set) var saved: [Saved] = []
        private(set) var keyCount = 0
        /// The largest number of keys.
        var keyLimit = RunningRequests.keyLimit
        /// The largest number of saves.
        var saveLimit = RunningRequests.saveLimit
        var comparisonCount = 0

        mutating func beginStoring(_ answer: Int64) {
            storingCount += 1
            // A forgotten answer counts as an answer of another member.
            if answers.count >= saveLimit { answers = [] }
            answers.insert(answer)
        }

        mutating func endStoring() {
            storingCount -= 1
            forgetAnswers()
        }

        /// Forgets the answers of this container when no request is running and no answer is being stored. A later request finds
        /// these answers in the store.
        private mutating func forgetAnswers() {
            if running.isEmpty, storingCount == 0 { answers = [] }
        }

        /// Forgets answers and rows that matter to no running request.
        mutating func trim() {
            forgetAnswers()
            while oldest <= newest, !running.contains(oldest) { oldest += 1 }
            let count = saved.firstIndex { $0.limit > oldest } ?? saved.count
            if count == 0 { return }
            keyCount -= saved[..<count].reduce(0) { $0 + $1.keyCount }
            saved.removeFirst(count)
        }

        mutating func add(_ new: Saved) {
            let last = saved.count - 1
            if last >= 0, saved[last].origin == .save, new.origin == .save,
                saved[last].limit == new.limit
            {
                // An app may save many times during a request, so join its saves.
                keyCount -= saved[last].keyCount
                saved[last].rows.formUnion(new.rows)
                keyCount += saved[last].keyCount
            } else {
                saved.append(new)
                keyCount += new.keyCount
            }
            if keyCount > keyLimit { forgetKeys() }
            if saved.count > saveLimit { forgetSaves() }
        }

        /// Forgets the rows of an answer.
        mutating func remove(_ answer: Int64) {
            saved.removeAll { one in
                guard case .answer(_, answer) = one.origin else { return false }
                keyCount -= one.keyCount
                return true
            }
        }

        /// Keeps only the entities of the saved rows.
        private mutating func forgetKeys() {
            for index in saved.indices { saved[index].forgetKeys() }
            keyCount = 0
        }

        /// Forgets who has saved the rows. From now on, the pages that a load has stored count as rows of others. So a later page
        /// of this load may be refused and requested again.
        private mutating func forgetSaves() {
            forgetKeys()
            var merged: [Origin: Saved] = [:]
            for one in saved {
                let origin = one.origin == .otherMember ? one.origin : .forgotten
                var all = merged[origin] ?? Saved(rows: SavedRows(), limit: 0, origin: origin)
                all.limit = one.limit
                all.rows.formUnion(one.rows)
                if let list = one.list { all.rows.formUnion(SavedRows(anyOf: list.family)) }
                merged[origin] = all
            }
            saved = merged.values.sorted { $0.limit < $1.limit }
        }
    }

    private let state = Guarded(State())
    /// The number of running requests. It is atomic, because each save reads it without locking `state`.
    private let runningCount = Atomic<Int>(0)
    /// The largest number of keys. So many keys take a few megabytes.
    package static let keyLimit = 100_000
    /// The largest number of saves.
    package static let saveLimit = 10_000

    package init() {}

    // MARK: For tests

    /// The number of keys that are kept.
    package var keyCount: Int { state.withLock(\.keyCount) }
    /// The number of running requests.
    package var requestCount: Int { state.withLock(\.running.count) }
    /// The number of answers of this container that are known.
    package var answerCount: Int { state.withLock(\.answers.count) }
    /// The number of comparisons of rows, and of evaluations of predicates, for all answers.
    package var comparisonCount: Int { state.withLock(\.comparisonCount) }
    /// Adds to ``comparisonCount``.
    func didCompare(_ count: Int) { state.withLock { $0.comparisonCount += count } }
    /// Sets how many keys and saves are kept.
    package func keep(atMost count: Int = keyLimit, saves: Int = saveLimit) {
        state.withLock { ($0.keyLimit, $0.saveLimit) = (count, saves) }
    }
}

extension RunningRequests {
    /// Records that a request begins.
    func begin(at requestedAt: Date, scope: String = "", canRequestAgain: Bool) -> AnsweredRequest {
        let number = state.withLock { state in
            state.newest += 1
            state.running.insert(state.newest)
            runningCount.store(state.running.count, ordering: .sequentiallyConsistent)
            return state.newest
        }
        return AnsweredRequest(
            number: number, requestedAt: requestedAt, scope: scope, canRequestAgain: canRequestAgain)
    }

    /// Records that the answer to a request is stored or dropped.
    func end(_ request: AnsweredRequest) {
        guard let number = request.number else { return }
        state.withLock { state in
            state.running.remove(number)
            runningCount.store(state.running.count, ordering: .sequentiallyConsistent)
            state.trim()
        }
    }

    /// Returns the scopes whose answers another member has stored.
    private func answersOfOthers(_ scopes: [StoredScope]) -> [StoredScope] {
        state.withLock { state in scopes.filter { !state.answers.contains($0.answer) } }
    }

    /// Records that this container begins to store an answer.
    func beginStoring(_ answer: Int64) { state.withLock { $0.beginStoring(answer) } }

    /// Records that an answer is in the store, or could not be stored.
    func endStoring() { state.withLock { $0.endStoring() } }

    /// Returns the recorded rows that were saved since a request of a load began, except the rows of its own answers. Returns
    /// none if the app passes an answer to `apply`, because the beginning of its request was not recorded.
    func saved(since request: AnsweredRequest) -> [Saved] {
        guard let number = request.number else { return [] }
        return state.withLock { state in
            let first = state.saved.lastIndex { $0.limit <= number }.map { $0 + 1 } ?? 0
            return state.saved[first...].filter { !$0.origin.isRequest(number) }
        }
    }

    /// Whether a load of this container has confirmed a list with objects of any of the entities since a request began.
    func hasConfirmedList(of entities: [Int], since request: AnsweredRequest) -> Bool {
        saved(since: request).contains { saved in
            guard let list = saved.list, list.isConfirmed else { return false }
            return list.family.contains(where: entities.contains)
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
                rows: rows, limit: limit, origin: .answer(request: request.number, request.answer), list: request.list)
        }
    }

    /// Forgets the rows of an answer that could not be stored, so that no other answer is refused because of them.
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
        add { Saved(rows: rows, limit: $0, origin: .otherMember) }
    }

    /// Records the rows that a save inserts or links, if the save stores no answer.
    func record(arrived changes: ChangeSet, _ layout: ModelLayout) {
        if !isAnyRunning { return }
        let rows = SavedRows(arrived: changes, layout)
        if rows.hasArrivals { add { Saved(rows: rows, limit: $0, origin: .save) } }
    }

    private var isAnyRunning: Bool { runningCount.load(ordering: .sequentiallyConsistent) > 0 }

    private func add(_ saved: (_ limit: Int64) -> Saved) {
        state.withLock { state in
            if state.running.isEmpty { return }
            state.add(saved(state.newest + 1))
        }
    }
}

/// Comparing the times of requests with those of other members.
extension RunningRequests {
    /// Records the position of the last answer in a shared store, before a request begins.
    func recordLastAnswer(_ request: inout AnsweredRequest, in store: any PersistentStore) throws(DataSourceError) {
        if store.sharing == nil { return }
        request.lastAnswerPosition = try store.read(.statement) { reader throws(DataSourceError) in
            try (reader as? any RequestReader)?.lastAnswerPosition() ?? 0
        }
    }

    /// Returns the scopes of the entities for which another member has stored a later answer since the request began. An answer is
    /// later if its request is later. A list or a page also counts as later if its request is older by at most
    /// ``AnsweredRequest/longestOverlap``. The server may have made such a list before or after the answer to this request, and
    /// the feed does not say which objects the list has.
    ///
    /// - Returns: The scopes; nil for a custom store that does not know the times of requests.
    func laterScopesOfOthers(
        than request: AnsweredRequest, of entities: [Int], in root: RootTier
    ) throws(DataSourceError) -> [StoredScope]? {
        if root.store.sharing == nil { return [] }
        let names = root.layout.names(ofEntitiesContaining: entities)
        return try laterScopes(than: request, in: root.store).map { scopes in
            answersOfOthers(scopes).filter { names.contains($0.entity) }
        }
    }

    /// Returns the scopes with later answers that were stored since the request began. Members can compare only the times of requests,
    /// so an equal time counts as later.
    private func laterScopes(
        than request: AnsweredRequest, in store: any PersistentStore
    ) throws(DataSourceError) -> [StoredScope]? {
        try store.read(.statement) { reader throws(DataSourceError) in
            try (reader as? any RequestReader)?.scopes(
                after: request.lastAnswerPosition, requestedSince: request.requestedAt,
                listsSince: request.requestedAt - AnsweredRequest.longestOverlap)
        }
    }
}
