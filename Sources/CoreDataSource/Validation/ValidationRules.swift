internal import Foundation
internal import ManagedModel
internal import RowStore

/// The model's rules for the rows of one entity.
struct ValidationRules {
    /// Attributes that must have a value.
    private let required: [Int]
    private let requiredSet: ColumnSet
    /// Attributes with any other rule.
    private let checked: [(column: Int, rule: AttributeRule)]
    private let defaults: [(column: Int, value: RowValue)]

    init(_ layout: EntityLayout) {
        let attributes = layout.columns.enumerated().compactMap { index, column in
            column.attribute.map { (column: index, attribute: $0) }
        }
        required = attributes.filter { !$0.attribute.isOptional && $0.attribute.derivationExpression == nil }
            .map(\.column)
        requiredSet = required.reduce(into: ColumnSet()) { $0.insert($1) }
        checked = attributes.compactMap { column, attribute in
            AttributeRule(attribute, layout.columns[column].storage).map { (column, $0) }
        }
        defaults = attributes.compactMap { column, attribute in
            if layout.calculatedPaths[column] != nil { return nil }
            return RowValue(defaultOf: attribute).map { (column, $0) }
        }
    }

    /// The row of a new object.
    func template(_ layout: EntityLayout) -> RowSnapshot {
        var row = RowSnapshot(columnCount: layout.columns.count)
        for (column, value) in defaults { row.setValue(value, column) }
        return row
    }

    /// The errors of a row that is about to be saved.
    func failures(_ row: RowSnapshot, _ layout: EntityLayout) -> [DataSourceError] {
        var failures: [DataSourceError] = []
        if !row.hasValues(in: requiredSet) {
            for column in required where row.isNull(column) {
                failures.append(failure(layout, column, "is required but has no value. Set it before the save."))
            }
        }
        for (column, rule) in checked where !row.isNull(column) {
            if let complaint = rule.complaint(row, column) { failures.append(failure(layout, column, complaint)) }
        }
        return failures
    }

    private func failure(_ layout: EntityLayout, _ column: Int, _ complaint: String) -> DataSourceError {
        DataSourceError(
            .validationFailed, "\(layout.name).\(layout.columns[column].name) \(complaint)", entityName: layout.name,
            attributeName: layout.columns[column].name)
    }
}
