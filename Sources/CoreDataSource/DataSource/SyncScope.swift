public import Foundation
internal import RowStore

/// The rows that one list of a server covers: a name, and an optional predicate.
///
/// ```swift
/// let adults = SyncScope(
///     "adults", ContactEntity.self, where: \.age >= 18)
/// ```
///
/// The store keeps, for each scope, when the list was requested, its entity tag and cursor, and the failures since. Read this with
/// ``DataSource/freshness(of:)``. Answers of the server are stored with ``DataSource/load(_:maxAge:whenStale:timeLimit:deleting:options:_:)``
/// or ``DataSource/apply(_:to:requestedAt:since:deleting:options:)``.
///
/// Give each scope a name of its own. A scope with another predicate than before counts as never loaded. A store keeps at most
/// 10,000 scopes. Beyond this number, it forgets the scopes with the oldest requests, but not their objects.
public struct SyncScope<Object: ManagedObject>: Sendable, Hashable {
    /// The name, which identifies the scope in the store.
    public let name: String
    /// The predicate of the objects that the list covers; nil for all objects.
    public let predicate: FetchPredicate<Object>?
    /// The format of the predicate.
    let format: String
    /// Whether the predicate can be made from its format. If not, two different predicates may have the same format.
    let hasFormat: Bool

    /// Makes a scope.
    ///
    /// ```swift
    /// let all = SyncScope("contacts", ContactEntity.self)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - type: The class of the objects.
    ///   - predicate: The predicate of the objects that the list covers; nil, the default, for all objects.
    public init(_ name: String, _ type: Object.Type = Object.self, where predicate: FetchPredicate<Object>? = nil) {
        self.name = name
        self.predicate = predicate
        format = predicate?.predicateFormat ?? ""
        hasFormat = predicate?.tree.hasFormat ?? true
    }
}

/// How old the objects of a scope are, and what a server needs to know for the next request.
///
/// ```swift
/// let freshness = try contacts.freshness(of: all)
/// if freshness.isStale(after: .seconds(300)) {
///     print("Last updated", freshness.requestedAt as Any)
///     print("Last failure", freshness.lastFailure as Any)
/// }
/// ```
public struct ScopeFreshness: Sendable, Hashable {
    /// The time of the request whose answer the objects show; nil if no answer was stored.
    public let requestedAt: Date?
    /// The entity tag of the answer; nil if there is none, or if the objects no longer show that answer.
    public let entityTag: String?
    /// The cursor of the answer; nil if there is none, or if the objects no longer show that answer.
    public let cursor: String?
    /// Whether the objects show the whole list. After a page that is not the last page, they do not.
    public let isComplete: Bool
    /// The number of failed loads since the last answer.
    public let failureCount: Int
    /// The kind of the last failure since the last answer, without any values; nil if there was no failure.
    public let lastFailure: String?
    /// The time of the last failure; nil if there was no failure.
    public let failedAt: Date?
    /// The time before which loads do not try again; nil if there was no failure.
    public let retryAt: Date?
    /// The number of the answer; 0 if no answer was stored.
    let answer: Int64
    /// A number that changes with each answer, and whenever the entity tag and the cursor are dropped.
    let version: Int64

    init(_ stored: StoredScope?) {
        requestedAt = stored?.requestedAt
        entityTag = stored?.entityTag
        cursor = stored?.cursor
        isComplete = stored?.isComplete ?? false
        failureCount = Int(clamping: stored?.failureCount ?? 0)
        (lastFailure, failedAt, retryAt) = (stored?.failure, stored?.failedAt, stored?.retryAt)
        (answer, version) = (stored?.answer ?? 0, stored?.version ?? 0)
    }

    /// Whether the objects are older than a limit, are incomplete, or were never loaded.
    ///
    /// The age counts from the request, because the server may have changed the list since. If the request seems to be in the
    /// future, because a clock was changed, the objects are stale.
    ///
    /// ```swift
    /// let isOld = freshness.isStale(after: .seconds(300))
    /// ```
    ///
    /// - Parameters:
    ///   - maxAge: The age from which the objects are stale. With zero, they are always stale.
    ///   - date: The current time.
    public func isStale(after maxAge: Duration, at date: Date = Date()) -> Bool {
        guard isComplete, let requestedAt else { return true }
        let age = date.timeIntervalSince(requestedAt)
        return !(age >= 0 && age < maxAge / .seconds(1))
    }

    /// Whether it is too early to try again after a failure. Another program may have written any date.
    func isPostponed(at date: Date) -> Bool {
        guard let failedAt, let retryAt else { return false }
        return date >= failedAt && date < min(retryAt, failedAt + LoadPauses.longestAsked)
    }
}

/// The answer of a server to the request for a list.
///
/// ```swift
/// let answer = ServerAnswer.list(contacts, entityTag: "\"33a64df5\"")
/// ```
public enum ServerAnswer<Value: Sendable>: Sendable {
    /// The whole list. Objects in scope that are not in the list are deleted. The entity tag and the cursor are kept for the next
    /// request; each may have 64 KB.
    case list([Value], entityTag: String? = nil, cursor: String? = nil)
    /// A page of the list, and the cursor of the next page; nil after the last page. A load requests all pages, and then deletes
    /// the objects that were in scope before the first page and that no page has.
    case page([Value], next: String?)
    /// The list is the list of the entity tag in the request.
    case notModified
    /// The server no longer has the list. All objects in scope are deleted.
    case gone
}

/// What a load asks a server for.
///
/// ```swift
/// try await contacts.load(adults, maxAge: .seconds(300)) { request in
///     let page = try await server.page(after: request.cursor)
///     return .page(page.contacts, next: page.next)
/// }
/// ```
public struct ScopeRequest: Sendable, Hashable {
    /// The entity tag of the stored list, for a request such as If-None-Match; nil if the server must send the list.
    public let entityTag: String?
    /// The cursor: for the first page, the cursor of the whole list that is stored, and nil if there is none; for a later page,
    /// the cursor that the page before had.
    public let cursor: String?
    /// The number of the page, counted from 0.
    public let page: Int
}

/// An error with which a server says when to try again, such as the status 429 or 503 with the header Retry-After.
///
/// ```swift
/// struct ServerIsBusy: RetryAfterError {
///     let retryAfter: Duration?
///
///     init(_ headers: [String: String]) {
///         retryAfter = headers["Retry-After"].flatMap { Int($0) }
///             .map { .seconds($0) }
///     }
/// }
/// ```
///
/// Throw such an error in the closure of a ``DataSource/load(_:maxAge:whenStale:timeLimit:deleting:options:_:)``. The next load of
/// the scope then waits at least as long, in all processes that share the store.
public protocol RetryAfterError: Error {
    /// The time from the error until the next request; nil if the server does not say. A load waits up to a tenth longer, so that
    /// not all devices ask at the same time, but never longer than a day. If its own pause after failures is longer, that pause
    /// counts. Negative times count as zero.
    var retryAfter: Duration? { get }
}

/// What a load does if the objects of the scope are stale.
public enum StalePolicy: Sendable, Hashable {
    /// The load waits for the server.
    case wait
    /// The load returns at once, and refreshes the objects behind. It waits only if no answer was ever stored.
    case serveStale
}
