#if PostgreSQL
internal import RowStore

/// The changes of scopes that a transaction writes in its last message.
extension Writer {
    /// The scopes are counted about once in this number of changes, so a few more scopes than the limit can be kept.
    private static let changesPerTrim: Int64 = 16
    /// The largest number of scopes that one request forgets.
    private static let deletionLimit = 1000

    /// The requests to drop the entity tags that the saves invalidate, and to write the saves' changes of scopes.
    ///
    /// - Throws: `validationFailed` for the character U+0000, which PostgreSQL cannot store; `scopesNotKept`.
    func scopeRequests(
        _ saves: [ChangeSet], _ connection: Connection
    ) throws(DataSourceError) -> [Request] {
        var requests: [Request] = []
        for set in saves {
            let entities = set.entitiesWithDeletions(schema.layout)
            if !entities.isEmpty {
                requests.append(
                    Request(
                        schema.tagDropSQL + " AND \"entity\" = ANY ($1::text[]) AND NOT \"name\" = ANY ($2::text[])",
                        [WireValue(entities.sorted()), WireValue(set.loadedScopes)]))
            }
            for group in set.groupedScopes(upTo: Writer.deletionLimit) {
                for change in group { try change.check() }
                guard let change = group.first else { continue }
                if change.isForgotten {
                    requests.append(
                        Request(
                            schema.scopeDeletionSQL,
                            [
                                WireValue(group.map(\.name)), WireValue(group.map(\.entity)),
                                WireValue(group.map(\.predicate)),
                            ]))
                } else if let request = schema.request(change) {
                    requests.append(request)
                }
                if !change.isForgotten, change.number % Writer.changesPerTrim == 0 {
                    requests.append(schema.scopeTrim(keeping: change.name))
                }
            }
        }
        if requests.isEmpty { return [] }
        if try hasScopeTable(connection) { return requests }
        guard saves.allSatisfy(\.scopes.isEmpty) else { throw DataSourceError(noScopesIn: opening.options.name) }
        return []
    }

    /// Whether the store has the table of scopes. A store of an earlier release can get the table at any time.
    private func hasScopeTable(_ connection: Connection) throws(DataSourceError) -> Bool {
        if !hasScopes { hasScopes = try connection.rows(schema.scopesExistSQL).isTrue(0, 0) }
        return hasScopes
    }
}

extension WireValue {
    fileprivate init(_ texts: [String]) {
        var array = WireBuffer(.text, count: texts.count)
        for text in texts { array.append(Array(text.utf8)) }
        self.init(array)
    }
}
#endif
