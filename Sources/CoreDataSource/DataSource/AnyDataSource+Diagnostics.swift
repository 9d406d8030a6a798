internal import RowStore

/// Something that works but could be better: what it is, and what to do about it.
public struct DataSourceDiagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The entity concerned.
    public let entityName: String
    /// The attribute concerned.
    public let attributeName: String
    /// What was noticed, and what to do.
    public let message: String

    public var description: String { message }
}

extension AnyDataSource {
    /// What was noticed about the use of this data source since the container was opened, each thing once, in the order
    /// in which it was noticed; at most 64.
    ///
    /// An attribute is listed when `findOrInsert` or `first(where:equals:)` looks it up although it has neither a
    /// uniqueness constraint nor a fetch index: then the store reads every row of the entity.
    public nonisolated var diagnostics: [DataSourceDiagnostic] { tier.stack.diagnostics(of: tier.owner) }
}

extension DataSourceDiagnostic {
    /// An attribute that is looked up without an index.
    init(unindexed column: Int, _ layout: EntityLayout) {
        entityName = layout.name
        attributeName = layout.columns[column].name
        message =
            "\(entityName).\(attributeName) is looked up by its value but has neither a uniqueness constraint nor a fetch index, so every row of \(entityName) is read. Add one of them to the model."
    }
}
