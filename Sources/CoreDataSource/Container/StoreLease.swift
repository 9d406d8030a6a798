internal import RowStore

/// The right to write the objects of some entities, in a store that several processes share.
///
/// A data source takes a lease before its first batch, and keeps the lease until another process requests it.
public struct StoreLease: Sendable, Hashable {
    /// The names of the entities, in alphabetical order.
    public let entities: [String]
    /// Usually the class name of the data source that owns the entities. In two cases, it is the class name of the data
    /// source whose batch took the lease: if the holder had not made the owner of the entities at that time, or if a custom
    /// store keeps the leases.
    public let dataSourceName: String
    /// The process that has the lease: `process 4711 (importer)`.
    public let holder: String
    /// Whether this container has the lease.
    public let isHeldHere: Bool
    /// The processes that wait for the lease, in the order of their requests.
    public let waiting: [String]
}

extension StoreLease: CustomStringConvertible {
    /// One line for a log: `ContactDataSource (ContactEntity): process 4711 (importer), 1 waiting`.
    public var description: String {
        "\(dataSourceName) (\(entities.joined(separator: ", "))): \(holder)"
            + (waiting.isEmpty ? "" : ", \(waiting.count) waiting")
    }
}

extension PersistentContainer {
    /// The current leases of a store that several processes share: which process may write which entities. Empty for any other
    /// store.
    ///
    /// ```swift
    /// for lease in try container.leases { print(lease) }
    /// ```
    ///
    /// **Isolation**: none. Each access reads the store on the calling thread.
    ///
    /// - Throws: Errors of the store.
    public var leases: [StoreLease] {
        get throws {
            guard let keeper = stack.root.leases else { return [] }
            let table = try keeper.current()
            let own = keeper.sharing.member.number
            struct Group: Hashable {
                let source: String
                let holder: StoreMember
            }
            let groups = Dictionary(grouping: table.leases) { Group(source: $0.source, holder: $0.holder) }
            let leases = groups.map { group, leases in
                let entities = Set(leases.map(\.entity))
                let waiting = table.tickets.filter { !entities.isDisjoint(with: $0.entities) }
                return StoreLease(
                    entities: entities.map { stack.layout.entities[$0].name }.sorted(), dataSourceName: group.source,
                    holder: group.holder.description, isHeldHere: group.holder.number == own,
                    waiting: waiting.map(\.member.description))
            }
            return leases.sorted { $0.entities.lexicographicallyPrecedes($1.entities) }
        }
    }
}

/// The result of opening several stores at once: a container or an error for each store.
///
/// ```swift
/// let stores = await PersistentContainer.open([description], model: .contacts)
/// let container = try stores.container(named: description.name)
/// ```
public struct OpenedStores: Sendable {
    /// The containers of the stores that were opened, by the names of their descriptions.
    public let containers: [String: PersistentContainer]
    /// The errors of the stores that could not be opened, by the names of their descriptions.
    public let errors: [String: any Error]

    /// Returns the container of the store with the given name.
    ///
    /// ```swift
    /// let container = try stores.container(named: "contacts")
    /// ```
    ///
    /// - Parameter name: The name of one of the descriptions. Any other name is a programmer error and traps.
    /// - Throws: The error that was thrown when the store was opened.
    public func container(named name: String) throws -> PersistentContainer {
        if let container = containers[name] { return container }
        guard let error = errors[name] else {
            preconditionFailure("No store description is named \(name). Use the name of an opened store.")
        }
        throw error
    }

    /// Closes all stores.
    ///
    /// ```swift
    /// try await stores.close()
    /// ```
    ///
    /// - Throws: The first error, in the order of the names. All stores are closed, even if the call throws.
    public func close() async throws {
        var failure: (any Error)?
        for (_, container) in containers.sorted(by: { $0.key < $1.key }) {
            do { try await container.close() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
