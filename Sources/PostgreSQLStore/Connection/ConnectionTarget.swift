#if PostgreSQL
internal import Foundation

/// Where a server is, and how patient to be with it.
struct ConnectionTarget: Sendable {
    /// A URI or keywords, as libpq takes them. It may hold a password: no error and no log shows it.
    let connection: String
    /// How long an answer may take.
    var patience: Duration

    var programName: String { ProcessInfo.processInfo.processName }
}
#endif
