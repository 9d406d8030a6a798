internal import Foundation
internal import ManagedModel
internal import QueryLanguage
internal import RowStore

/// The scopes of single objects.
enum ObjectScope {
    static func name(_ entity: String, _ format: String) -> String { "\(entity) \(format)" }

    /// Returns the changes that forget the scopes of deleted objects, so that the next look-up of such an object requests the
    /// object again. Only scopes of unique attributes are forgotten.
    ///
    /// - Parameters:
    ///   - isKept: Returns whether the scopes of a deleted object stay. The arguments are the index of the object's entity and
    ///     the object's key.
    static func forgetting(
        _ changes: ChangeSet, _ model: ModelLayout, unless isKept: (Int, Int64) -> Bool
    ) -> [ScopeChange] {
        var found: [ScopeChange] = []
        for rows in changes.entities where !rows.deleted.isEmpty {
            let layout = model.entities[rows.entity]
            let entities = model.names(ofEntitiesContaining: [rows.entity]).sorted()
            for column in layout.columns.indices where layout.constraint(onColumn: column) != nil {
                for row in rows.deleted where !isKept(rows.entity, row.key) {
                    guard let value = value(of: row.row, column, layout) else { continue }
                    let path = FetchExpression.keyPath([layout.columns[column].name])
                    let format = PredicateTree(.compare(path, .equal, .constant(value), [])).predicateFormat
                    found += entities.map { entity in
                        ScopeChange(
                            name: name(entity, format), entity: entity, predicate: format, requestedAt: nil, .forgotten)
                    }
                }
            }
        }
        return found
    }

    /// Returns the value with which an app looks up an object; nil for a type that cannot be a key.
    private static func value(of row: RowSnapshot, _ column: Int, _ layout: EntityLayout) -> FetchValue? {
        switch (layout.columns[column].attribute?.type, row.value(column, layout.storages[column])) {
        case (.string, .text(let text)): .text(text)
        case (.integer16, .integer(let number)), (.integer32, .integer(let number)), (.integer64, .integer(let number)):
            .integer(number)
        case (.uuid, .blob(let bytes)) where bytes.count == MemoryLayout<uuid_t>.size:
            .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        default: nil
        }
    }
}
