public import Foundation

extension DataSourceError: LocalizedError {
    /// What happened and what to do: the ``message``.
    public var errorDescription: String? { message }

    /// The message of the operating system or the store.
    public var failureReason: String? { cause }
}
