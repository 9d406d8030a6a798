public import Foundation

/// An error, with a code to compare and a message that says what to do.
///
/// ```swift
/// do {
///     try await contacts.add(list)
/// } catch let error where error.code == .diskFull {
///     askUserToFreeSpace()
/// }
/// ```
public struct DataSourceError: Error, Sendable {
    /// The kind of an error. New kinds may be added in any release: keep a default branch.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }
    }

    /// The kind of the error.
    public var code: Code
    /// What happened and what to do. It never contains the values of attributes.
    public var message: String
    /// The entity involved, if there is one.
    public var entityName: String?
    /// The attribute involved, if there is one.
    public var attributeName: String?
    /// For an object that the save was to insert: how many new objects of its entity were inserted before it. If each value makes one
    /// object, it is the index of the value.
    public var objectIndex: Int?
    /// The error of the operating system or the store, if there is one.
    public var cause: String?
    /// The single errors, if this error stands for several.
    public var failures: [DataSourceError]

    /// Makes an error.
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
    /// A class of managed objects was given to a call that takes values.
    public static let classAsValue = Self(rawValue: "classAsValue")
    /// The container or the context was closed or reset.
    public static let storeClosed = Self(rawValue: "storeClosed")

    /// A managed object was used after it was deleted, or after the save that inserted it was rolled back.
    public static let objectGone = Self(rawValue: "objectGone")

    // Saving.

    /// An attribute breaks a rule of the model; ``DataSourceError/failures`` lists the errors if there are several.
    public static let validationFailed = Self(rawValue: "validationFailed")
    /// Parts of a draft were also changed by other saves; ``DataSourceError/failures`` lists them if there are several.
    public static let draftConflict = Self(rawValue: "draftConflict")
    /// The draft was discarded.
    public static let draftDiscarded = Self(rawValue: "draftDiscarded")
    /// Two objects would have the same unique key.
    public static let uniquenessViolated = Self(rawValue: "uniquenessViolated")
    /// An object was deleted while others are linked to it by a relationship with the delete rule Deny.
    public static let deletionDenied = Self(rawValue: "deletionDenied")
    /// A string or data is longer than the store can hold.
    public static let valueTooLarge = Self(rawValue: "valueTooLarge")
    /// No key is left for a new object.
    public static let keysExhausted = Self(rawValue: "keysExhausted")
    /// A sync got an empty list, but there are objects in scope.
    public static let emptySync = Self(rawValue: "emptySync")
    /// A sync would delete a greater share of the objects in scope than allowed.
    public static let syncDeletesTooMuch = Self(rawValue: "syncDeletesTooMuch")

    /// A hook of `sync` returned an object of another entity than the one being synced.
    public static let syncEntityMismatch = Self(rawValue: "syncEntityMismatch")
    /// The store was reset during the call; none of its changes are in the new store.
    public static let storeReset = Self(rawValue: "storeReset")
    /// The save was discarded by `discardPending()`, or depends on one that was.
    public static let pendingDiscarded = Self(rawValue: "pendingDiscarded")
    /// An earlier save of the same data source could not be written, and this one may depend on it.
    public static let saveTakenBack = Self(rawValue: "saveTakenBack")

    /// A write that no call waits for threw an error of the app, which is the cause.
    public static let writeFailed = Self(rawValue: "writeFailed")

    // Queries.

    /// A request is invalid: it has a negative limit, for example.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// A predicate or another part of a query is invalid, for example a comparison of values that cannot be compared.
    public static let invalidPredicate = Self(rawValue: "invalidPredicate")
    /// A predicate format has a syntax error, or its arguments do not fit.
    public static let unreadablePredicate = Self(rawValue: "unreadablePredicate")
    /// A part of a predicate that is evaluated on objects threw an error.
    public static let predicateFailed = Self(rawValue: "predicateFailed")
    /// A query needs a feature that this release does not have.
    public static let unsupportedQuery = Self(rawValue: "unsupportedQuery")

    /// A sum is larger than its type can hold.
    public static let numberOverflow = Self(rawValue: "numberOverflow")

    // Transfer.

    /// A graph cannot be exported or imported: it is not JSON, a value does not have its attribute's type, a key is missing or
    /// duplicate, or a link leads nowhere. The message names the place.
    public static let invalidGraph = Self(rawValue: "invalidGraph")

    // The store.

    /// Another process, or another container in this one, has the store open.
    public static let storeInUse = Self(rawValue: "storeInUse")
    /// The store stayed locked for too long.
    public static let storeBusy = Self(rawValue: "storeBusy")
    /// Another process holds the right to write to the data source, or to one that the change can affect, and did not hand it
    /// over in time. The message names the process.
    public static let ownedElsewhere = Self(rawValue: "ownedElsewhere")
    /// A batch runs for long while another process waits for its lease. The message names the data source.
    public static let batchHoldsLease = Self(rawValue: "batchHoldsLease")
    /// This process was stopped for so long that another one writes to the data source now. Its unwritten saves are
    /// refused, and so are batches that were running.
    public static let leaseLost = Self(rawValue: "leaseLost")
    /// The server of the store cannot be reached, or so much is waiting to be written that the container accepts no more at
    /// present.
    public static let storeUnavailable = Self(rawValue: "storeUnavailable")
    /// It is unknown whether a save is in the store. After a disk failure, the store accepts no more saves until it is opened
    /// again. After a lost connection to a server, the next save finds out.
    public static let outcomeUnknown = Self(rawValue: "outcomeUnknown")
    /// There is no room left on the disk.
    public static let diskFull = Self(rawValue: "diskFull")
    /// The store's files were moved, replaced or deleted while it was open.
    public static let storeMoved = Self(rawValue: "storeMoved")
    /// The write-ahead log cannot be copied into the store, so it grows.
    public static let checkpointFailed = Self(rawValue: "checkpointFailed")
    /// A read that stays open keeps old data from being removed, so that the write-ahead log grows, or the tables of a server.
    public static let readerBlocksCheckpoint = Self(rawValue: "readerBlocksCheckpoint")
    /// The store cannot be read or written: an I/O error.
    public static let storeUnreadable = Self(rawValue: "storeUnreadable")
    /// The user may not read or write the store.
    public static let permissionDenied = Self(rawValue: "permissionDenied")
    /// The store is open for reading only.
    public static let storeReadOnly = Self(rawValue: "storeReadOnly")
    /// A stored value does not have its attribute's type, and reads as another value.
    public static let damagedValue = Self(rawValue: "damagedValue")
    /// The path is not a file: it is a directory or a device, or its folder is missing.
    public static let notAFile = Self(rawValue: "notAFile")
    /// A file with that name already exists, so no backup can be written or store restored there.
    public static let fileExists = Self(rawValue: "fileExists")
    /// The file is not an SQLite database.
    public static let notADatabase = Self(rawValue: "notADatabase")
    /// The database belongs to another program, or lacks parts that this library writes.
    public static let foreignDatabase = Self(rawValue: "foreignDatabase")
    /// The database is damaged.
    public static let storeCorrupt = Self(rawValue: "storeCorrupt")
    /// A newer release of this library wrote the store.
    public static let newerFormat = Self(rawValue: "newerFormat")
    /// The store was made for another model or database key, and the reset policy is ``ResetPolicy/fail``, or the store is on a
    /// server.
    public static let modelChanged = Self(rawValue: "modelChanged")
    /// The store cannot be opened while a thread waits for it: it is on a server or, if the thread is the main thread, it must be
    /// migrated first or is a custom store.
    public static let openingWouldBlock = Self(rawValue: "openingWouldBlock")
    /// The model breaks a rule, or cannot be read.
    public static let unreadableModel = Self(rawValue: "unreadableModel")
}

extension DataSourceError {
    /// The error of a store that is used after it was closed.
    package static let storeClosed = DataSourceError(
        .storeClosed, "The store was closed. Open it again before using it.")
}

extension DataSourceError: LocalizedError {
    /// What happened and what to do: the ``message``.
    public var errorDescription: String? { message }

    /// The message of the operating system or the store.
    public var failureReason: String? { cause }
}

extension DataSourceError {
    /// - Parameter notMigratable: The reason, in whole sentences.
    package init(notMigratable reason: String) {
        self.init(.notMigratable, reason)
    }
}

extension DataSourceError.Code {
    /// Rows cannot be carried over. Opening then does what the policy says; no caller sees this error.
    package static let notMigratable = Self(rawValue: "notMigratable")
}

extension DataSourceError {
    package static let storeReadOnly = DataSourceError(
        .storeReadOnly,
        "The store is open for reading only, so nothing can be saved. Open it without Configuration.isReadOnly to save."
    )
}
