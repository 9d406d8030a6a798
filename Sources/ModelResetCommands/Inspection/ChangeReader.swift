internal import ManagedModel
internal import RowStore

/// Reads the changes of saves, with the models that they may have been written with.
struct ChangeReader {
    /// A row that a save has changed.
    struct Row {
        enum Kind: String {
            case inserted, updated, deleted
        }

        /// One column, with its value before and after. An inserted row has no values before, and a deleted one none after.
        struct Value {
            let column: ColumnLayout
            let before: RowValue
            let after: RowValue
        }

        let kind: Kind
        let entity: String
        let key: Int64
        let values: [Value]
    }

    private let readers: [(layout: ModelLayout, encoding: ChangeEncoding)]

    /// - Parameter models: The models from the command line. They come before the store's own copy, which has no transient
    ///   attributes and no original order of the others.
    init(_ metadata: StoreMetadata, _ models: [ManagedObjectModel]) {
        let own = metadata.model().map { [$0] } ?? []
        readers = (models + own).map { model in
            let layout = ModelLayout(model)
            return (layout, ChangeEncoding(layout))
        }
    }

    /// Nil if it was written with none of the models.
    func rows(_ words: ContiguousArray<UInt64>) -> [Row]? {
        for (layout, encoding) in readers {
            guard let changes = words.withUnsafeBufferPointer(encoding.changes) else { continue }
            return changes.entities.flatMap { rows($0, layout.entities[$0.entity]) }
        }
        return nil
    }

    private func rows(_ changes: EntityChanges, _ layout: EntityLayout) -> [Row] {
        let inserted = changes.inserted.map { stored in
            row(.inserted, layout, stored.key, layout.storedColumns, nil, stored.row)
        }
        let updated = changes.updated.map { updated in
            row(
                .updated, layout, updated.key, layout.storedColumns.filter(updated.columns.contains), updated.previous,
                updated.row)
        }
        let deleted = changes.deleted.map { stored in
            row(.deleted, layout, stored.key, layout.storedColumns, stored.row, nil)
        }
        return inserted + updated + deleted
    }

    private func row(
        _ kind: Row.Kind, _ layout: EntityLayout, _ key: Int64, _ columns: [Int], _ before: RowSnapshot?,
        _ after: RowSnapshot?
    ) -> Row {
        let values = columns.map { column in
            let description = layout.columns[column]
            return Row.Value(
                column: description, before: before?.value(column, description.storage) ?? .null,
                after: after?.value(column, description.storage) ?? .null)
        }
        return Row(kind: kind, entity: layout.name, key: key, values: values)
    }
}
