internal import RowStore

/// The right to write the objects of some entities, in a store that several processes share.
///
/// A data source takes it before its first batch, and keeps it until another process asks for it.
public struct StoreLease: Sendable, Hashable {
    /// The names of the entities, in alphabetical order.
    public let entities: [String]
    /// The class of the data source that took it.
    public let dataSourceName: String
    /// The process that has it: `process 4711 (importer)`.
    public let holder: String
    /// Whether this container has it.
    public let isHeldHere: Bool
    /// The processes that wait for it, in the order of asking.
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
    /// Who may write which entities at the moment, in a store that several processes share; empty for any other store.
    ///
    /// ```swift
    /// for lease in try container.leases { print(lease) }
    /// ```
    ///
    /// **Isolation**: none. It reads the store.
    ///
    /// - Throws: What the store throws.
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
