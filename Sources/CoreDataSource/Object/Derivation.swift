internal import Foundation
internal import ManagedModel
internal import RowStore

/// How a derived attribute gets its value when its object is saved.
///
/// Derivations from the object's own attributes and `now()` are calculated here; those that follow a relationship when they are read,
/// see ``ManagedObject/calculatedAttribute(at:)``.
struct Derivation {
    let column: Int
    private let source: Source

    private enum Source {
        case now
        case attribute(Int, StringTransformation)
        case copy(Int)
    }

    /// Nil for an attribute that is not derived from its own row.
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
        case .changed(let path, let change):
            guard let origin = layout.column(named: path.joined(separator: ".")),
                layout.columns[origin].storage == .text,
                layout.columns[column].storage == .text
            else { return nil }
            source = .attribute(origin, change)
        case nil: return nil
        }
    }

    /// The derived attributes of an entity, each after those from which it is derived.
    static func all(of layout: EntityLayout) -> [Derivation] {
        var waiting = layout.columns.indices.compactMap { Derivation($0, layout) }
        var ordered: [Derivation] = []
        while !waiting.isEmpty {
            let columns = Set(waiting.map(\.column))
            let (later, next) = (
                waiting.filter { $0.origin.map(columns.contains) ?? false },
                waiting.filter { !($0.origin.map(columns.contains) ?? false) }
            )
            // A model that is valid has no circle.
            if next.isEmpty { return ordered + later }
            ordered += next
            waiting = later
        }
        return ordered
    }

    /// The column from which it is derived.
    private var origin: Int? {
        switch source {
        case .now: nil
        case .attribute(let origin, _), .copy(let origin): origin
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
