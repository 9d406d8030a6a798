/// The result of opening several stores at once.
public struct OpenedStores: Sendable {
    /// The containers of the stores that were opened, by the names of their descriptions.
    public let containers: [String: PersistentContainer]
    /// The errors of the other stores, by the names of their descriptions.
    public let errors: [String: any Error]

    /// The container of that store.
    ///
    /// - Parameter name: The name of one of the descriptions. Any other name is a programmer error and traps.
    /// - Throws: Why the store could not be opened.
    public func container(named name: String) throws -> PersistentContainer {
        if let container = containers[name] { return container }
        guard let error = errors[name] else {
            preconditionFailure("No store description is named \(name). Use the name of one that was opened.")
        }
        throw error
    }

    /// Closes every store that is open.
    ///
    /// - Throws: The first error, in the order of the names. All stores are closed all the same.
    public func close() async throws {
        var failure: (any Error)?
        for (_, container) in containers.sorted(by: { $0.key < $1.key }) {
            do { try await container.close() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
