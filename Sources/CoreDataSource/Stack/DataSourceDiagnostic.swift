internal import RowStore

/// A remark about a use that works but could be better, with what to do about it.
public struct DataSourceDiagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The entity concerned.
    public let entityName: String
    /// The attribute concerned.
    public let attributeName: String
    /// What was noticed, and what to do.
    public let message: String

    public var description: String { message }
}

extension DataSourceDiagnostic {
    /// An attribute that is looked up without an index.
    init(unindexed column: Int, _ layout: EntityLayout) {
        entityName = layout.name
        attributeName = layout.columns[column].name
        message =
            "\(entityName).\(attributeName) is looked up by its value but has neither a uniqueness constraint nor a fetch index, so every row of \(entityName) is read. Add a uniqueness constraint or a fetch index to the model."
    }

    /// An attribute whose values are looked up one by one on a server.
    init(roundTripsFor column: Int, _ layout: EntityLayout) {
        entityName = layout.name
        attributeName = layout.columns[column].name
        message =
            "\(entityName).\(attributeName) is looked up one value at a time, and each look-up is a round trip to the server. Look up all values of a batch at once: call preload in prepare(_:in:), or subclass KeyedDataSource."
    }
}
