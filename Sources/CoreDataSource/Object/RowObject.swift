internal import RowStore

/// Stands for rows whose values are read.
final class RowObject: ManagedObject {
    /// The column of the first value that could not be read.
    var damage: Int?

    static func make(_ layout: EntityLayout, _ context: (any ObjectContext)?, holdsAnyValue: Bool) -> RowObject {
        make(
            ObjectHome(layout, in: context, .not, holdsAnyValue: holdsAnyValue), key: 0,
            row: RowSnapshot(columnCount: max(1, layout.columns.count)), .gone, asOf: 0)
    }

    override func noteDamage(_ column: Int) { damage = damage ?? column }
}
