import CoreDataSource

/// A harbor. Each of its relationships has another delete rule.
@StoredEntity final class Harbor: ManagedObject {
    @Stored(unique: true) var key: Int64
    var flag: Int64 = 0
    /// The version of the server that has last changed the harbor; 0 if only links of ships have named the harbor.
    var version: Int64 = 0
    /// The number of ships in the fleet, if a hook counts them.
    var shipCount: Int64 = 0
    @Related(inverse: "home", onDelete: .cascade) var fleet: RelatedObjects<Ship>
    @Related(inverse: "next") var visitors: RelatedObjects<Ship>
    @Related(inverse: "lender", onDelete: .deny) var debtors: RelatedObjects<Ship>
    @Related(inverse: "ports") var callers: RelatedObjects<Ship>
}

@StoredEntity final class Ship: ManagedObject {
    @Stored(unique: true) var key: Int64
    /// The value that predicates of lists use.
    var flag: Int64 = 0
    /// The version of the server that has last changed the ship.
    var version: Int64 = 0
    @Related(inverse: "fleet") var home: Harbor?
    @Related(inverse: "visitors") var next: Harbor?
    @Related(inverse: "debtors") var lender: Harbor?
    @Related(inverse: "callers") var ports: RelatedObjects<Harbor>
}

extension ManagedObjectModel {
    static let sea = ManagedObjectModel("Sea") {
        Harbor.self
        Ship.self
    }
}

/// A harbor or a ship of the server, or of a store.
struct SeaObject: Sendable, Hashable {
    enum Kind: String, Sendable {
        case harbor = "h"
        case ship = "s"
    }

    struct ID: Hashable, Sendable {
        let kind: Kind
        let key: Int
    }

    let id: ID
    var flag = 0
    /// The keys of harbors.
    var home: Int?
    var next: Int?
    var lender: Int?
    /// The keys of the harbors at which a ship calls, or of the ships that call at a harbor, in ascending order.
    var calls: [Int] = []
    /// The version that has last changed the object.
    var version = 0
}

/// Objects by their ids.
typealias SeaState = [SeaObject.ID: SeaObject]

extension SeaObject: CustomStringConvertible {
    init(_ harbor: Harbor) {
        self.init(
            id: ID(kind: .harbor, key: Int(harbor.key)), flag: Int(harbor.flag),
            calls: harbor.callers.map { Int($0.key) }.sorted(), version: Int(harbor.version))
    }

    init(_ ship: Ship) {
        self.init(
            id: ID(kind: .ship, key: Int(ship.key)), flag: Int(ship.flag), home: (ship.home?.key).map { Int($0) },
            next: (ship.next?.key).map { Int($0) }, lender: (ship.lender?.key).map { Int($0) },
            calls: ship.ports.map { Int($0.key) }.sorted(), version: Int(ship.version))
    }

    /// For example `s3 f1 h0 n2 l1 c0 c2 v7`.
    var description: String {
        let links = [("h", home), ("n", next), ("l", lender)].compactMap { name, key in key.map { "\(name)\($0)" } }
        let all = links + calls.map { "c\($0)" }
        return (["\(id.kind.rawValue)\(id.key)", "f\(flag)"] + all + ["v\(version)"]).joined(separator: " ")
    }

    /// Stores the object.
    ///
    /// - Parameter harbor: Returns a harbor to which the object links.
    fileprivate func add(
        to context: PrivateContext, linkedTo harbor: (_ key: Int64) throws -> Harbor?
    ) throws -> ManagedObject {
        switch id.kind {
        case .harbor:
            let stored = try context.findOrInsert(Harbor.self, where: \.key, equals: Int64(id.key))
            stored.flag = Int64(flag)
            stored.version = Int64(version)
            if !calls.isEmpty || !stored.callers.isEmpty {
                stored.callers.set(
                    try calls.compactMap { try context.first(Ship.self, where: \.key, equals: Int64($0)) })
            }
            return stored
        case .ship:
            let stored = try context.findOrInsert(Ship.self, where: \.key, equals: Int64(id.key))
            stored.flag = Int64(flag)
            stored.version = Int64(version)
            stored.home = try home.flatMap { try harbor(Int64($0)) }
            stored.next = try next.flatMap { try harbor(Int64($0)) }
            stored.lender = try lender.flatMap { try harbor(Int64($0)) }
            if !calls.isEmpty || !stored.ports.isEmpty {
                stored.ports.set(try calls.compactMap { try harbor(Int64($0)) })
            }
            return stored
        }
    }
}

struct HarborKey: ManagedObjectConvertible {
    let key: Int64

    init(_ harbor: Harbor) { key = harbor.key }
}

struct ShipKey: ManagedObjectConvertible {
    let key: Int64

    init(_ ship: Ship) { key = ship.key }
}

/// The data sources of a world.
enum SeaShape: Int, CaseIterable, Sendable {
    /// One data source, which inserts the harbors that ships name.
    case one
    /// One data source with a hook that counts the ships of each harbor.
    case counting
    /// One data source with a hook that deletes harbors without ships. The server has none.
    case tidy
    /// Two data sources. The data source of ships links only to harbors that are stored. No ship calls at a harbor, because such links
    /// would belong to both data sources.
    case two

    @MainActor func member(of container: PersistentContainer) throws -> SeaMember {
        let one: DataSource<SeaObject>
        switch self {
        case .one: one = try container.dataSource(SeaSource.self)
        case .counting: one = try container.dataSource(CountingSeaSource.self)
        case .tidy: one = try container.dataSource(TidySeaSource.self)
        case .two:
            return SeaMember(
                container: container, harbors: try container.dataSource(HarborSource.self),
                ships: try container.dataSource(ShipSource.self))
        }
        return SeaMember(container: container, harbors: one, ships: one)
    }

    /// Whether the harbor is as the hook must leave it.
    func isComplete(_ harbor: Harbor) -> Bool {
        switch self {
        case .one, .two: true
        case .counting: Int(harbor.shipCount) == harbor.fleet.count
        case .tidy: !harbor.isEmpty
        }
    }
}

/// One process.
struct SeaMember: Sendable {
    let container: PersistentContainer
    let harbors: DataSource<SeaObject>
    let ships: DataSource<SeaObject>

    /// Reads all objects, also those that other processes have saved.
    func rows() async throws -> SeaState {
        try await container.read { context in
            let harbors = try context.fetch(Harbor.self).map { SeaObject($0) }
            let ships = try context.fetch(Ship.self).map { SeaObject($0) }
            return (harbors + ships).reduce(into: [:]) { $0[$1.id] = $1 }
        }
    }
}

extension Harbor {
    fileprivate var isEmpty: Bool { fleet.isEmpty && visitors.isEmpty && debtors.isEmpty }
}

private class SeaSource: DataSource<SeaObject> {
    override class var entities: [ManagedObject.Type] { [Harbor.self, Ship.self] }

    override func onAdd(_ object: SeaObject, in context: PrivateContext) throws -> ManagedObject? {
        try object.add(to: context) { try context.findOrInsert(Harbor.self, where: \.key, equals: $0) }
    }
}

private final class CountingSeaSource: SeaSource, SaveCompleting {
    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for harbor in try changes.owners(of: \Harbor.fleet) { harbor.shipCount = Int64(harbor.fleet.count) }
    }
}

private final class TidySeaSource: SeaSource, SaveCompleting {
    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for harbor in try context.fetch(Harbor.self) where harbor.isEmpty { context.delete(harbor) }
    }
}

private final class HarborSource: DataSource<SeaObject> {
    override class var entities: [ManagedObject.Type] { [Harbor.self] }

    override func onAdd(_ object: SeaObject, in context: PrivateContext) throws -> ManagedObject? {
        try object.add(to: context) { _ in nil }
    }
}

private final class ShipSource: DataSource<SeaObject> {
    override class var entities: [ManagedObject.Type] { [Ship.self] }

    override func onAdd(_ object: SeaObject, in context: PrivateContext) throws -> ManagedObject? {
        try object.add(to: context) { try context.first(Harbor.self, where: \.key, equals: $0) }
    }
}
