internal import RowStore

/// What identifies a scope: a scope with the same name and another entity or predicate counts as another scope.
///
/// Two names or predicates are equal if their bytes are equal, as in a store.
struct ScopeID: Hashable, Sendable {
    let name: ExactString
    let entity: String
    let predicate: ExactString

    init(name: String, entity: String, predicate: String) {
        (self.name, self.entity, self.predicate) = (ExactString(name), entity, ExactString(predicate))
    }

    /// - Parameter version: The version by which a data source maps answers.
    func mapped(by version: Int) -> ScopeID {
        if version == 0 { return self }
        let predicate = StoredScope.predicate(predicate.string, mappingVersion: version)
        return ScopeID(name: name.string, entity: entity, predicate: predicate)
    }
}

extension StoredScope {
    var id: ScopeID { ScopeID(name: name, entity: entity, predicate: predicate) }
}
