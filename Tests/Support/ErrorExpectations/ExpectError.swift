public import RowStore
public import Testing

/// Expects a `DataSourceError` with the code.
///
/// - Returns: The error, for further expectations; nil if the expectation failed.
@discardableResult
public func expectError<Result>(
    _ code: DataSourceError.Code, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> DataSourceError? {
    do {
        _ = try body()
        return record(nil, code, comment(), sourceLocation)
    } catch {
        return record(error, code, comment(), sourceLocation)
    }
}

/// Expects a `DataSourceError` with the code.
///
/// - Returns: The error, for further expectations; nil if the expectation failed.
@discardableResult
public func expectError<Result>(
    _ code: DataSourceError.Code, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async -> DataSourceError? {
    do {
        _ = try await body()
        return record(nil, code, comment(), sourceLocation)
    } catch {
        return record(error, code, comment(), sourceLocation)
    }
}

private func record(
    _ error: (any Error)?, _ code: DataSourceError.Code, _ comment: Comment?, _ sourceLocation: SourceLocation
) -> DataSourceError? {
    if let found = error as? DataSourceError, found.code == code { return found }
    Issue.record(failureComment("\(code)", error, comment), sourceLocation: sourceLocation)
    return nil
}

/// What an expectation that failed says.
func failureComment(_ expected: String, _ error: (any Error)?, _ comment: Comment?) -> Comment {
    let text = "expected \(expected), got \(error.map { "\($0)" } ?? "no error")"
    return Comment(rawValue: comment.map { "\($0.rawValue): \(text)" } ?? text)
}
