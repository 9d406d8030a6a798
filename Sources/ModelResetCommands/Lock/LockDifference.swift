internal import ManagedModel
internal import ModelMigration

/// What differs between a model and what was locked.
enum LockDifference {
    case comparison(ModelComparison)
    /// Why there is none.
    case remark(String)

    /// - Parameter old: The locked model; nil for one of another release.
    init(from old: ManagedObjectModel?, to new: ManagedObjectModel?) {
        guard let old, let new else {
            self = .remark("The lock file was written by another release, so the changes cannot be listed.")
            return
        }
        let comparison = ModelComparison(from: old, to: new)
        // Equal strings of other bytes.
        guard old.canonicalForm != new.canonicalForm else {
            self = .remark(
                "The names are the same in another form of Unicode. This release reads every name in NFC, and makes tables with that."
            )
            return
        }
        self =
            comparison.plan.changes.isEmpty
            ? .remark("This release lays out the tables in another way.") : .comparison(comparison)
    }

    /// Indented.
    var lines: [String] {
        switch self {
        case .comparison(let comparison): comparison.lines.map { "  \($0)" }
        case .remark(let remark): ["  \(remark)"]
        }
    }

    var changes: [String] {
        switch self {
        case .comparison(let comparison): comparison.plan.changes.map(\.description)
        case .remark(let remark): [remark]
        }
    }

    var migrationJSON: JSON { if case .comparison(let comparison) = self { comparison.migrationJSON } else { .null } }
}
