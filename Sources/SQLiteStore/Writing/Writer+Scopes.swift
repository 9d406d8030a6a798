internal import Foundation
internal import RowStore

extension Connection {
    /// Records the rollback of a transaction that may have made the table of scopes.
    func forgetNewScopeTable() { if scopeTable == .present { scopeTable = .unknown } }

    /// Records that another connection may have made the table of scopes.
    func expectScopeTable() { if scopeTable == .missing { scopeTable = .unknown } }

    fileprivate func hasScopeTable() throws(DataSourceError) -> Bool {
        if scopeTable == .unknown {
            let found = try values("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(ScopeTable.name)'")
            scopeTable = found.isEmpty ? .missing : .present
        }
        return scopeTable == .present
    }

    fileprivate func scope(named name: String) throws(DataSourceError) -> StoredScope? {
        try values(ScopeTable.selectSQL, [.text(name)]).first.flatMap(StoredScope.init(values:))
    }
}

extension Writer {
    /// Drops the entity tags that the save makes outdated, and writes the save's changes of scopes.
    func writeScopes(of set: ChangeSet) throws(DataSourceError) {
        if set.scopes.contains(where: { !$0.isForgotten }), try !connection.hasScopeTable() {
            try ScopeTable.check(schema)
            try connection.run(ScopeTable.createSQL)
            connection.scopeTable = .present
        }
        let entities = set.entitiesWithDeletions(schema.layout)
        if !entities.isEmpty, try connection.hasScopeTable() { try dropTags(of: entities, except: set.loadedScopes) }
        if set.scopes.isEmpty { return }
        guard try connection.hasScopeTable() else { return }
        for group in set.groupedScopes(upTo: ScopeTable.deletionLimit) {
            guard let change = group.first else { continue }
            if change.isForgotten {
                _ = try connection.values(ScopeTable.positionSQL, [])
                _ = try connection.values(
                    ScopeTable.deletionSQL(group.count),
                    group.flatMap { [.text($0.name), .text($0.entity), .text($0.predicate)] })
                statementsRun += 2
                continue
            }
            let stored = try connection.scope(named: change.name)
            guard let scope = change.result(after: stored) else { continue }
            let sql = change.isFailure ? ScopeTable.failureSQL : ScopeTable.insertSQL
            _ = try connection.values(sql, scope.values)
            if stored == nil { _ = try connection.values(ScopeTable.trimSQL, [.text(scope.name)]) }
            statementsRun += 1
            rowsWritten += 1
        }
    }

    /// Drops the entity tags and cursors of scopes.
    ///
    /// - Parameters:
    ///   - entities: The names of the scopes' entities; nil for all scopes.
    ///   - kept: The names of scopes whose tags stay.
    func dropTags(of entities: Set<String>?, except kept: [String] = []) throws(DataSourceError) {
        guard try connection.hasScopeTable() else { return }
        guard let entities else {
            try connection.run(ScopeTable.dropTagsSQL)
            return
        }
        for entity in entities.sorted() {
            let names = kept.indices.map { "?\($0 + 2)" }.joined(separator: ", ")
            _ = try connection.values(
                ScopeTable.dropTagsSQL + " AND \"entity\" = ?1 AND \"name\" NOT IN (\(names))",
                [.text(entity)] + kept.map { .text($0) })
        }
    }
}

extension Reader: ScopeReader {
    func scope(named name: String) throws(DataSourceError) -> StoredScope? {
        connection.expectScopeTable()
        guard try connection.hasScopeTable() else { return nil }
        counters.count(statements: 2)
        return try connection.scope(named: name)
    }
}

extension Reader: RequestReader {
    func lastAnswerPosition() throws(DataSourceError) -> Int64 {
        connection.expectScopeTable()
        guard try connection.hasScopeTable() else { return 0 }
        counters.count(statements: 2)
        let found = try connection.values(ScopeTable.lastPositionSQL).first?.first
        return if case .integer(let position) = found { position } else { 0 }
    }

    func scopes(
        after position: Int64, requestedSince time: Date, listsSince listTime: Date
    ) throws(DataSourceError) -> [StoredScope] {
        connection.expectScopeTable()
        guard try connection.hasScopeTable() else { return [] }
        counters.count(statements: 2)
        let times = [time, listTime].map { RowValue.real($0.timeIntervalSinceReferenceDate) }
        return try connection.values(ScopeTable.laterRequestsSQL, [.integer(position)] + times)
            .compactMap(StoredScope.init(values:))
    }
}
