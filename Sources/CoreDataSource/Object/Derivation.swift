internal import Foundation
internal import ManagedModel
internal import RowStore

/// The calculation of a derived attribute when its object is saved.
///
/// A derivation from the object's own attributes or from `now()` is calculated at each save. A derivation along a relationship
/// is not calculated here but when the attribute is read: see ``ManagedObject/calculatedAttribute(at:)``.
struct Derivation {
    let column: Int
    private let source: Source

    private enum Source {
        case now
        case attribute(Int, StringTransformation)
        case copy(Int)
    }

    /// Returns nil unless the attribute is derived from an attribute in the same row or from `now()`.
    init?(_ column: Int, _ layout: EntityLayout) {
        self.column = column
        switch layout.columns[column].derivation {
        case .now:
            guard layout.columns[column].storage == .real else { return nil }
            source = .now
        case .path(let path):
            guard let origin = layout.column(named: path.joined(separator: ".")),
                layout.columns[origin].storage == layout.columns[column].storage
            else { return nil }
            source = .copy(origin)
        case .transformed(let path, let change):
            guard let origin = layout.column(named: path.joined(separator: ".")),
                layout.columns[origin].storage == .text,
                layout.columns[column].storage == .text
            else { return nil }
            source = .attribute(origin, change)
        case nil: return nil
        }
    }

    /// Returns the derivations of an entity. A derivation comes after the derivations of the attributes that it reads.
    static func all(of layout: EntityLayout) -> [Derivation] {
        var waiting = layout.columns.indices.compactMap { Derivation($0, layout) }
        var ordered: [Derivation] = []
        while !waiting.isEmpty {
            let columns = Set(waiting.map(\.column))
            let (later, next) = (
                waiting.filter { $0.origin.map(columns.contains) ?? false },
                waiting.filter { !($0.origin.map(columns.contains) ?? false) }
            )
            // A valid model has no cycle.
            if next.isEmpty { return ordered + later }
            ordered += next
            waiting = later
        }
        return ordered
    }

    /// The column that the attribute is derived from; nil for `now()`.
    private var origin: Int? {
        switch source {
        case .now: nil
        case .attribute(let origin, _), .copy(let origin): origin
        }
    }

    /// Sets the derived attribute in a row just before the row is saved.
    func apply(to row: inout RowSnapshot, _ layout: EntityLayout) {
        switch source {
        case .now: row.setReal(Date().timeIntervalSinceReferenceDate, column)
        case .copy(let origin): row.setValue(row.value(origin, layout.columns[origin].storage), column)
        case .attribute(let origin, let change):
            row.setValue(row.isNull(origin) ? .null : .text(change(row.text(origin))), column)
        }
    }
}
