public import Foundation

/// The result of opening a store.
///
/// ```swift
/// let startup = container.startup
/// if startup.isReset {
///     print("\(startup.reason): \(startup.rowsDropped) objects dropped")
///     print("backup: \(startup.backup?.path ?? "none")")
/// }
/// ```
public struct StoreStartup: Sendable, Hashable {
    /// The reason why the store was made, kept or reset.
    public var reason: Reason
    /// The number of objects that were dropped from the old store. If ``countFailure`` is not nil, more objects were dropped
    /// than counted.
    public var rowsDropped: Int
    /// The damage because of which some dropped objects could not be counted; nil if all dropped objects were counted.
    public var countFailure: String?
    /// The backup of the old store; nil if there is none.
    public var backup: URL?
    /// The backups of ``ResetPolicy/standard`` that were removed, oldest first. They are removed if a key changed, or if the
    /// app asked for an empty store.
    public var removedBackups: [URL] = []
    /// The entities whose rows were dropped while other rows were kept, sorted; nil if all rows or no rows were dropped.
    public var entitiesReset: [String]?
    /// The objects and links that were dropped while others were kept. The cause is a policy that keeps some rows, a changed
    /// key of a data source, or a migration. Empty if the whole store was dropped, and always empty in custom stores.
    public var dropped = Dropped()
    /// The reason why the policy could not be followed. Set if a store was reset instead of migrated, or dropped completely
    /// instead of partly; otherwise nil.
    public var fallback: String?
    /// The results of the migration; nil if there was no migration.
    public var migration: MigrationReport?

    /// The objects and links that were dropped while others were kept.
    public struct Dropped: Sendable, Hashable {
        /// The number of dropped objects, by the old name of their entity. Entities without dropped objects are left out.
        public var objects: [String: Int] = [:]
        /// The number of dropped links between a kept object and a dropped object. The keys are the relationships that stored
        /// the links, such as `Note.folder`. Links between two dropped objects do not count.
        public var links: [String: Int] = [:]

        /// Makes a value without dropped objects and links.
        ///
        /// ```swift
        /// var dropped = StoreStartup.Dropped()
        /// dropped.objects["ContactEntity"] = 12
        /// ```
        public init() {}

        /// The total number of dropped objects.
        public var objectCount: Int { objects.values.reduce(0, +) }
    }

    /// Makes a startup, for example to compare with in a test.
    ///
    /// ```swift
    /// let isFirstLaunch = container.startup == StoreStartup(reason: .firstLaunch)
    /// ```
    public init(
        reason: Reason, rowsDropped: Int = 0, backup: URL? = nil, entitiesReset: [String]? = nil,
        fallback: String? = nil, migration: MigrationReport? = nil
    ) {
        self.reason = reason
        self.rowsDropped = rowsDropped
        self.backup = backup
        self.entitiesReset = entitiesReset
        self.fallback = fallback
        self.migration = migration
    }

    /// Whether an old store was dropped, completely or in part.
    public var isReset: Bool { migration == nil ? reason.isReset : rowsDropped > 0 }
}

extension StoreStartup {
    /// The reason why opening made, kept or reset the store. Compare the reason with ``current`` and the other constants, or
    /// read its properties. New reasons may be added in any release.
    public struct Reason: Sendable, Hashable {
        private enum Kind: Sendable, Hashable {
            case firstLaunch, current, requested, changed
        }

        private let kind: Kind
        /// Whether the model changed.
        public let isModelChanged: Bool
        /// Whether the database key changed.
        public let isDatabaseKeyChanged: Bool
        /// The entities that were added, changed or removed, sorted.
        public let changedEntities: [String]
        /// The entities that belong to a data source whose key changed, sorted.
        public let entitiesWithChangedKey: [String]

        private init(_ kind: Kind) {
            self.kind = kind
            isModelChanged = false
            isDatabaseKeyChanged = false
            changedEntities = []
            entitiesWithChangedKey = []
        }

        /// Makes the reason from the differences between the found store and the store that the app wants. Returns nil if there
        /// are no differences.
        package init?(
            isModelChanged: Bool, isDatabaseKeyChanged: Bool, changedEntities: [String],
            entitiesWithChangedKey: [String] = []
        ) {
            guard isModelChanged || isDatabaseKeyChanged || !entitiesWithChangedKey.isEmpty else { return nil }
            kind = .changed
            self.isModelChanged = isModelChanged
            self.isDatabaseKeyChanged = isDatabaseKeyChanged
            self.changedEntities = changedEntities
            self.entitiesWithChangedKey = entitiesWithChangedKey
        }

        /// There was no store.
        public static let firstLaunch = Reason(.firstLaunch)
        /// The store was made for this model and these keys.
        public static let current = Reason(.current)
        /// The app asked for an empty store.
        public static let requested = Reason(.requested)
        /// The database key changed.
        public static let databaseKeyChanged = Reason(key: true)
        /// The model changed.
        ///
        /// ```swift
        /// let isExpected =
        ///     container.startup.reason == .modelChanged(entities: ["ContactEntity"])
        /// ```
        ///
        /// - Parameter entities: The names of the entities that were added, changed or removed, sorted.
        public static func modelChanged(entities: [String]) -> Reason { Reason(model: entities) }
        /// The model and the database key changed.
        ///
        /// ```swift
        /// let isExpected =
        ///     container.startup.reason
        ///     == .modelAndDatabaseKeyChanged(entities: ["ContactEntity"])
        /// ```
        ///
        /// - Parameter entities: The names of the entities that were added, changed or removed, sorted.
        public static func modelAndDatabaseKeyChanged(entities: [String]) -> Reason {
            Reason(model: entities, key: true)
        }
        /// The keys of data sources changed.
        ///
        /// ```swift
        /// let isExpected =
        ///     container.startup.reason == .sourceKeysChanged(entities: ["ContactEntity"])
        /// ```
        ///
        /// - Parameter entities: The names of the data sources' entities, sorted.
        public static func sourceKeysChanged(entities: [String]) -> Reason { Reason(sourceKeys: entities) }

        private init(model entities: [String]? = nil, key: Bool = false, sourceKeys: [String] = []) {
            kind = .changed
            isModelChanged = entities != nil
            isDatabaseKeyChanged = key
            changedEntities = entities ?? []
            entitiesWithChangedKey = sourceKeys
        }

        /// Whether a startup for this reason drops an old store, completely or in part.
        public var isReset: Bool { kind == .changed || kind == .requested }

        /// The reason without the changed keys of data sources. Nil except in one case: the model and the key of a data source
        /// changed, and the database key is the same.
        package var withoutKeysOfDataSources: Reason? {
            guard isModelChanged, !isDatabaseKeyChanged, !entitiesWithChangedKey.isEmpty else { return nil }
            return .modelChanged(entities: changedEntities)
        }

        /// Whether the old rows may belong to a user who has logged out, because a key changed or the app asked for an empty
        /// store.
        package var oldRowsMayHaveAnotherOwner: Bool {
            isDatabaseKeyChanged || !entitiesWithChangedKey.isEmpty || kind == .requested
        }
    }
}

extension StoreStartup.Reason: CustomStringConvertible {
    /// The reason as a string, for example `current`, or `modelChanged(ContactEntity), databaseKeyChanged`.
    public var description: String {
        switch kind {
        case .firstLaunch: return "firstLaunch"
        case .current: return "current"
        case .requested: return "requested"
        case .changed:
            var parts: [String] = []
            if isModelChanged { parts.append("modelChanged(\(changedEntities.joined(separator: ", ")))") }
            if isDatabaseKeyChanged { parts.append("databaseKeyChanged") }
            if !entitiesWithChangedKey.isEmpty {
                parts.append("sourceKeysChanged(\(entitiesWithChangedKey.joined(separator: ", ")))")
            }
            return parts.joined(separator: ", ")
        }
    }
}
