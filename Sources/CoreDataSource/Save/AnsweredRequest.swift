internal import Foundation
internal import RowStore

/// A request whose answer a batch stores. A load of pages counts as one request.
struct AnsweredRequest: Sendable {
    /// The number of the request in ``RunningRequests``; nil for an answer that the app passes to `apply`, without a load.
    let number: Int64?
    let requestedAt: Date
    /// The name of the scope; empty for an object without a scope.
    let scope: String
    /// Whether the load makes another request if this answer is refused.
    var canRequestAgain = true
    /// The largest number of requests of a load.
    private static let attempts = 3
    /// The answer, if it is a complete list; nil for other answers.
    var list: CompleteList?
    /// The objects that were changed before the first hook. Nil if no data source completes the save.
    var changedBeforeHooks: Set<LinkEnd>?
    /// The objects that were deleted before the first hook, also by delete rules. Nil if no data source completes the save.
    var deletedBeforeHooks: Set<LinkEnd>?
    /// The objects whose links in other rows the work of the answer has read or set. These links belong to the answer, even if
    /// the answer does not change them. Nil if no other request was running when the work began.
    var usedLinks: Set<LinkOwner>?
    /// Whether the work of the answer has ended. Only hooks and rules of the model follow.
    var isWorkDone = false
    /// A list of another member that is stored during this request counts as later, even if its request is older by at most this
    /// time, in seconds.
    static let longestOverlap: TimeInterval = 3_600
    /// The position of the last answer that was in the store when this request began; see ``RequestReader/lastAnswerPosition()``.
    /// Answers up to this position never count as later, even if the clock of their member is ahead.
    var lastAnswerPosition: Int64 = 0
    /// The number of the answer; 0 before the answer. For a scope, the store keeps this number as ``ScopeChange/number``. Each
    /// page of a list has its own number.
    var answer: Int64 = 0

    /// Records that the work of the answer reads or sets a relationship of an object.
    mutating func use(_ relationship: RelationshipLayout, of object: LinkEnd, _ layout: EntityLayout) {
        if usedLinks == nil || isWorkDone { return }
        var storages = relationship.linkStorages
        // If the column has a constraint, the relationship is one-to-one.
        if case .column(let column) = relationship.storage, layout.constraint(onColumn: column.key) != nil {
            storages.append(object.entity)
        }
        for storage in storages { usedLinks?.insert(LinkOwner(storage: storage, object: object)) }
    }

    /// An error of the app's closure. There is no answer that could be refused.
    private struct Failure: Error {
        let cause: any Error
    }

    /// Makes a request, and makes it again if its answer is refused because another answer has changed the same rows meanwhile.
    ///
    /// - Parameter request: Makes one request within ``asking(_:)``, and stores its answer. Gets ``canRequestAgain``.
    /// - Throws: Errors of the closure; `scopeChanged` after the last request.
    static func repeating(_ request: (_ canRequestAgain: Bool) async throws -> Void) async throws {
        for attempt in 1...attempts {
            do {
                return try await request(attempt < attempts)
            } catch let failure as Failure {
                throw failure.cause
            } catch let error as DataSourceError where error.code == .scopeChanged && attempt < attempts {
                continue
            }
        }
    }

    /// Calls the app's closure for a request. Any error of the closure ends the load, even `scopeChanged`: the closure may call a
    /// data source, and `scopeChanged` then belongs to another answer.
    static func asking<Answer: Sendable>(_ closure: () async throws -> Answer) async throws -> Answer {
        do { return try await closure() } catch { throw Failure(cause: error) }
    }
}
