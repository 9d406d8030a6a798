public import Foundation

extension DataSourceError: LocalizedError {
    /// What happened and what to do: the ``message``.
    public var errorDescription: String? { message }

    /// What the operating system or the store said.
    public var failureReason: String? { cause }
}
