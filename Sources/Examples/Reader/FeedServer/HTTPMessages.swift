package import Foundation

/// A request of HTTP/1.1, without its body.
package struct HTTPRequest: Sendable {
    package let method: String
    /// The path with percent encoding removed, without the query.
    package let path: String
    package let query: [String: String]
    /// The headers. The names are in lower case.
    package let headers: [String: String]

    /// Reads the lines before the body.
    ///
    /// - Throws: The reply to a request that cannot be read.
    init(_ head: [UInt8]) throws(HTTPReply) {
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, ["HTTP/1.1", "HTTP/1.0"].contains(words[2]), words[1].hasPrefix("/"),
            let parts = URLComponents(string: words[1])
        else { throw HTTPReply(400, "The first line is not METHOD /PATH HTTP/1.1.") }
        method = words[0]
        path = parts.path
        query = Dictionary((parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { first, _ in first }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
                throw HTTPReply(400, "A header has no colon.")
            }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers[line[..<colon].lowercased()] = value
        }
        self.headers = headers
    }

    /// The number of bytes of the body.
    ///
    /// - Throws: The reply to a request whose body is too long, or whose length is not known.
    func bodyLength(atMost limit: Int) throws(HTTPReply) -> Int {
        if headers["transfer-encoding"] != nil {
            throw HTTPReply(411, "Send the body with a Content-Length header, not with Transfer-Encoding.")
        }
        guard let text = headers["content-length"] else { return 0 }
        guard let length = Int(text), length >= 0 else {
            throw HTTPReply(400, "Content-Length is not a number of bytes.")
        }
        if length > limit { throw HTTPReply(413, "The body has more than \(limit) bytes.") }
        return length
    }
}

/// A reply of HTTP/1.1.
package struct HTTPReply: Sendable, Error {
    package var status: Int
    package var headers: [String: String] = [:]
    package var body: Data
    /// The time in the header `Date`.
    var date = Date()
    /// Whether the connection is reset in the middle of the body.
    var isCutOff = false

    /// Makes a reply with a sentence as its body.
    init(_ status: Int, _ sentence: String) {
        self.init(status: status, body: Data("\(sentence)\n".utf8), type: "text/plain; charset=utf-8")
    }

    init(status: Int, body: Data, type: String) {
        self.status = status
        self.body = body
        headers["Content-Type"] = type
    }

    /// - Parameter hasBody: Whether to send the body. If not, the length of the body is still sent.
    func bytes(hasBody: Bool) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status) \(Self.reasons[status] ?? "Unknown")", "Date: \(Self.text(of: date))"]
        lines += headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        // A reply with 304 has no body. In such a reply, `Content-Length` would be the length of the body that a reply with
        // 200 has.
        if status != 304 { lines.append("Content-Length: \(body.count)") }
        lines.append("Connection: close")
        let head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        return hasBody && status != 304 ? head + body : head
    }

    private static let reasons = [
        200: "OK", 304: "Not Modified", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout", 410: "Gone", 411: "Length Required", 413: "Content Too Large",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        503: "Service Unavailable",
    ]

    /// A time as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(of date: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = .gmt
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: date)
    }
}
