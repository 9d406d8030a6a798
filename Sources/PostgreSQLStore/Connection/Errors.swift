#if PostgreSQL
internal import CPostgreSQL
internal import Foundation
internal import RowStore

extension DataSourceError {
    /// What an answer of the server means to an app. The sentence names no values, and neither does the cause: the server's
    /// detail, which has them, is left out.
    init(answer: QueryResult) {
        let state = answer.field("C") ?? ""
        let cause = "PostgreSQL \(state): \(answer.field("M") ?? "no message")"
        switch state {
        case "40001", "40P01": self.init(.storeBusy, DataSourceError.busyText, cause: cause)
        case "55P03", "57014": self.init(.storeBusy, DataSourceError.busyText, cause: cause)
        case "23505":
            self.init(.uniquenessViolated, "Two objects would have the same unique value.", cause: cause)
            attributeName = answer.field("n")
        case "54000", "54001", "22001":
            self.init(
                .valueTooLarge,
                "A value is longer than an index of the server can hold, which is about 2,700 bytes for a unique value. Keep "
                    + "long values out of constraints.", cause: cause)
        case "53100", "53200": self.init(.diskFull, "The server has no room left. Make room there.", cause: cause)
        case "42501", "28000", "28P01":
            self.init(
                .permissionDenied,
                "The server's user may not do that. It needs the right to create schemas in the database, and to read and "
                    + "write the tables of the store.", cause: cause)
        case "25006": self.init(.storeReadOnly, "The server only takes reads: it is a standby.", cause: cause)
        case "3F000", "42P01", "42703", "42804", "42883", "42P17", "23502", "23503", "23514":
            self.init(
                .storeCorrupt,
                "The tables of the store are not as this library made them: somebody has changed them by hand. Restore them.",
                cause: cause)
        case let state where state.hasPrefix("08") || state.hasPrefix("57P") || state.hasPrefix("53"):
            self.init(
                .storeUnavailable, "The server is going down, coming up or full of work. What is pending is kept.",
                cause: cause)
        default:
            self.init(.storeUnreadable, "The server has refused a statement.", cause: cause)
        }
    }

    private static let busyText =
        "Somebody else kept rows of the store locked. Close their transaction, or try again later."

    /// Why there is no connection, from what libpq says.
    init(connectionFailure message: String, _ target: ConnectionTarget) {
        let cause = message.isEmpty ? "out of memory" : message.withoutPassword(of: target.connection)
        if message.contains("password") || message.contains("authentication") || message.contains("pg_hba.conf")
            || message.contains("role \"")
        {
            self.init(
                .permissionDenied,
                "The server does not let this user in. Check the user, the password and the server's pg_hba.conf.",
                cause: cause)
        } else if message.contains("database \""), message.contains("does not exist") {
            self.init(
                .notADatabase, "The server has no database of that name. Create it, or name another one.",
                cause: cause)
        } else if message.contains("invalid connection option") || message.contains("missing \"=\"")
            || message.contains("invalid URI") || message.contains("in URI")
            || message.contains("invalid integer value")
        {
            self.init(
                .invalidRequest,
                "The connection string is not one that libpq takes. Write it as postgresql://user@host:5432/database.",
                cause: cause)
        } else {
            self.init(
                .storeUnavailable, "The server cannot be reached. What is pending is kept and tried again.",
                cause: cause)
        }
    }

    /// Whether the connection is gone, so that nobody knows what the server has done since it last answered.
    var isLoss: Bool { code == .storeUnavailable }
}

extension String {
    /// libpq does not show passwords, but for one that is part of a string it cannot read.
    fileprivate func withoutPassword(of connection: String) -> String {
        guard contains(connection) || connection.contains("password") || connection.contains("@") else {
            return self
        }
        var shown = replacingOccurrences(of: connection, with: "(the connection string)")
        if let credentials = connection.components(separatedBy: "://").dropFirst().first?.components(
            separatedBy: "@"
        ).first,
            let password = credentials.components(separatedBy: ":").dropFirst().first, !password.isEmpty
        {
            shown = shown.replacingOccurrences(of: password, with: "(the password)")
        }
        return shown
    }
}
#endif
