extension StoreStartup {
    /// Why opening made, kept or reset the store. Compare it with ``current`` and the others, or read what changed. New reasons
    /// may be added in any release.
    public struct Reason: Sendable, Hashable {
        private enum Kind: Sendable, Hashable {
            case firstLaunch, current, requested, changed
        }

        private let kind: Kind
        /// Whether the model changed.
        public let isModelChanged: Bool
        /// Whether the database key changed.
        public let isDatabaseKeyChanged: Bool
        /// The entities that are new, changed or gone, sorted.
        public let changedEntities: [String]
        /// The entities whose data source has a changed key, sorted.
        public let entitiesWithChangedKey: [String]

        private init(_ kind: Kind) {
            self.kind = kind
            isModelChanged = false
            isDatabaseKeyChanged = false
            changedEntities = []
            entitiesWithChangedKey = []
        }

        /// The differences between a store and the requested one; nil if there are none.
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
        /// The model changed. The names are those of the entities that are new, changed or gone, sorted.
        public static func modelChanged(entities: [String]) -> Reason { Reason(model: entities) }
        /// Both changed.
        public static func modelAndDatabaseKeyChanged(entities: [String]) -> Reason {
            Reason(model: entities, key: true)
        }
        /// The keys of data sources changed. The names are those of their entities, sorted.
        public static func sourceKeysChanged(entities: [String]) -> Reason { Reason(sourceKeys: entities) }

        private init(model entities: [String]? = nil, key: Bool = false, sourceKeys: [String] = []) {
            kind = .changed
            isModelChanged = entities != nil
            isDatabaseKeyChanged = key
            changedEntities = entities ?? []
            entitiesWithChangedKey = sourceKeys
        }

        /// Whether it is a reason to drop an old store, or a part of it.
        public var isReset: Bool { kind == .changed || kind == .requested }

        /// The change of the model alone, if the keys of data sources changed with it and the database key did not; nil otherwise.
        package var withoutKeysOfDataSources: Reason? {
            guard isModelChanged, !isDatabaseKeyChanged, !entitiesWithChangedKey.isEmpty else { return nil }
            return .modelChanged(entities: changedEntities)
        }

        /// Whether the old rows may belong to a user who logged out: a key changed, or the app asked for an empty store.
        package var mayBeOfAnotherOwner: Bool {
            isDatabaseKeyChanged || !entitiesWithChangedKey.isEmpty || kind == .requested
        }
    }
}

extension StoreStartup.Reason: CustomStringConvertible {
    /// `current`, or for example `modelChanged(ContactEntity), databaseKeyChanged`.
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
