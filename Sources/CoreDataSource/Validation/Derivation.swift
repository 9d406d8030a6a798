internal import Foundation
internal import ManagedModel
internal import RowStore

/// How a derived attribute gets its value when its object is saved.
///
/// Derivations from the object's own attributes and `now()` are calculated here; one that follows a relationship gives nil.
struct Derivation {
    let column: Int
    private let source: Source

    private enum Source {
        case now
        case attribute(Int, TextChange)
        case copy(Int)
    }

    /// Nil for an attribute that is not derived, or is derived from something outside the row.
    init?(_ column: Int, _ layout: EntityLayout) {
        guard let text = layout.columns[column].attribute?.derivationExpression else { return nil }
        self.column = column
        switch DerivationExpression(text) {
        case .now:
            source = .now
        case .copy(let path):
            guard let origin = layout.column(named: path) else { return nil }
            source = .copy(origin)
        case .changed(let path, let change):
            guard let origin = layout.column(named: path) else { return nil }
            source = .attribute(origin, change)
        case nil:
            return nil
        }
    }

    /// Sets the attribute in a row that is about to be saved.
    func apply(to row: inout RowSnapshot, _ layout: EntityLayout) {
        switch source {
        case .now: row.setReal(Date().timeIntervalSinceReferenceDate, column)
        case .copy(let origin): row.setValue(row.value(origin, layout.columns[origin].storage), column)
        case .attribute(let origin, let change):
            row.setValue(row.isNull(origin) ? .null : .text(change(row.text(origin))), column)
        }
    }
}
