extension AnyDataSource {
    /// Remarks about the use of this data source since the container was opened, in the order in which they were made. Each is
    /// made once; there are at most 64.
    ///
    /// An attribute is listed when `findOrInsert` or `first(where:equals:)` looks its values up and it has neither a uniqueness
    /// constraint nor a fetch index: the store then reads every row of the entity. For a store on a server, it is also listed
    /// when one batch has looked up 16 of its values, each with a query of its own.
    public nonisolated var diagnostics: [DataSourceDiagnostic] { tier.stack.diagnostics(of: tier.owner) }
}
