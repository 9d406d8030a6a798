internal import ManagedModel
internal import ModelMigration
internal import RowStore

/// The values that the classes of the new model give to new objects. A class is asked only if the migration needs a value.
final class InitialRows {
    private let layout: ModelLayout
    /// The rows of two new objects, by the entity's name; nil for an entity without a class.
    private var rows: [String: (first: RowSnapshot, second: RowSnapshot)?] = [:]
    /// The values that the existing objects get, by the entity's name and the column.
    private(set) var values: [String: [Int: RowValue]] = [:]

    init(_ layout: ModelLayout) { self.layout = layout }

    /// Returns how the migration can use the initial value of a column; nil if there is none.
    func initialValue(_ entityName: String, _ column: Int) -> InitialValue? {
        guard let entity = layout.entity(named: entityName), entity.columns.indices.contains(column),
            let (first, second) = rows(of: entity), !first.isNull(column)
        else { return nil }
        let storage = entity.columns[column].storage
        let value = first.value(column, storage)
        // A date is usually the time of the evaluation. The existing objects get the time of the migration.
        let isTime = entity.columns[column].attribute?.type == .date
        guard isTime || second.holds(value, column: column) else { return .distinct }
        values[entityName, default: [:]][column] = value
        return .shared
    }

    private func rows(of entity: EntityLayout) -> (first: RowSnapshot, second: RowSnapshot)? {
        if let known = rows[entity.name] { return known }
        let found: (RowSnapshot, RowSnapshot)? = layout.initialRow(entity).flatMap { first in
            layout.initialRow(entity).map { (first, $0) }
        }
        rows[entity.name] = .some(found)
        return found
    }
}
