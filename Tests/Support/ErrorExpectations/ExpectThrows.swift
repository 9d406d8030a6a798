public import Testing

/// Expects an error of the type.
///
/// It takes the place of `#expect` with `throws`: a closure in the argument of an expectation macro and another closure of the same
/// function may get the same symbol (Swift 6.3.1), and the second then runs the code of the first.
///
/// - Returns: The error, for further expectations; nil if the expectation failed.
@discardableResult
public func expectThrows<Failure: Error, Result>(
    _ type: Failure.Type, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> Failure? {
    do {
        _ = try body()
        return record(nil, type, comment(), sourceLocation)
    } catch {
        return record(error, type, comment(), sourceLocation)
    }
}

/// Expects an error of the type.
///
/// - Returns: The error, for further expectations; nil if the expectation failed.
@discardableResult
public func expectThrows<Failure: Error, Result>(
    _ type: Failure.Type, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async -> Failure? {
    do {
        _ = try await body()
        return record(nil, type, comment(), sourceLocation)
    } catch {
        return record(error, type, comment(), sourceLocation)
    }
}

/// Expects an error of the type, and throws if there is none.
@discardableResult
public func requireThrows<Failure: Error, Result>(
    _ type: Failure.Type, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) throws -> Failure {
    var thrown: (any Error)?
    do { _ = try body() } catch { thrown = error }
    return try required(thrown, type, comment(), sourceLocation)
}

/// Expects an error of the type, and throws if there is none.
@discardableResult
public func requireThrows<Failure: Error, Result>(
    _ type: Failure.Type, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async throws -> Failure {
    var thrown: (any Error)?
    do { _ = try await body() } catch { thrown = error }
    return try required(thrown, type, comment(), sourceLocation)
}

private func record<Failure: Error>(
    _ error: (any Error)?, _ type: Failure.Type, _ comment: Comment?, _ sourceLocation: SourceLocation
) -> Failure? {
    if let found = error as? Failure { return found }
    Issue.record(failureComment("an error of type \(type)", error, comment), sourceLocation: sourceLocation)
    return nil
}

private func required<Failure: Error>(
    _ error: (any Error)?, _ type: Failure.Type, _ comment: Comment?, _ sourceLocation: SourceLocation
) throws -> Failure {
    let found = error as? Failure
    return try #require(
        found, failureComment("an error of type \(type)", error, comment), sourceLocation: sourceLocation)
}
