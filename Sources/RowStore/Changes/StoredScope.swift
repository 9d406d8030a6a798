package import Foundation

/// The state of a scope in a store. A scope is one list of a server. A custom store encodes and decodes this value, and does
/// not need to know the contents.
public struct StoredScope: Sendable, Hashable, Codable {
    /// The name, which identifies the scope.
    public let name: String
    /// The name of the entity whose rows the list covers.
    package var entity: String
    /// The format of the predicate that the rows of the list match; empty for all rows of the entity. If the data source maps
    /// answers by a version other than 0, the string begins with the version: see ``predicate(_:mappingVersion:)``.
    package var predicate: String
    /// The time of the request whose answer the rows show; nil if no answer was stored.
    package var requestedAt: Date?
    package var entityTag: String?
    package var cursor: String?
    /// Whether the stored answers contain the whole list. False if pages of the list are still missing.
    package var isComplete = false
    /// The number of failed requests since the last answer.
    package var failureCount: Int64 = 0
    package var failedAt: Date?
    package var failure: String?
    /// The time before which no further request should be made.
    package var retryAt: Date?
    /// The ``ScopeChange/number`` of the stored answer; 0 if no answer was stored.
    package var answer: Int64 = 0
    /// A number that changes with each stored answer, and whenever the entity tag and the cursor are dropped.
    package var version: Int64 = 0

    package init(name: String, entity: String, predicate: String) {
        self.name = name
        self.entity = entity
        self.predicate = predicate
    }

    /// Drops the entity tag and the cursor, because the rows no longer show the answer to which they belong.
    package mutating func dropTag() {
        guard entityTag != nil || cursor != nil else { return }
        (entityTag, cursor) = (nil, nil)
        version &+= 1
    }

    /// Returns the value of ``predicate`` for a data source that maps answers by the given version. The version is a part of the
    /// string, so a scope of another version counts as another scope. Version 0 adds nothing to the string, so scopes of earlier
    /// releases have version 0. No predicate format begins with the added words.
    package static func predicate(_ format: String, mappingVersion: Int) -> String {
        mappingVersion == 0 ? format : "\(mappingWord) \(mappingVersion): \(format)"
    }

    /// The word before the version in ``predicate``. The SQL of the stores uses this word, too.
    package static let mappingWord = "mapping"

    /// The format of the predicate, without the version of the mapping.
    package var format: String {
        let words = predicate.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == StoredScope.mappingWord, let version = Int(words[1].dropLast()),
            words[1] == "\(version):"
        else { return predicate }
        return String(words[2])
    }

    /// The largest number of scopes that a store keeps. Beyond it, the scopes with the oldest requests are forgotten.
    package static let limit = 10_000
}

/// A change of the stored state of a scope. The change belongs to a save, and is written in the transaction of the save.
package struct ScopeChange: Sendable {
    package enum Event: Sendable {
        /// The save writes the rows of an answer.
        case loaded(entityTag: String?, cursor: String?, isComplete: Bool)
        /// The server has answered that the list still has the stored entity tag or cursor. The change is written only if
        /// ``StoredScope/version`` is still `since`.
        case notModified(since: Int64)
        case failed(String, at: Date, retryAt: Date)
        /// The store forgets the scope.
        case forgotten
    }

    package let name: String
    package let entity: String
    package let predicate: String
    package let requestedAt: Date?
    package var event: Event
    /// The ``StoredScope/version`` from which the request has taken its cursor, if the answer may have only the changes since this
    /// cursor; nil for a whole list. If the stored scope has another version when the change is written, the rows may lack objects that
    /// the answer lacks, too. Then the answer is stored without its entity tag and its cursor, so that the next request gets the whole
    /// list.
    package var changesSince: Int64?
    /// A random number, which differs from the numbers of all other answers, also of those before a reset of the store.
    package let number = newNumber()

    package static func newNumber() -> Int64 { .random(in: 1...1 << 62) }

    package init(name: String, entity: String, predicate: String, requestedAt: Date?, _ event: Event) {
        self.name = name
        self.entity = entity
        self.predicate = predicate
        self.requestedAt = requestedAt
        self.event = event
    }

    /// - Throws: `validationFailed` for the character U+0000, which not all stores can keep.
    package func check() throws(DataSourceError) {
        var texts: [String?] = [name, predicate]
        if case .loaded(let tag, let cursor, _) = event { texts += [tag, cursor] }
        guard texts.contains(where: { $0?.utf8.contains(0) == true }) else { return }
        throw DataSourceError(
            .validationFailed,
            "The name, the predicate, the entity tag or the cursor of a scope contains the character U+0000, which not all stores can keep. Remove the character, or pass nil.",
            entityName: entity)
    }

    /// Whether the store forgets the scope.
    package var isForgotten: Bool { if case .forgotten = event { true } else { false } }

    /// Whether the change is a failure, which keeps the stored answer.
    package var isFailure: Bool { if case .failed = event { true } else { false } }

    /// Whether the change belongs to a stored scope. False if the stored scope has the same name, but another entity or
    /// predicate. If a change forgets a scope, and the predicate of the change has no version of the mapping, the change
    /// belongs to the scopes of all versions.
    package func concerns(_ stored: StoredScope) -> Bool {
        ExactString(stored.name) == ExactString(name) && ExactString(stored.entity) == ExactString(entity)
            && (ExactString(stored.predicate) == ExactString(predicate)
                || isForgotten && ExactString(stored.format) == ExactString(predicate))
    }

    /// Returns the state of the scope after the change; nil if the change does not apply, or if the store forgets the scope.
    ///
    /// - Parameter stored: The state before the change; nil if the store does not know the scope.
    package func result(after stored: StoredScope?) -> StoredScope? {
        var scope = StoredScope(name: name, entity: entity, predicate: predicate)
        if let stored, concerns(stored) { scope = stored }
        switch event {
        case .loaded(let entityTag, let cursor, let isComplete):
            let isOutdated = changesSince.map { $0 != scope.version } ?? false
            (scope.entityTag, scope.cursor) = isOutdated ? (nil, nil) : (entityTag, cursor)
            scope.isComplete = isComplete
        case .notModified(let version):
            guard scope.entityTag != nil || scope.cursor != nil, scope.version == version else { return nil }
        case .failed(let reason, let date, let retryAt):
            scope.failureCount = scope.failureCount == .max ? .max : scope.failureCount + 1
            (scope.failure, scope.failedAt, scope.retryAt) = (reason, date, retryAt)
            return scope
        case .forgotten: return nil
        }
        scope.requestedAt = requestedAt
        // Only the last page clears the failures: after an earlier page, the next page may fail again and again.
        if !isPartOfList { (scope.failureCount, scope.failure, scope.failedAt, scope.retryAt) = (0, nil, nil, nil) }
        (scope.answer, scope.version) = (number, number)
        return scope
    }

    /// Whether the change is an answer that does not complete the list.
    package var isPartOfList: Bool { if case .loaded(_, _, isComplete: false) = event { true } else { false } }

    package var byteCount: Int {
        guard case .loaded(let tag, let cursor, _) = event else { return 64 }
        return 64 + (tag?.utf8.count ?? 0) + (cursor?.utf8.count ?? 0)
    }
}

/// The columns of the table of scopes, in the order of ``StoredScope/values``.
extension StoredScope {
    package static let columns = [
        "name", "entity", "predicate", "requested", "tag", "cursor", "complete", "failures", "failed", "failure",
        "retry",
        "answer", "version",
    ]

    /// The columns as SQL, with NULL in the place of the entity tag, the cursor and the failure.
    package static let columnsWithoutTexts = columns.map { column in
        ["tag", "cursor", "failure"].contains(column) ? "NULL" : "\"\(column)\""
    }

    package var values: [RowValue] {
        [
            .text(name), .text(entity), .text(predicate), .init(requestedAt), .init(entityTag), .init(cursor),
            .integer(isComplete ? 1 : 0), .integer(failureCount), .init(failedAt), .init(failure), .init(retryAt),
            .integer(answer), .integer(version),
        ]
    }

    /// Reads a row. A value of a wrong type counts as missing.
    package init?(values: [RowValue]) {
        guard values.count == StoredScope.columns.count, let name = values[0].scopeText,
            let entity = values[1].scopeText, let predicate = values[2].scopeText
        else { return nil }
        self.init(name: name, entity: entity, predicate: predicate)
        requestedAt = values[3].scopeDate
        (entityTag, cursor) = (values[4].scopeText, values[5].scopeText)
        isComplete = values[6].scopeNumber == 1
        failureCount = max(0, values[7].scopeNumber)
        (failedAt, failure, retryAt) = (values[8].scopeDate, values[9].scopeText, values[10].scopeDate)
        (answer, version) = (values[11].scopeNumber, values[12].scopeNumber)
    }
}

extension RowValue {
    fileprivate init(_ date: Date?) {
        let seconds = date?.timeIntervalSinceReferenceDate ?? .nan
        self = seconds.isFinite ? .real(seconds) : .null
    }

    fileprivate init(_ text: String?) {
        self = text.map { .text($0) } ?? .null
    }

    fileprivate var scopeText: String? { if case .text(let text) = self { text } else { nil } }
    fileprivate var scopeNumber: Int64 { if case .integer(let number) = self { number } else { 0 } }
    fileprivate var scopeDate: Date? {
        switch self {
        case .real(let seconds) where seconds.isFinite: Date(timeIntervalSinceReferenceDate: seconds)
        case .integer(let seconds): Date(timeIntervalSinceReferenceDate: Double(seconds))
        default: nil
        }
    }
}
