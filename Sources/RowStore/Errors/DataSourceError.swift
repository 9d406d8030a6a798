public import Foundation

/// An error with a code to compare, and a message that says what to do.
///
/// ```swift
/// do {
///     try await contacts.add(list)
/// } catch let error where error.code == .diskFull {
///     askUserToFreeSpace()
/// }
/// ```
public struct DataSourceError: Error, Sendable {
    /// The kind of an error. New kinds may be added in any release, so keep a default branch in each switch.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String

        /// Makes a code, for example for the errors of a custom store.
        ///
        /// ```swift
        /// extension DataSourceError.Code {
        ///     static let quotaExceeded = Self(rawValue: "quotaExceeded")
        /// }
        /// ```
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }
    }

    /// The kind of the error.
    public var code: Code
    /// What happened, and what to do. The message contains no values of attributes.
    public var message: String
    /// The name of the entity that the error concerns, if any.
    public var entityName: String?
    /// The name of the attribute that the error concerns, if any.
    public var attributeName: String?
    /// The number of new objects of the entity that the save inserted before the object that caused the error. If the call got
    /// a list of values, and each value makes one object, this number is the index of the value in the list. Nil if the error
    /// was not caused by a new object.
    public var objectIndex: Int?
    /// The message of the operating system or the store, if there is one.
    public var cause: String?
    /// The individual errors, if this error combines several errors; otherwise empty.
    public var failures: [DataSourceError]
    /// For `historyExpired`, the position before the oldest record that the history still has; otherwise nil.
    public var historyStart: HistoryPosition?

    /// Makes an error.
    ///
    /// ```swift
    /// throw DataSourceError(
    ///     .storeInUse,
    ///     "Another process has \(path) open. Close the store there first.")
    /// ```
    public init(
        _ code: Code, _ message: String, entityName: String? = nil, attributeName: String? = nil, cause: String? = nil,
        failures: [DataSourceError] = []
    ) {
        self.code = code
        self.message = message
        self.entityName = entityName
        self.attributeName = attributeName
        self.cause = cause
        self.failures = failures
    }
}

extension DataSourceError: CustomStringConvertible {
    public var description: String {
        cause.map { "\(code): \(message) (\($0))" } ?? "\(code): \(message)"
    }
}

extension DataSourceError.Code {
    // Ownership and use.

    /// Another data source already owns the entity.
    public static let entityAlreadyOwned = Self(rawValue: "entityAlreadyOwned")
    /// A data source tried to change objects of an entity that it does not own.
    public static let entityNotOwned = Self(rawValue: "entityNotOwned")
    /// A call needs a hook that the data source does not override.
    public static let hookNotOverridden = Self(rawValue: "hookNotOverridden")
    /// The model has no such entity.
    public static let unknownEntity = Self(rawValue: "unknownEntity")
    /// The entity has no such attribute.
    public static let unknownAttribute = Self(rawValue: "unknownAttribute")
    /// The entity is abstract and cannot have objects.
    public static let abstractEntity = Self(rawValue: "abstractEntity")
    /// A class of managed objects was passed to a call that takes values.
    public static let classAsValue = Self(rawValue: "classAsValue")
    /// The store was closed, or its container was released.
    public static let storeClosed = Self(rawValue: "storeClosed")

    /// A managed object was used after it was deleted, or after the save that inserted it was rolled back.
    public static let objectGone = Self(rawValue: "objectGone")

    // Saving.

    /// An object violates a rule of the model. If there are several errors, ``DataSourceError/failures`` lists them.
    public static let validationFailed = Self(rawValue: "validationFailed")
    /// A draft conflicts with another save, or the revert of a record conflicts with a later save. If there are several
    /// conflicts, ``DataSourceError/failures`` has an error for each.
    public static let draftConflict = Self(rawValue: "draftConflict")
    /// The draft was discarded.
    public static let draftDiscarded = Self(rawValue: "draftDiscarded")
    /// Two objects would have the same unique values.
    public static let uniquenessViolated = Self(rawValue: "uniquenessViolated")
    /// A relationship with the delete rule Deny still links the deleted object to other objects.
    public static let deletionDenied = Self(rawValue: "deletionDenied")
    /// A string or blob is longer than the store can hold.
    public static let valueTooLarge = Self(rawValue: "valueTooLarge")
    /// `willSave(_:in:)` leads to new changes each time that it is called for a save.
    public static let willSaveRepeats = Self(rawValue: "willSaveRepeats")
    /// No key is left for a new object.
    public static let keysExhausted = Self(rawValue: "keysExhausted")
    /// A sync got an empty list, although there are objects in its scope.
    public static let emptySync = Self(rawValue: "emptySync")
    /// A sync would delete more objects in its scope than allowed.
    public static let tooManyDeletions = Self(rawValue: "tooManyDeletions")

    /// A hook of `sync` returned an object of another entity than the synced entity.
    public static let syncEntityMismatch = Self(rawValue: "syncEntityMismatch")
    /// The store was reset during the call. The new store has none of the call's changes. On a server, the error can also mean
    /// that another process switched the history of the store on or off while this process did not answer. In this case, too,
    /// the call has saved nothing.
    public static let storeReset = Self(rawValue: "storeReset")
    /// The save was discarded by `discardPending()`, or depends on a discarded save.
    public static let pendingDiscarded = Self(rawValue: "pendingDiscarded")
    /// An earlier save that this save may depend on could not be written. Both saves belong to the same data source, or to data
    /// sources that share a uniqueness constraint or whose objects were linked or saved together.
    public static let saveRolledBack = Self(rawValue: "saveRolledBack")

    /// The app's closure threw an error in a write that no call waits for. `cause` describes the error.
    public static let writeFailed = Self(rawValue: "writeFailed")

    /// The main context was pinned for longer than allowed, or its snapshot was lost. The context follows saves again.
    public static let pinExpired = Self(rawValue: "pinExpired")
    /// A loop over pages took longer than its limit, or the store has lost the snapshot of the loop.
    public static let pagesExpired = Self(rawValue: "pagesExpired")
    /// The store cannot keep a snapshot for a pinned main context or for a loop over pages, because of its kind.
    public static let snapshotsNotKept = Self(rawValue: "snapshotsNotKept")

    // Scopes.

    /// Another data source, or another entity, already uses the name of the scope.
    public static let scopeAlreadyUsed = Self(rawValue: "scopeAlreadyUsed")
    /// The rows of the scope have changed since the request, so the server's answer does not fit them. Request the list again.
    public static let scopeChanged = Self(rawValue: "scopeChanged")
    /// The store cannot keep scopes, because of its kind.
    public static let scopesNotKept = Self(rawValue: "scopesNotKept")
    /// The server has answered the request for a page with the cursor of an earlier page, or the list has more than 10,000
    /// pages.
    public static let cursorRepeated = Self(rawValue: "cursorRepeated")
    /// The server has not answered in time.
    public static let loadTimedOut = Self(rawValue: "loadTimedOut")
    /// The last load has failed, and it is too early to try again.
    public static let loadPostponed = Self(rawValue: "loadPostponed")

    // Queries.

    /// A request or an option is invalid. For example, a request has a negative limit.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// A predicate or another part of a query is invalid. For example, it compares values that cannot be compared.
    public static let invalidPredicate = Self(rawValue: "invalidPredicate")
    /// A predicate format has a syntax error, or its arguments do not match the format.
    public static let unreadablePredicate = Self(rawValue: "unreadablePredicate")
    /// A predicate that is evaluated on objects threw an error.
    public static let predicateFailed = Self(rawValue: "predicateFailed")
    /// A query needs a feature that this release does not have.
    public static let unsupportedQuery = Self(rawValue: "unsupportedQuery")

    /// A sum is larger than its type can hold, or has no value because infinities of both signs were added.
    public static let numberOverflow = Self(rawValue: "numberOverflow")

    // The kept history.

    /// The store keeps no history, or its kind of store cannot keep one.
    public static let historyNotKept = Self(rawValue: "historyNotKept")
    /// The history no longer has the records after the position: they were dropped, or the store was reset or restored.
    /// ``DataSourceError/historyStart`` is the position at which the history begins now.
    public static let historyExpired = Self(rawValue: "historyExpired")
    /// The position belongs to another store, or to a history that was switched off.
    public static let historyOfOtherStore = Self(rawValue: "historyOfOtherStore")
    /// The record cannot be reverted: it has no values, or its values came from a server and `includingIncoming` is false.
    public static let recordNotRevertible = Self(rawValue: "recordNotRevertible")

    // Transfer.

    /// A graph cannot be exported or imported. Possible reasons are that the data is not JSON, a value does not have its
    /// attribute's type, a key is missing or duplicate, or a link leads nowhere. The message names the position.
    public static let invalidGraph = Self(rawValue: "invalidGraph")

    // The store.

    /// Another process, or another container of this process, has the store open.
    public static let storeInUse = Self(rawValue: "storeInUse")
    /// The store stayed locked for too long.
    public static let storeBusy = Self(rawValue: "storeBusy")
    /// Another process has the lease of a data source that the change concerns, and did not release the lease in time. The
    /// message names the process.
    public static let leaseUnavailable = Self(rawValue: "leaseUnavailable")
    /// A batch runs for a long time while another process waits for the lease of the batch. The message names the data source.
    public static let batchHoldsLease = Self(rawValue: "batchHoldsLease")
    /// This process has lost a lease. Either another process took over the lease because this process was suspended for too
    /// long, or the server has lost its newest commits. The store refuses the unwritten saves and running batches under this
    /// lease.
    public static let leaseLost = Self(rawValue: "leaseLost")
    /// The store's server cannot be reached, or too many saves are waiting for the server.
    public static let storeUnavailable = Self(rawValue: "storeUnavailable")
    /// It is unknown whether a save is in the store. After a disk failure, the store accepts no more saves until it is opened
    /// again. After a lost connection to a server, the next save determines the outcome of the earlier save.
    public static let outcomeUnknown = Self(rawValue: "outcomeUnknown")
    /// The disk has no free space.
    public static let diskFull = Self(rawValue: "diskFull")
    /// The store's files were moved, replaced or deleted while the store was open, or changed while the store was open
    /// for reading only.
    public static let storeMoved = Self(rawValue: "storeMoved")
    /// The write-ahead log cannot be copied into the store, so the log grows.
    public static let checkpointFailed = Self(rawValue: "checkpointFailed")
    /// A long read keeps old data from being removed. As a result, the write-ahead log or the tables of the server
    /// grow.
    public static let readerBlocksCheckpoint = Self(rawValue: "readerBlocksCheckpoint")
    /// An I/O error. The store cannot be read or written.
    public static let storeUnreadable = Self(rawValue: "storeUnreadable")
    /// The user lacks the permission to read or write the store.
    public static let permissionDenied = Self(rawValue: "permissionDenied")
    /// The store is open for reading only.
    public static let storeReadOnly = Self(rawValue: "storeReadOnly")
    /// A stored value does not have its attribute's type. Reading the attribute returns another value.
    public static let damagedValue = Self(rawValue: "damagedValue")
    /// There is no store, and the call must not make one: the container only reads, or the call inspects a store. Check the
    /// path, or the name of the store on the server. If both are correct, open the store for writing once.
    public static let storeNotFound = Self(rawValue: "storeNotFound")
    /// The path does not lead to a file. For example, the path leads to a directory or a device, or its folder is missing.
    public static let notAFile = Self(rawValue: "notAFile")
    /// A file already exists at the path for a backup or a restored store. Choose another path.
    public static let fileExists = Self(rawValue: "fileExists")
    /// The file is not an SQLite database, or the server has no database with the given name.
    public static let notADatabase = Self(rawValue: "notADatabase")
    /// The database belongs to another program, or lacks parts that this library writes.
    public static let foreignDatabase = Self(rawValue: "foreignDatabase")
    /// The database is damaged.
    public static let storeCorrupt = Self(rawValue: "storeCorrupt")
    /// A newer release of this library wrote the store.
    public static let newerFormat = Self(rawValue: "newerFormat")
    /// The store was made for another model or database key, and must not be reset. For example, the reset policy is
    /// ``ResetPolicy/fail`` or falls back to it, the store is opened for reading only, or the store is on a server.
    public static let modelChanged = Self(rawValue: "modelChanged")
    /// The store cannot be opened by a call that blocks its thread. The store is on a server; or the thread is the main
    /// thread, and the store is a custom store or needs a migration or an upgrade.
    public static let openingWouldBlock = Self(rawValue: "openingWouldBlock")
    /// The model breaks a rule, or cannot be read.
    public static let unreadableModel = Self(rawValue: "unreadableModel")
}

extension DataSourceError {
    package static let storeClosed = DataSourceError(
        .storeClosed, "The store was closed. Open the store again.")
}

extension DataSourceError: LocalizedError {
    /// The ``message``, which says what happened and what to do.
    public var errorDescription: String? { message }

    /// The message of the operating system or the store.
    public var failureReason: String? { cause }
}

extension DataSourceError {
    /// - Parameter reason: The reason, in complete sentences.
    package init(notMigratable reason: String) {
        self.init(.notMigratable, reason)
    }
}

extension DataSourceError.Code {
    /// The rows cannot be migrated. The store is then opened without a migration, so no app sees this error.
    package static let notMigratable = Self(rawValue: "notMigratable")
}

extension DataSourceError {
    package static let storeReadOnly = DataSourceError(
        .storeReadOnly,
        "The store is open for reading only, and cannot save. Open the store without Configuration.isReadOnly to save."
    )
}
