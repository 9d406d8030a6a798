/// The contents at the location of a store, if they could be read without an error.
package enum FoundStore: Sendable {
    /// There is no file, or a file without tables.
    case nothing
    /// There are tables, but no metadata of this library.
    case foreignTables
    /// There is a metadata table with these rows.
    case metadata([String: RowValue])
}

/// How to open the store that was found. A store is reset only if its metadata could be read, and says that the store was
/// made for another model or key.
package enum StartupDecision: Sendable, Equatable {
    case create
    case proceed(StoreMetadata)
    /// Drop all rows. The fallback says why the policy could not keep any rows; nil if the policy drops all rows anyway.
    case reset(StoreStartup.Reason, fallback: String? = nil)
    /// Drop the rows of these entities, and keep all other rows.
    case resetEntities(Set<String>, StoreStartup.Reason, StoreMetadata)
    /// Migrate the rows. If a migration is impossible, decide again without migration.
    case migrate(StoreStartup.Reason, StoreMetadata)

    /// - Parameters:
    ///   - obstacle: The reason why a migration has failed; nil if no migration was tried.
    ///   - restart: The policies that the error message suggests for a start with an empty store.
    /// - Throws: `foreignDatabase`; `newerFormat`; `storeCorrupt`; `modelChanged` if the store was made for another model or
    ///   key, and the policy forbids a reset.
    package init(
        _ found: FoundStore, _ wanted: StoreIdentity, _ policy: ResetPolicy, obstacle: String? = nil,
        restart: String = ".standard or .discard"
    ) throws(DataSourceError) {
        switch found {
        case .nothing:
            self = .create
        case .foreignTables:
            throw DataSourceError(
                .foreignDatabase,
                "The file is a database that another program made. Choose another path, or move that file away.")
        case .metadata(let rows):
            let metadata = try StoreMetadata(rows: rows)
            let wanted = wanted.completed(by: metadata)
            guard let reason = StoreStartup.Reason(metadata.identity, wanted) else {
                self = .proceed(metadata)
                return
            }
            if policy.migrates, reason.isModelChanged, !reason.isDatabaseKeyChanged,
                policy.withoutMigration != .fail || reason.entitiesWithChangedKey.isEmpty
            {
                self = .migrate(reason, metadata)
                return
            }
            guard policy.withoutMigration != .fail else {
                throw reason.refusal(policy, obstacle: obstacle, restart: restart)
            }
            self.init(reason, metadata, wanted: wanted, policy: policy.withoutMigration)
        }
    }

    private init(_ reason: StoreStartup.Reason, _ metadata: StoreMetadata, wanted: StoreIdentity, policy: ResetPolicy) {
        if reason.isDatabaseKeyChanged {
            self = .reset(reason)
        } else if !reason.isModelChanged {
            self = .resetEntities(Set(reason.entitiesWithChangedKey), reason, metadata)
        } else if policy == .changedEntities {
            let keyed = metadata.identity.entitiesOfOtherKeys(in: wanted)
            let dropped = Set(reason.changedEntities + reason.entitiesWithChangedKey + keyed)
            if dropped.isEmpty {
                self = .reset(reason, fallback: "The model changed, but none of its entities did.")
            } else if dropped.isSuperset(of: metadata.identity.entityHashes.keys) {
                self = .reset(reason, fallback: "Every entity changed.")
            } else {
                self = .resetEntities(dropped, reason, metadata)
            }
        } else {
            self = .reset(reason)
        }
    }
}

extension StartupDecision {
    /// Decides how to open a store for reading only.
    ///
    /// - Throws: `modelChanged` if the store needs a reset or migration; `foreignDatabase`, `newerFormat`, `storeCorrupt`.
    package init(reading found: FoundStore, _ wanted: StoreIdentity) throws(DataSourceError) {
        do throws(DataSourceError) { try self.init(found, wanted, .fail) } catch  where error.code == .modelChanged {
            throw DataSourceError(
                .modelChanged,
                "The store does not fit this app, for the reason in `cause`, and a read-only container cannot reset or migrate it. "
                    + "Open it for writing first.", cause: error.cause)
        }
    }

    /// The differences that led to the decision; nil if there are no differences.
    package var reason: StoreStartup.Reason? {
        switch self {
        case .create, .proceed: nil
        case .reset(let reason, _), .resetEntities(_, let reason, _), .migrate(let reason, _): reason
        }
    }
}

extension MigrationForecast {
    /// Predicts the result of a migration without changing the store. Returns nil if there is no store, or if its model is
    /// unchanged.
    ///
    /// - Parameter migrate: Checks whether the store's contents can be migrated. Makes no changes.
    package init?(
        _ found: FoundStore, _ wanted: StoreIdentity,
        _ migrate: (StoreMetadata) throws(DataSourceError) -> MigrationReport
    ) throws(DataSourceError) {
        switch try StartupDecision(found, wanted, .migrate) {
        case .migrate(_, let metadata):
            do throws(DataSourceError) { self = .possible(try migrate(metadata)) } catch
                where error.code == .notMigratable
            {
                self = .impossible(error.message)
            }
        case .reset(let reason, _) where reason.isModelChanged: self = .impossible("The database key changed.")
        case .create, .proceed, .reset, .resetEntities: return nil
        }
    }
}

extension StoreStartup.Reason {
    /// Finds the reason to reset or migrate the store. Returns nil if the store has the wanted identity.
    fileprivate init?(_ found: StoreIdentity, _ wanted: StoreIdentity) {
        let names = Set(found.entityHashes.keys).union(wanted.entityHashes.keys)
        let isModelChanged = found.modelHash != wanted.modelHash
        let changed = names.filter { found.entityHashes[$0] != wanted.entityHashes[$0] }.sorted()
        // Ignore the keys of added and removed entities: an added entity has no old rows, and the rows of a removed entity are
        // dropped anyway.
        let keyed = found.entityHashes.keys.compactMap { oldName -> String? in
            guard let name = wanted.newName(of: oldName), wanted.entityHashes[name] != nil,
                found.entityKeys[oldName] != wanted.entityKeys[name]
            else { return nil }
            return name
        }.sorted()
        self.init(
            isModelChanged: isModelChanged, isDatabaseKeyChanged: found.databaseKey != wanted.databaseKey,
            changedEntities: isModelChanged ? changed : [], entitiesWithChangedKey: keyed)
    }

    /// The differences, as text for the cause of an error. If many entities differ, only some are named.
    package var summary: String {
        var parts: [String] = []
        if isModelChanged {
            parts.append("the model changed" + (changedEntities.isEmpty ? "" : ": \(Self.list(changedEntities))"))
        }
        if isDatabaseKeyChanged { parts.append("the database key changed") }
        if !entitiesWithChangedKey.isEmpty { parts.append("the key of \(Self.list(entitiesWithChangedKey)) changed") }
        return parts.joined(separator: "; ")
    }

    private static let longestList = 6

    private static func list(_ names: [String]) -> String {
        if names.count <= longestList { return names.joined(separator: ", ") }
        let named = names.prefix(longestList - 1)
        return named.joined(separator: ", ") + " and \(names.count - named.count) others"
    }

    /// Makes the error for a policy that forbids a reset. The message suggests a migration only if a migration could help, and
    /// the policy does not already ask for one.
    fileprivate func refusal(_ policy: ResetPolicy, obstacle: String?, restart: String) -> DataSourceError {
        var made: [String] = []
        if isModelChanged { made.append("model") }
        if isDatabaseKeyChanged { made.append("database key") }
        if !entitiesWithChangedKey.isEmpty { made.append("key of a data source") }
        var message = "The store was made for another " + made.joined(separator: " and another ")
        if obstacle != nil { message += ", and its rows cannot be carried over, for the reason in `cause`" }
        let mayMigrate = obstacle == nil && !policy.migrates && isModelChanged && !isDatabaseKeyChanged
        message += ". Open it with the reset policy "
        if mayMigrate { message += ".migrate(otherwise:) to carry its rows over, " }
        message += "\(restart) to start over, or with an app that has the old \(made.joined(separator: " and "))."
        return DataSourceError(
            .modelChanged, message, cause: [obstacle, summary].compactMap(\.self).joined(separator: "; "))
    }
}

/// What happens to the existing rows when a store is opened. ``StoreOptions/plan(for:)`` returns this value.
///
/// Carry out the plan completely or not at all. If the process is killed, the store must have either the old metadata and the
/// old rows, or the new metadata and the kept rows.
public struct StartupPlan: Sendable {
    /// The reason why the store is made, kept or reset.
    public let reason: StoreStartup.Reason
    /// The store's new metadata.
    public internal(set) var metadata: StoreMetadata
    /// Whether the existing rows are kept, except the rows of ``droppedEntities``. If false, all rows are dropped.
    public let keepsRows: Bool
    /// The names of the entities whose rows are dropped, while all other rows are kept. The set is empty unless the key of a
    /// data source changed and the model did not. ``InMemoryRows/changes(droppingEntities:)`` returns the changes that drop
    /// these rows.
    public let droppedEntities: Set<String>
    private let fallback: String?
    /// How the history is opened; nil if the store cannot keep a history.
    var historyOpening: HistoryOpening?

    init(
        reason: StoreStartup.Reason, metadata: StoreMetadata, keepsRows: Bool, droppedEntities: Set<String> = [],
        fallback: String? = nil
    ) {
        self.reason = reason
        self.metadata = metadata
        self.keepsRows = keepsRows
        self.droppedEntities = droppedEntities
        self.fallback = fallback
    }

    /// Returns the startup that the container reports after the plan was carried out.
    ///
    /// ```swift
    /// let startup = plan.startup(
    ///     rowsDropped: rows.objectCount(of: plan.droppedEntities))
    /// ```
    ///
    /// - Parameter rowsDropped: The number of dropped objects.
    public func startup(rowsDropped: Int) -> StoreStartup {
        StoreStartup(
            reason: reason, rowsDropped: rowsDropped,
            entitiesReset: droppedEntities.isEmpty ? nil : droppedEntities.sorted(), fallback: fallback)
    }
}
