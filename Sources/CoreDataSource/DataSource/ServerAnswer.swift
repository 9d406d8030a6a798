/// The answer of a server to the request for a list.
///
/// ```swift
/// let answer = ServerAnswer.list(contacts, entityTag: "\"33a64df5\"")
/// ```
public enum ServerAnswer<Value: Sendable>: Sendable {
    /// The whole list. Objects in scope that are not in the list are deleted. The entity tag and the cursor are kept for the
    /// next request. Each can have at most 64 KB.
    case list([Value], entityTag: String? = nil, cursor: String? = nil)
    /// A page of the list, and the cursor of the next page; nil after the last page. A load requests all pages, and then deletes
    /// the objects that were in scope before the first page and are on no page. A list in pages has no entity tag: the next load
    /// requests the first page without one. A list has at most 10,000 pages.
    case page([Value], next: String?)
    /// The list has not changed since the server sent the entity tag or the cursor that the request has. If the request has
    /// neither, a load with this answer throws `invalidRequest`, and makes no further request.
    case notModified
    /// The server no longer has the list. All objects in scope are deleted.
    case gone
}

/// A request of a load to a server.
///
/// ```swift
/// try await contacts.load(adults, maxAge: .seconds(300)) { request in
///     let page = try await server.page(after: request.cursor)
///     return .page(page.contacts, next: page.next)
/// }
/// ```
public struct ScopeRequest: Sendable, Hashable {
    /// The entity tag of the stored list, for a header such as `If-None-Match`; nil if the server must send the list.
    public let entityTag: String?
    /// For the first page, the cursor that was stored with the whole list; nil if no cursor was stored. For a later page, the
    /// cursor that the previous page named.
    public let cursor: String?
    /// The number of the page, counted from 0.
    public let page: Int

    /// Makes a request, for a test of the code that asks a server.
    ///
    /// ```swift
    /// let request = ScopeRequest(entityTag: "1")
    /// ```
    ///
    /// - Parameters:
    ///   - entityTag: The entity tag of the stored list; nil, the default, for none.
    ///   - cursor: The cursor; nil, the default, for none.
    ///   - page: The number of the page; 0 by default.
    public init(entityTag: String? = nil, cursor: String? = nil, page: Int = 0) {
        (self.entityTag, self.cursor, self.page) = (entityTag, cursor, page)
    }
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
/// Throw such an error in the closure of a ``DataSource/load(_:maxAge:whenStale:timeLimit:deleting:options:_:)``. Until the
/// time in ``retryAfter`` has passed, loads of the scope throw `loadPostponed`, in all processes that share the store.
public protocol RetryAfterError: Error {
    /// The time from the error until the next request; nil if the server does not say. The pause is up to a tenth longer
    /// than this time, so that devices do not all ask at the same time. The pause is at most a day. If the usual pause after
    /// failures is longer, the usual pause applies. Negative times count as zero.
    var retryAfter: Duration? { get }
}

/// How a load handles stale objects of the scope.
public enum StalePolicy: Sendable, Hashable {
    /// The load waits for the server.
    case wait
    /// The load returns at once, and refreshes the objects in the background. It waits only if no answer has been stored yet. A
    /// look-up of one object waits only if the object is missing. During a pause after a failure, no refresh begins. The
    /// ``ScopeFreshness/isLoading`` of the load's result says whether a refresh is running.
    case serveStale
}
