public import Foundation
internal import RowStore

/// Describes the objects that one list of a server covers, with a name and an optional predicate.
///
/// ```swift
/// let adults = SyncScope(
///     "adults", ContactEntity.self, where: \.age >= 18)
/// ```
///
/// For each scope, the store keeps the time of the last request that got an answer, the entity tag and the cursor of the
/// answer, and the failures since. Read these values with ``DataSource/freshness(of:)``. Answers of the server are stored with
/// ``DataSource/load(_:maxAge:whenStale:timeLimit:deleting:options:_:)`` or
/// ``DataSource/apply(_:to:requestedAt:since:deleting:options:)``.
///
/// A list shows the freshness of a scope with its rows: ``ObjectRequest/freshnessOf``.
///
/// Give each scope a unique name. A scope counts as never loaded if its predicate has changed, or if the
/// ``DataSource/mappingVersion`` of its data source has changed. A store keeps at most 10,000 scopes. Beyond this number, it
/// forgets the scopes with the oldest requests, but not their objects.
///
/// Two scopes are the same if the bytes of their names and of the formats of their predicates are equal: é as one character and é
/// as two characters are different names.
public struct SyncScope<Object: ManagedObject>: Sendable, Hashable {
    /// The name, which identifies the scope in the store.
    public let name: String
    /// The predicate of the objects that the list covers; nil for all objects.
    public let predicate: FetchPredicate<Object>?
    /// The objects that are deleted because they are too old or too many; nil for none.
    public let eviction: ScopeEviction<Object>?
    /// The format of the predicate.
    let format: String
    /// Whether the predicate can be made again from its format. If not, different predicates can have the same format.
    let hasFormat: Bool

    /// Makes a scope.
    ///
    /// ```swift
    /// let all = SyncScope("contacts", ContactEntity.self)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - type: The class of the objects.
    ///   - predicate: The predicate of the objects that the list covers; nil, the default, for all objects.
    ///   - eviction: The objects to delete because they are too old or too many; nil, the default, for none. The store does not
    ///     keep this value: a scope with another eviction than before is the same scope.
    public init(
        _ name: String, _ type: Object.Type = Object.self, where predicate: FetchPredicate<Object>? = nil,
        evicting eviction: ScopeEviction<Object>? = nil
    ) {
        self.name = name
        self.predicate = predicate
        self.eviction = eviction
        format = predicate?.predicateFormat ?? ""
        hasFormat = predicate?.tree.hasFormat ?? true
    }

    /// Makes the scope of one object. This is the scope that
    /// ``DataSource/value(where:equals:as:maxAge:whenStale:timeLimit:orLoad:)`` uses. The name is the entity and the format of
    /// the predicate, such as `ContactEntity uid == "7"`.
    ///
    /// ```swift
    /// let contact = SyncScope(where: \ContactEntity.uid, equals: "7")
    /// let age = try contacts.freshness(of: contact)
    /// ```
    ///
    /// - Parameters:
    ///   - attribute: The attribute that identifies the object.
    ///   - key: The value of the attribute.
    public init<Key: AttributeStorable>(
        where attribute: any KeyPath<Object, Key> & Sendable, equals key: Key
    ) {
        let predicate = FetchPredicate<Object>.compare(attribute, .equal, key)
        self.init(ObjectScope.name(Object.entityName, predicate.predicateFormat), where: predicate)
    }

    public static func == (lhs: SyncScope, rhs: SyncScope) -> Bool {
        lhs.id == rhs.id && lhs.predicate == rhs.predicate && lhs.eviction == rhs.eviction
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension SyncScope: CustomStringConvertible {
    /// The name, the entity, and the predicate: `adults: ContactEntity where age >= 18`.
    public var description: String {
        "\(name): \(Object.entityName)" + (predicate.map { " where \($0)" } ?? "")
    }
}

/// How old the objects of a scope are, and what a server needs to know for the next request.
///
/// ```swift
/// let freshness = try contacts.freshness(of: all)
/// if freshness.isStale(after: .seconds(300)) {
///     print("Last updated", freshness.requestedAt as Any)
///     print("Last failure", freshness.lastFailure as Any)
/// }
/// ```
public struct ScopeFreshness: Sendable, Hashable {
    /// The time of the request whose answer the objects show; nil if no answer was stored.
    public let requestedAt: Date?
    /// The entity tag of the answer; nil if the answer had none, or if the objects no longer show that answer.
    public let entityTag: String?
    /// The cursor of the answer; nil if the answer had none, or if the objects no longer show that answer.
    public let cursor: String?
    /// Whether the objects show the whole list. After a page that is not the last page, they do not.
    public let isComplete: Bool
    /// The number of failed loads since the last answer that completed the list, or confirmed it.
    public let failureCount: Int
    /// The kind of the last failure, without any values; nil if there was no failure since the last answer. For a
    /// ``DataSourceError``, this is the raw value of its code; for other errors, the name of the type, and for a
    /// `CustomNSError` also its code, such as `URLError -1009`.
    public let lastFailure: String?
    /// The time of the last failure; nil if there was no failure.
    public let failedAt: Date?
    /// The time before which loads do not try again; nil if there was no failure. A load with the `maxAge` zero tries at once.
    public let retryAt: Date?
    /// Whether a load of the scope was running when this value was read, for example for the indicator of a view. A list gets
    /// a new value when a load begins, and when it ends.
    ///
    /// ```swift
    /// if list.freshness?.isLoading == true { print("Refreshing") }
    /// ```
    ///
    /// These calls load a scope: ``DataSource/load(_:maxAge:whenStale:timeLimit:deleting:options:_:)``, and with a `maxAge`
    /// ``DataSource/value(where:equals:as:maxAge:whenStale:timeLimit:orLoad:)``. They count while they run in this container, with
    /// the pages of a list, the requests that are made again, and the background loads of ``StalePolicy/serveStale``. A load that
    /// waits for another process counts, too. The loads of other processes and of other containers do not count, because a
    /// process does not tell the others when its load begins. The store does not keep this value.
    ///
    /// In the result of a load with ``StalePolicy/serveStale``, the value says whether the objects are now being loaded. If they
    /// are stale, and the value is false, no load has begun, because loads wait until ``retryAt`` after a failure.
    public internal(set) var isLoading = false
    /// The number of the answer; 0 if no answer was stored.
    let answer: Int64
    /// A number that changes with each answer, and whenever the entity tag and the cursor are dropped.
    let version: Int64
    /// The number of resets of the store when this value was read. Also set if no answer was stored.
    let generation: Int

    /// Makes a value for a test or a preview. Such a value does not come from a store.
    ///
    /// ```swift
    /// let old = ScopeFreshness(
    ///     requestedAt: Date() - 300, failureCount: 1, lastFailure: "URLError -1009")
    /// #expect(old.isStale(after: .seconds(60)))
    /// ```
    ///
    /// - Parameters:
    ///   - requestedAt: The time of the request; nil, the default, if no answer was stored.
    ///   - entityTag: The entity tag of the answer.
    ///   - cursor: The cursor of the answer.
    ///   - isComplete: Whether the objects show the whole list. Nil, the default, means yes if there was a request, and no
    ///     otherwise.
    ///   - failureCount: The number of failed loads.
    ///   - lastFailure: The kind of the last failure.
    ///   - failedAt: The time of the last failure.
    ///   - retryAt: The time before which loads do not try again.
    ///   - isLoading: Whether a load is running; false by default.
    public init(
        requestedAt: Date? = nil, entityTag: String? = nil, cursor: String? = nil, isComplete: Bool? = nil,
        failureCount: Int = 0, lastFailure: String? = nil, failedAt: Date? = nil, retryAt: Date? = nil,
        isLoading: Bool = false
    ) {
        (self.requestedAt, self.entityTag, self.cursor) = (requestedAt, entityTag, cursor)
        self.isComplete = isComplete ?? (requestedAt != nil)
        (self.failureCount, self.lastFailure) = (failureCount, lastFailure)
        (self.failedAt, self.retryAt, self.isLoading) = (failedAt, retryAt, isLoading)
        (answer, version, generation) = (0, 0, 0)
    }

    /// - Parameter generation: The number of resets, read after the scope.
    init(_ stored: StoredScope?, generation: Int) {
        self.generation = generation
        requestedAt = stored?.requestedAt
        entityTag = stored?.entityTag
        cursor = stored?.cursor
        isComplete = stored?.isComplete ?? false
        failureCount = Int(clamping: stored?.failureCount ?? 0)
        (lastFailure, failedAt, retryAt) = (stored?.failure, stored?.failedAt, stored?.retryAt)
        (answer, version) = (stored?.answer ?? 0, stored?.version ?? 0)
    }

    /// The code of the last failure, if its error was a `CustomNSError` such as `URLError`, for example -1009 if the device is
    /// offline. Nil for other errors, and if there was no failure.
    public var lastFailureCode: Int? {
        let words = lastFailure?.split(separator: " ") ?? []
        return words.count < 2 ? nil : words.last.flatMap { Int($0) }
    }

    /// Whether the objects are older than a limit, are incomplete, or were never loaded.
    ///
    /// The age counts from the request, because the server may have changed the list since. If the request seems to be in the
    /// future, because a clock was changed, the objects are stale.
    ///
    /// ```swift
    /// let isOld = freshness.isStale(after: .seconds(300))
    /// ```
    ///
    /// - Parameters:
    ///   - maxAge: The age from which the objects are stale. With zero, they are always stale.
    ///   - date: The current time.
    public func isStale(after maxAge: Duration, at date: Date = Date()) -> Bool {
        guard isComplete, let requestedAt else { return true }
        let age = date.timeIntervalSince(requestedAt)
        return !(age >= 0 && age < maxAge / .seconds(1))
    }

    /// Whether it is too early to try again after a failure. Checks both dates, because another program may have written
    /// wrong dates.
    func isPostponed(at date: Date) -> Bool {
        guard let failedAt, let end = postponedUntil else { return false }
        return date >= failedAt && date < end
    }

    /// The time before which loads do not try again, at most a day after the failure.
    var postponedUntil: Date? {
        guard let failedAt, let retryAt else { return nil }
        return min(retryAt, failedAt + LoadPauses.longestAsked)
    }
}

extension ScopeFreshness: CustomStringConvertible {
    /// The time of the request, and what is known of failures and of a running load: `requested 2026-11-30T08:00:00Z, entity tag
    /// a7`, or `never loaded, 2 failures, the last URLError -1009 at 2026-11-30T08:00:00Z, next try 2026-11-30T08:01:00Z`.
    public var description: String {
        var parts = [requestedAt.map { "requested \(Self.text($0))" } ?? "never loaded"]
        if requestedAt != nil, !isComplete { parts.append("incomplete") }
        if let entityTag { parts.append("entity tag \(entityTag)") }
        if let cursor { parts.append("cursor \(cursor)") }
        if failureCount > 0 { parts.append(failureCount == 1 ? "1 failure" : "\(failureCount) failures") }
        if let lastFailure { parts.append("the last \(lastFailure)" + (failedAt.map { " at \(Self.text($0))" } ?? "")) }
        if let retryAt { parts.append("next try \(Self.text(retryAt))") }
        if isLoading { parts.append("loading") }
        return parts.joined(separator: ", ")
    }

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}

extension RootTier {
    /// Reads how old the objects of a scope are.
    ///
    /// - Throws: `scopesNotKept` if the store keeps no scopes; errors of the store.
    func freshness(of id: ScopeID) throws(DataSourceError) -> ScopeFreshness {
        let found = try stored(id)
        // Read the generation, which is the number of resets, after the scope. If the store is reset between the two reads, the
        // freshness has the new generation. The next request comes after the reset, so its answer may be stored.
        return ScopeFreshness(found, generation: generation)
    }

    /// Like ``freshness(of:)``. If rows are pinned, reads the freshness as of the same time as the rows, so that the
    /// freshness is not newer than the rows.
    func freshness(of id: ScopeID, in pinned: PinnedRows?) throws(DataSourceError) -> ScopeFreshness {
        if let pinned, let found = try scope(id, in: pinned) {
            return ScopeFreshness(found, generation: pinned.generation)
        }
        return try freshness(of: id)
    }

    /// Like ``freshness(of:in:)``, but reads only a scope that may have changed since it was last read.
    func latestFreshness(of id: ScopeID, in pinned: PinnedRows?) throws(DataSourceError) -> ScopeFreshness {
        if pinned == nil, let known = scopes.known(id, generation: generation) {
            return ScopeFreshness(known, generation: generation)
        }
        return try freshness(of: id, in: pinned)
    }
}

extension SyncScope {
    /// The greatest length of a scope's name, in bytes.
    private static var longestName: Int { 1 << 10 }
    /// The greatest length of a predicate's format, in bytes.
    private static var longestFormat: Int { 64 << 10 }

    /// What identifies the scope in the store, if the data source has the mapping version 0.
    var id: ScopeID { ScopeID(name: name, entity: Object.entityName, predicate: format) }

    /// - Throws: `valueTooLarge`, `unsupportedQuery`.
    func check() throws(DataSourceError) {
        guard name.utf8.count <= Self.longestName else {
            throw DataSourceError(
                .valueTooLarge,
                "The name of a scope has \(name.utf8.count) bytes. Give the scope a name of at most \(Self.longestName) bytes.",
                entityName: Object.entityName)
        }
        guard format.utf8.count <= Self.longestFormat else {
            throw DataSourceError(
                .valueTooLarge,
                "The predicate of the scope \"\(name)\" has \(format.utf8.count) bytes as a format. At most \(Self.longestFormat) bytes are kept. Use a shorter predicate, for example one of an attribute that says to which list an object belongs.",
                entityName: Object.entityName)
        }
        guard hasFormat else {
            throw DataSourceError(
                .unsupportedQuery,
                "The predicate of the scope \"\(name)\" cannot be stored, because the part in angle brackets has no format: \(format). Use a predicate that the store can evaluate.",
                entityName: Object.entityName)
        }
    }
}
