extension DataSourceError {
    /// The error of a store that is used after it was closed.
    package static let storeClosed = DataSourceError(
        .storeClosed, "The store was closed. Open it again before using it.")
}
