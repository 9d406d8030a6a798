#if PostgreSQL
internal import ManagedModel
internal import RowStore

/// Deciding what to do with the generation that is there.
extension StoreOpening {
    /// Makes a generation, keeps the one that is there, or replaces it.
    func decide(
        _ registry: Registry, _ found: Registry.Entry?
    ) throws(DataSourceError) -> (Registry.Entry, StoreStartup) {
        guard let found else {
            return (try create(registry, nil) { _ in }, StoreStartup(reason: .firstLaunch))
        }
        let rows = try PostgreSQLSchema(named: found.schema).metadataRows(registry.connection)
        let decision: StartupDecision
        do throws(DataSourceError) {
            decision = try StartupDecision(.metadata(rows), options.identity, policy)
        } catch  where error.code == .modelChanged {
            throw try refused(error, registry, found)
        }
        do throws(DataSourceError) {
            return try follow(decision, registry, found)
        } catch  where error.code == .notMigratable {
            return try fallBack(from: decision, rows, error.message, registry, found)
        }
    }

    /// The default never loses rows of other users.
    private var policy: ResetPolicy {
        guard options.resetPolicy.withoutMigration == .standard else { return options.resetPolicy }
        return options.resetPolicy.migrates ? .migrate(otherwise: .fail) : .fail
    }

    private func follow(
        _ decision: StartupDecision, _ registry: Registry, _ found: Registry.Entry
    ) throws(DataSourceError) -> (Registry.Entry, StoreStartup) {
        switch decision {
        case .create, .proceed:
            return (found, StoreStartup(reason: .current))
        case .migrate(let reason, let metadata):
            let keys = metadata.identity.entityKeys
            let wanted = options.identity.completed(by: metadata).entityKeys
            var (entry, startup) = try carryOver(registry, found, metadata, reason, isMigration: true) { old, new in
                keys[old] != wanted[new]
            }
            let keyed = reason.entitiesWithChangedKey
            startup.entitiesReset = keyed.isEmpty ? nil : keyed
            return (entry, startup)
        case .resetEntities(let dropped, let reason, let metadata):
            var (entry, startup) = try carryOver(registry, found, metadata, reason, isMigration: false) { old, new in
                dropped.contains(old) || dropped.contains(new)
            }
            startup.entitiesReset = dropped.filter { options.layout.entity(named: $0)?.isAbstract != true }.sorted()
            return (entry, startup)
        case .reset(let reason, let fallback):
            var startup = StoreStartup(reason: reason, fallback: fallback)
            startup.rowsDropped = try count(registry.connection, found)
            return (try replace(registry, found, reason), startup)
        }
    }

    /// Does what the policy says if rows cannot be carried over. Of a part that cannot be kept, nothing is.
    private func fallBack(
        from failed: StartupDecision, _ rows: [String: RowValue], _ cause: String, _ registry: Registry,
        _ found: Registry.Entry
    ) throws(DataSourceError) -> (Registry.Entry, StoreStartup) {
        if case .resetEntities(_, let reason, _) = failed {
            return try follow(.reset(reason, fallback: cause), registry, found)
        }
        let decision: StartupDecision
        do throws(DataSourceError) {
            decision = try StartupDecision(.metadata(rows), options.identity, policy.withoutMigration)
        } catch  where error.code == .modelChanged {
            throw try refused(error, registry, found, cause)
        }
        do throws(DataSourceError) {
            var (entry, startup) = try follow(decision, registry, found)
            startup.fallback = [cause, startup.fallback].compactMap(\.self).joined(separator: " ")
            return (entry, startup)
        } catch  where error.code == .notMigratable {
            return try fallBack(from: decision, rows, "\(cause) \(error.message)", registry, found)
        }
    }

    /// The error if the policy is to keep the store.
    private func refused(
        _ error: DataSourceError, _ registry: Registry, _ found: Registry.Entry, _ obstacle: String? = nil
    ) throws(DataSourceError) -> DataSourceError {
        let others = try Members(registry.connection, PostgreSQLSchema(named: found.schema)).recent()
        let occupants = others.isEmpty ? nil : "it is open in " + others.map(\.description).joined(separator: ", ")
        return DataSourceError(
            .modelChanged,
            "The store was made for another model or database key. Once no process has it open, open it with the reset policy "
                + ".migrate to carry its rows over, or .discard or .backup(keep:) to start over; or use an app that has the "
                + "old model.", cause: [error.cause, obstacle, occupants].compactMap(\.self).joined(separator: "; "))
    }

    /// Replaces a generation by one with tables for the present model and the rows that are carried over, in one transaction.
    ///
    /// - Parameter isMigration: Whether the old generation is dropped, as by a migration, or treated as the policy says.
    /// - Throws: `notMigratable`; `storeInUse`, with their names, if others have the store open; `storeBusy` if another program has
    ///   its tables open; `modelChanged` if another program has added something that depends on them.
    private func carryOver(
        _ registry: Registry, _ old: Registry.Entry, _ found: StoreMetadata, _ reason: StoreStartup.Reason,
        isMigration: Bool, isDropped: (_ old: String, _ new: String) -> Bool
    ) throws(DataSourceError) -> (Registry.Entry, StoreStartup) {
        let connection = registry.connection
        let schema = try PostgreSQLSchema(named: old.schema)
        let next = try registry.next(after: old, options.name)
        let migration = try GenerationMigration(
            connection, found, from: old, to: PostgreSQLSchema(options.layout, name: next.schema),
            keepsNames: !isMigration, isDropped: isDropped)
        let silent = try checkAlone(connection, schema, besides: nil)
        let firstFreeKey = try firstFreeKey(connection, schema)
        let keep = isMigration ? 0 : options.resetPolicy.withoutMigration.backupCount(reason) ?? 0
        var startup = StoreStartup(reason: reason)
        let entry = try create(registry, old, firstFreeKey: firstFreeKey, storeID: found.storeID) {
            new throws(DataSourceError) in
            try migration.lock()
            // One that had not answered for long may have come back.
            try refuse(Members(connection, schema).changed(from: silent, besides: nil))
            let outcome = try migration.run(options.migrationProgress)
            (startup.rowsDropped, startup.dropped) = (outcome.dropped.objectCount, outcome.dropped)
            if isMigration {
                startup.migration = migration.report(rowsCarried: outcome.rowsCarried, unmet: outcome.unmet)
            }
            _ = try connection.rows(
                "UPDATE \(new.term(PostgreSQLSchema.keys)) SET next = $1", [WireValue(outcome.firstFreeKey)])
            if keep > 0 { try registry.retire(old, of: options.name, keeping: keep) } else { try migration.dropOld() }
        }
        return (entry, startup)
    }
}
#endif
