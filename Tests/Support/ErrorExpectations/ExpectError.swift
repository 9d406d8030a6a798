public import RowStore
public import Testing

/// Expects a `DataSourceError` with the code.
///
/// - Returns: The error, for further expectations; nil if the expectation failed.
@discardableResult
public func expectError<Result>(
    _ code: DataSourceError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> DataSourceError? {
    do {
        _ = try body()
        return record(nil, code, sourceLocation)
    } catch {
        return record(error, code, sourceLocation)
    }
}

/// Expects a `DataSourceError` with the code.
///
/// - Returns: The error, for further expectations; nil if the expectation failed.
@discardableResult
public func expectError<Result>(
    _ code: DataSourceError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Result
) async -> DataSourceError? {
    do {
        _ = try await body()
        return record(nil, code, sourceLocation)
    } catch {
        return record(error, code, sourceLocation)
    }
}

private func record(
    _ error: (any Error)?, _ code: DataSourceError.Code, _ sourceLocation: SourceLocation
) -> DataSourceError? {
    if let found = error as? DataSourceError, found.code == code { return found }
    Issue.record("expected \(code), got \(error.map { "\($0)" } ?? "no error")", sourceLocation: sourceLocation)
    return nil
}
