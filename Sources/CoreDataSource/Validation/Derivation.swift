internal import Foundation
internal import ManagedModel
internal import RowStore

/// How a derived attribute gets its value when its object is saved.
///
/// Derivations from the object's own attributes and `now()` are made here; one that follows a relationship gives nil.
struct Derivation {
    let column: Int
    private let source: Source

    private enum Source {
        case now
        case attribute(Int, (String) -> String)
        case copy(Int)
    }

    /// Nil for an attribute that is not derived, or not from something that a row has.
    init?(_ column: Int, _ layout: EntityLayout) {
        guard let expression = layout.columns[column].attribute?.derivationExpression else { return nil }
        self.column = column
        if expression.trimmingCharacters(in: .whitespaces) == "now()" {
            source = .now
            return
        }
        let parts = expression.split(separator: ":(", maxSplits: 1).map(String.init)
        let path = parts[parts.count - 1].trimmingCharacters(in: CharacterSet(charactersIn: " ()"))
        guard let origin = layout.column(named: path) else { return nil }
        switch (parts.count, parts[0]) {
        case (1, _): source = .copy(origin)
        case (2, "uppercase"): source = .attribute(origin) { $0.uppercased() }
        case (2, "lowercase"): source = .attribute(origin) { $0.lowercased() }
        case (2, "canonical"): source = .attribute(origin, canonical)
        default: return nil
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

/// The text without case and marks, for searching.
private func canonical(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
}
