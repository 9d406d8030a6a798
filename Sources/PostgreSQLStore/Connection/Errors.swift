#if PostgreSQL
internal import CPostgreSQL
internal import Foundation
internal import RowStore

extension DataSourceError {
    /// The error for an answer of the server. The message and the cause contain no values of rows, so details that can
    /// show values are left out.
    init(answer: QueryResult) {
        let state = answer.field("C") ?? ""
        let (code, message) =
            DataSourceError.ofLimits(state) ?? DataSourceError.ofServer(state) ?? DataSourceError.ofRows(state)
            ?? (
                .storeUnreadable,
                "The server refused a statement of this library, for the reason in `cause`. Look up the code in PostgreSQL's list "
                    + "of error codes, and in the server's log."
            )
        var cause = "PostgreSQL \(state): \(answer.field("M") ?? "no message")"
        // This detail lists the objects that depend on a dropped object. The detail contains only names, so add it to the
        // cause.
        if state == "2BP01", let detail = answer.field("D") { cause += "\n\(detail)" }
        self.init(code, message, cause: cause)
        if code == .uniquenessViolated { attributeName = answer.field("n") }
    }

    /// The error code and message for an SQLSTATE about a limit of the server. The session goes on.
    private static func ofLimits(_ state: String) -> (Code, String)? {
        switch state {
        case "53200":
            (
                .storeUnavailable,
                "The server has too little memory for a statement. Raise the server's memory or, if the model has hundreds of "
                    + "entities, its max_locks_per_transaction."
            )
        case "53100": (.diskFull, "The server's disk is full. Free some space there.")
        case "53400":
            (
                .storeUnreadable,
                "A statement exceeded a limit of the server's configuration, mostly temp_file_limit: `cause` says which. Raise that "
                    + "limit, or fetch fewer objects at once."
            )
        case "54001":
            (
                .valueTooLarge,
                "A statement is nested more deeply than the server's max_stack_depth allows: a predicate with many parts, or a "
                    + "trigger that this library did not make. Divide the predicate, correct the trigger, or raise the limit."
            )
        default: nil
        }
    }

    /// The error code and message for an SQLSTATE about the server, the connection or the tables.
    private static func ofServer(_ state: String) -> (Code, String)? {
        switch state {
        case "40001":
            (
                .storeBusy,
                "Another transaction changed the same rows, or the server is a standby that had to apply changes of the primary. "
                    + "Try again later."
            )
        case "40P01", "55P03":
            (.storeBusy, "Another transaction kept rows of the store locked. End that transaction, or try again later.")
        case "57014":
            (
                .storeBusy,
                "A statement was canceled by another session, or by a statement_timeout. Try again, or raise the timeout."
            )
        case "42501", "28000", "28P01":
            (
                .permissionDenied,
                "The server's user lacks a right. To make, reset or migrate a store, the user must own the store or be allowed "
                    + "to create schemas in the database. To use a store, the user must be allowed to read and write its "
                    + "tables; with Configuration.isReadOnly, reading is enough."
            )
        case "25006": (.storeReadOnly, readOnlyMessage)
        case "3F000", "42P01", "42703", "42804", "42883", "42P17", "23502":
            (
                .storeCorrupt,
                "The tables of the store are not as this library made them: `cause` names the difference. Restore the tables."
            )
        case let state where state.isOfLostSession:
            (.storeUnavailable, "The server takes no statements now, for the reason in `cause`. \(afterLossMessage)")
        default: nil
        }
    }

    /// The error code and message for an SQLSTATE about the rows of a save.
    private static func ofRows(_ state: String) -> (Code, String)? {
        switch state {
        case "23505": (.uniquenessViolated, "Two objects would have the same unique value.")
        case "54000", "22001":
            (
                .valueTooLarge,
                "A value is too long for an index of the server, which holds about 2,700 bytes for a unique value, or an object has "
                    + "more than 8,000 bytes of numbers, dates and short strings. Keep long values out of constraints, and divide "
                    + "entities with hundreds of attributes."
            )
        case "22021", "22P03", "22P04":
            (
                .storeUnreadable,
                "The server cannot read a message of this library. Please report the error, with its cause."
            )
        case let state where state.hasPrefix("22") || state.hasPrefix("23") || state == "P0001":
            (
                .validationFailed,
                "The server refuses a row of the save, for the reason in `cause`: a value, or a constraint or trigger that this "
                    + "library did not make. Change the objects, or that constraint or trigger."
            )
        default: nil
        }
    }

    /// The advice in errors after which the call can be repeated.
    static let afterLossMessage =
        "The call saved nothing: call again once the server answers. Saves that no call waits for are kept and tried again."

    /// The error for a failed connection.
    ///
    /// - Parameters:
    ///   - message: The message of libpq. libpq's own messages are in English; messages of a server are in the server's
    ///     language.
    ///   - state: The server's error code; nil if there is none.
    init(connectionFailure message: String, state: String?) {
        let cause = message.isEmpty ? "out of memory" : message
        if message.contains("session is read-only") {
            self.init(
                .storeReadOnly, DataSourceError.readOnlyMessage, cause: cause)
        } else if state == "53300" {
            self.init(.storeUnavailable, DataSourceError.fullServerMessage, cause: cause)
        } else if message.contains("invalid integer value") || message.contains("invalid port number") {
            // Leave out the cause, which can show a part of the password.
            self.init(.invalidRequest, ConnectionTarget.unreadableText)
        } else if state?.hasPrefix("28") == true || message.contains("no password supplied") {
            self.init(
                .permissionDenied,
                "The server refuses this user. Check the user, the password and the server's pg_hba.conf.",
                cause: cause)
        } else if state == "3D000" {
            self.init(
                .notADatabase, "The server has no database with that name. Create the database, or use another name.",
                cause: cause)
        } else if message.contains("certificate") {
            self.init(
                .storeUnavailable,
                "The certificates of the connection were not accepted, for the reason in `cause`. Check the host's name, sslmode, sslrootcert and sslcert.",
                cause: cause)
        } else if message.contains("does not support SSL") {
            self.init(
                .storeUnavailable,
                "The server accepts no encrypted connections, but the connection string demands one. Turn ssl on in the server's configuration, or change sslmode.",
                cause: cause)
        } else {
            let problem = state == nil ? "The server cannot be reached" : "The server refuses the connection"
            self.init(
                .storeUnavailable, "\(problem), for the reason in `cause`. \(DataSourceError.afterLossMessage)",
                cause: cause)
        }
    }

    private static let fullServerMessage =
        "A connection limit is reached: that of the server, of this role, or of this database. `cause` says which. "
        + "Raise that limit (max_connections, or CONNECTION LIMIT of the role or the database), or close connections."

    private static let readOnlyMessage =
        "The server accepts only reads in this session: the server is a standby, or default_transaction_read_only is on "
        + "for the server, the database or the role. Connect to the primary server, turn the setting off, or open the "
        + "store with isReadOnly."

    /// Whether a server has refused a connection because a connection limit is reached.
    var isConnectionLimitReached: Bool { message == DataSourceError.fullServerMessage }

    /// Whether the connection is lost or leads to a server that is no longer the primary. After a loss, the effects of the last
    /// statements are unknown.
    var isConnectionLoss: Bool { code == .storeUnavailable || code == .storeReadOnly }

    /// Whether the server has rolled back a transaction because of a conflict, so that the transaction can be tried again.
    var isConflict: Bool {
        code == .storeBusy && (cause?.contains("40001") == true || cause?.contains("40P01") == true)
    }
}

extension String {
    /// Whether the SQLSTATE means that the server has ended the session.
    fileprivate var isOfLostSession: Bool {
        hasPrefix("08") || hasPrefix("57P") || hasPrefix("53") || self == "25P03" || self == "25P04"
    }
}
#endif
