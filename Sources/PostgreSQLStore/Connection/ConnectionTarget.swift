#if PostgreSQL
internal import CPostgreSQL
internal import Foundation
internal import RowStore

/// The address of a server, and how long to wait for it.
struct ConnectionTarget: Sendable {
    /// A URI or keywords, as libpq reads them. It may contain a password, so no error and no log shows it.
    let connection: String
    /// Whether a standby will do.
    var isReadOnly = false
    /// The settings that lead to one of several servers; empty for whichever answers.
    var server: [String: String] = [:]
    /// How long an answer may take, and after how much of that time the server is asked whether it works on it.
    var patience: Duration
    var silence = Duration.seconds(10)

    static let unreadableText =
        "libpq cannot read the connection string. Write it as postgresql://user:password@host:5432/database, with special characters in the password as % and two digits, such as %40 for @ and %2F for /."

    var programName: String { ProcessInfo.processInfo.processName }

    /// - Throws: `invalidRequest` for text that libpq cannot read. libpq's message may show parts of the password, so it is not
    ///   passed on.
    func check() throws(DataSourceError) {
        let options = PQconninfoParse(connection, nil)
        defer { PQconninfoFree(options) }
        var isReadable = options != nil
        var option = options
        // In a URI, only a database whose name has an @ is refused with it.
        let isURI = ["postgres://", "postgresql://"].contains { connection.hasPrefix($0) }
        while let found = option?.pointee, let keyword = found.keyword {
            // A password with an @ or a / that was not written as %40 or %2F ends up there.
            let isOfAddress = ["host", "port"].contains(String(cString: keyword))
            if isOfAddress || (isURI && String(cString: keyword) == "dbname"), let value = found.val,
                String(cString: value).contains("@")
            {
                isReadable = false
            }
            option = option?.advanced(by: 1)
        }
        if isReadable { return }
        throw DataSourceError(.invalidRequest, ConnectionTarget.unreadableText)
    }
}
#endif
