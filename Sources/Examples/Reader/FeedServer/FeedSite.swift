import Foundation
import Synchronization

/// The feeds of the server, and its replies to requests.
///
///     GET /feeds                          all feeds
///     GET /feeds/ID/articles?cursor=C     a page of a feed's articles, newest first
///     POST /control                       lines of commands, as for perform
///     GET /control                        the last requests, one per line
package final class FeedSite: Sendable {
    /// A feed in a reply.
    struct ListedFeed: Sendable, Encodable {
        var id: String
        var title: String
    }

    /// An article in a reply.
    struct ListedArticle: Sendable, Encodable {
        var id: String
        var feed: String
        var title: String
        var text: String
        /// The seconds since 1970.
        var date: Int
    }

    /// A feed with its articles, newest first.
    struct Contents: Sendable {
        var feed: ListedFeed
        var articles: [ListedArticle]
        var isGone = false
        /// The number of articles that were ever published.
        var count: Int
    }

    /// A page of a list.
    private struct Page<Item: Encodable>: Encodable {
        var items: [Item]
        var next: String?
    }

    /// A request, and the status of its reply. The status is nil while the reply waits.
    package struct Record: Sendable, Equatable {
        package let path: String
        package fileprivate(set) var status: Int?
    }

    private struct State: Sendable {
        var contents: [Contents]
        var records: [Record] = []
        /// The number of records that were dropped.
        var dropped = 0
    }

    private let state: Mutex<State>
    private let faults = FaultPlan()
    private let pageSize = 10
    /// The maximum number of records to keep.
    private static let recordLimit = 1000

    init(_ contents: [Contents]) {
        state = Mutex(State(contents: contents))
    }

    /// The last requests, in the order of their arrival.
    package var records: [Record] { state.withLock { $0.records } }

    func close() { faults.close() }

    // MARK: Replies

    /// Replies to a request. A fault can delay the reply.
    func reply(to request: HTTPRequest, body: Data) -> HTTPReply {
        if request.path == "/control" { return control(request, body) }
        guard ["GET", "HEAD"].contains(request.method) else {
            var reply = HTTPReply(405, "The lists can only be read.")
            reply.headers["Allow"] = "GET, HEAD"
            return reply
        }
        // Take the faults before the request is recorded. Whoever sees the record can then release the request, and faults
        // that are added later apply only to later requests.
        let (faults, waits) = faults.take(request.path)
        let number = state.withLock { state -> Int in
            state.records.append(Record(path: request.path))
            if state.records.count > Self.recordLimit {
                state.records.removeFirst()
                state.dropped += 1
            }
            return state.dropped + state.records.count - 1
        }
        for wait in waits { wait.run() }
        let reply = self.reply(to: request, with: faults)
        state.withLock { state in
            let index = number - state.dropped
            if state.records.indices ~= index { state.records[index].status = reply.status }
        }
        return reply
    }

    private func reply(to request: HTTPRequest, with faults: [ServerFault]) -> HTTPReply {
        var date = Date()
        for case .clock(let seconds) in faults { date += Double(seconds) }
        var reply = refusal(faults, date) ?? list(request, faults)
        if faults.contains(.noJSON) { reply.body = Data("<html>".utf8) }
        if reply.status == 200 {
            // The tag is made from the body, so it changes with each change of the list.
            let tag = "\"\(String(reply.body.checksum, radix: 16))\""
            if request.headers["if-none-match"] == tag { reply.status = 304 }
            reply.headers["ETag"] = tag
        }
        reply.date = date
        reply.isCutOff = faults.contains(.reset)
        return reply
    }

    /// The reply that refuses the request; nil if no fault makes the server refuse requests.
    private func refusal(_ faults: [ServerFault], _ date: Date) -> HTTPReply? {
        for fault in faults {
            switch fault {
            case .status(let status): return HTTPReply(status, "A fault of the test.")
            case .tooMany(let seconds, let asDate):
                var reply = HTTPReply(429, "There were too many requests.")
                reply.headers["Retry-After"] = asDate ? HTTPReply.text(of: date + Double(seconds)) : "\(seconds)"
                return reply
            default: continue
            }
        }
        return nil
    }

    private func list(_ request: HTTPRequest, _ faults: [ServerFault]) -> HTTPReply {
        let words = request.path.split(separator: "/").map(String.init)
        let contents = state.withLock { $0.contents }
        if words == ["feeds"] { return page(contents.filter { !$0.isGone }.map(\.feed), nil, faults) }
        guard words.count == 3, words[0] == "feeds", words[2] == "articles",
            let found = contents.first(where: { $0.feed.id == words[1] })
        else { return HTTPReply(404, "There is no such list.") }
        if found.isGone { return HTTPReply(410, "The feed \(words[1]) is gone.") }
        guard let cursor = request.query["cursor"] else { return page(found.articles, 0, faults) }
        guard let start = Int(cursor), 0...found.articles.count ~= start else {
            return HTTPReply(400, "There is no page with this cursor.")
        }
        return page(found.articles, start, faults)
    }

    /// - Parameter start: The index of the first item; nil for a list without pages.
    private func page<Item: Encodable>(_ items: [Item], _ start: Int?, _ faults: [ServerFault]) -> HTTPReply {
        var page = Page(items: items)
        if let start {
            let end = min(start + pageSize, items.count)
            let first = faults.contains(.overlap) ? max(0, start - 1) : start
            page = Page(items: Array(items[first..<end]), next: end < items.count ? "\(end)" : nil)
            if faults.contains(.repeatedCursor), start > 0 { page.next = "\(start)" }
        }
        if faults.contains(.empty) { page = Page(items: []) }
        if faults.contains(.short) { page = Page(items: Array(items.prefix(1))) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let body = try? encoder.encode(page) else { return HTTPReply(500, "The list cannot be written.") }
        return HTTPReply(status: 200, body: body, type: "application/json")
    }

    // MARK: Control

    private func control(_ request: HTTPRequest, _ body: Data) -> HTTPReply {
        switch request.method {
        case "GET":
            let lines = records.map { "\($0.path) \($0.status.map(String.init) ?? "-")" }
            return HTTPReply(200, lines.joined(separator: "\n"))
        case "POST":
            do {
                for line in String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline) {
                    try perform(String(line))
                }
                return HTTPReply(200, "done")
            } catch {
                return error
            }
        default: return HTTPReply(405, "Use GET or POST.")
        }
    }

    /// Performs a command:
    ///
    ///     fault PATH TIMES FAULT    adds a fault to the next TIMES replies for paths that begin with PATH; TIMES can be always
    ///     clear                     drops all faults
    ///     release                   sends the replies that wait
    ///     publish FEED TITLE        adds an article to a feed
    ///     expire FEED COUNT         removes the oldest articles of a feed
    ///     close FEED                marks a feed as gone: its replies have the status 410
    package func perform(_ line: String) throws(HTTPReply) {
        let words = line.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("fault", _): try faults.add(Array(words.dropFirst()))
        case ("clear", 1): faults.clear()
        case ("release", 1): faults.release()
        case ("publish", 3...): try change(words[1]) { $0.publish(words.dropFirst(2).joined(separator: " ")) }
        case ("expire", 3):
            try change(words[1]) { $0.articles.removeLast(min(max(0, Int(words[2]) ?? 0), $0.articles.count)) }
        case ("close", 2): try change(words[1]) { $0.isGone = true }
        default:
            throw HTTPReply(400, "Enter fault, clear, release, publish FEED TITLE, expire FEED COUNT or close FEED.")
        }
    }

    private func change(_ feed: String, _ body: (inout Contents) -> Void) throws(HTTPReply) {
        let isKnown = state.withLock { state in
            guard let index = state.contents.firstIndex(where: { $0.feed.id == feed }) else { return false }
            body(&state.contents[index])
            return true
        }
        if !isKnown { throw HTTPReply(400, "There is no feed \(feed).") }
    }
}

extension Data {
    /// The checksum FNV-1a.
    fileprivate var checksum: UInt64 {
        reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
