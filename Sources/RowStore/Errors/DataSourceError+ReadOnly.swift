extension DataSourceError {
    package static let storeReadOnly = DataSourceError(
        .storeReadOnly,
        "The store is open for reading only, so nothing can be saved. Open it without Configuration.isReadOnly to save."
    )
}
