package import CoreDataSource
package import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests to a server of feeds, and interprets the replies.
package final class FeedService: Sendable {
    private let root: URL
    private let session: URLSession
    private let isCutOff = Mutex(false)
    /// The longest time for one request.
    package let timeLimit: Duration

    /// A page of a list in JSON.
    private struct Page<Item: Decodable>: Decodable {
        var items: [Item]
        /// The cursor of the next page; nil on the last page.
        var next: String?
    }

    /// - Parameters:
    ///   - root: The address of the server.
    ///   - timeLimit: The longest time for one request; one minute by default.
    package init(_ root: URL, timeLimit: Duration = .seconds(60)) {
        self.root = root
        self.timeLimit = timeLimit
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeLimit / .seconds(1)
        // The store is the cache. A cache of the session would turn the server's status 304 into 200.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration)
    }

    deinit { session.invalidateAndCancel() }

    /// Whether requests fail at once, as without a network.
    package var isOffline: Bool {
        get { isCutOff.withLock { $0 } }
        set { isCutOff.withLock { $0 = newValue } }
    }

    /// Requests the list of feeds.
    package func feeds(_ request: ScopeRequest) async throws -> ServerAnswer<Feed> {
        try await answer(root.appending(component: "feeds"), request)
    }

    /// Requests a page of a feed's articles.
    package func articles(of feed: String, _ request: ScopeRequest) async throws -> ServerAnswer<Article> {
        try await answer(root.appending(components: "feeds", feed, "articles"), request)
    }

    /// - Throws: `URLError`; `DecodingError`; ``ServerRefusal``.
    private func answer<Item: Decodable & Sendable>(
        _ url: URL, _ request: ScopeRequest
    ) async throws -> ServerAnswer<Item> {
        if isOffline { throw URLError(.notConnectedToInternet) }
        let cursor = request.cursor.map { [URLQueryItem(name: "cursor", value: $0)] } ?? []
        var call = URLRequest(url: url.appending(queryItems: cursor))
        if let tag = request.entityTag { call.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        let (data, response) = try await session.data(for: call)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        switch response.statusCode {
        case 200:
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            let page = try decoder.decode(Page<Item>.self, from: data)
            // The entity tag is kept only for a list that fits on one page.
            if request.page == 0, page.next == nil {
                return .list(page.items, entityTag: response.value(forHTTPHeaderField: "ETag"))
            }
            return .page(page.items, next: page.next)
        case 304: return .notModified
        case 410: return .gone
        default:
            let header = { response.value(forHTTPHeaderField: $0) }
            throw ServerRefusal(
                status: response.statusCode, retryAfter: header("Retry-After"), date: header("Date"), now: Date())
        }
    }
}

/// The answer of a server that does not send the list.
package struct ServerRefusal: RetryAfterError, CustomNSError, Equatable {
    package let status: Int
    package let retryAfter: Duration?

    package var errorCode: Int { status }

    /// - Parameters:
    ///   - retryAfter: The header `Retry-After`: a number of seconds, or a date.
    ///   - date: The header `Date`. If `Retry-After` is a date, the pause is counted from the server's own time, because
    ///   the clock of the server can be wrong.
    package init(status: Int, retryAfter: String?, date: String?, now: Date) {
        self.status = status
        if let seconds = retryAfter.flatMap({ Int64($0) }) {
            self.retryAfter = .seconds(seconds)
        } else if let end = retryAfter.flatMap(Self.date) {
            self.retryAfter = .seconds(end.timeIntervalSince(date.flatMap(Self.date) ?? now))
        } else {
            self.retryAfter = nil
        }
    }

    /// Reads a time as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = .gmt
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }
}
