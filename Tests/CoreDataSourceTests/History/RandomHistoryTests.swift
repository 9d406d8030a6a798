import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Random saves of several data sources and containers: the records, replayed from nothing, are the store, and the old values
/// lead back to nothing.
@MainActor
struct RandomHistoryTests {
    private nonisolated static let seed = testSeed()

    @Test(arguments: HistoryPlace.all)
    func theRecordsReplayedAreTheStore(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await Self.saveContacts(in: container, steps: 40)
            try await container.flush()
            try await Self.check(container, "seed \(Self.seed)")
        }
    }

    @Test(arguments: HistoryPlace.all)
    func theRecordsHaveAllLinks(place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            var random = SeededRandom(seed: Self.seed)
            for _ in 0..<60 {
                let seed = UInt64.random(in: 0 ... .max, using: &random)
                try await peers.perform(waitFor: .main) { context in
                    var random = SeededRandom(seed: seed)
                    try Self.edit(context, &random)
                }
            }
            try await container.flush()
            try await Self.check(container, "seed \(Self.seed)")
        }
    }

    /// Two members save at once. The records are those of both, in one order.
    @Test(arguments: SharedPlace.Kind.all)
    func theRecordsOfTwoMembersHaveOneOrder(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        let first = try place.open(configuration: .keeping(author: "first"))
        let second = try place.open(configuration: .keeping(author: "second"))
        async let one: Void = Self.saveContacts(in: first, steps: 25)
        try await Self.saveContacts(in: second, steps: 25)
        try await one
        try await first.flush()
        try await second.flush()
        let records = try await first.records()
        #expect(try await second.records().map(\.position) == records.map(\.position))
        #expect(Set(records.map(\.author)) == ["first", "second"])
        #expect(Set(records.map(\.member.number)).count == 2)
        try await Self.check(first, "seed \(Self.seed)")
        try await first.close()
        try await second.close()
        if let url = place.url { try expectIntact(url) }
    }

    // MARK: Saves

    private nonisolated static func saveContacts(in container: PersistentContainer, steps: Int) async throws {
        let contacts = try await container.dataSource(ContactDataSource.self)
        let groups = try await container.dataSource(GroupDataSource.self)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for task in 0..<3 {
                tasks.addTask {
                    var random = SeededRandom(seed: Self.seed &+ UInt64(task))
                    for step in 0..<steps {
                        let first = Int.random(in: 0..<12, using: &random)
                        let values = contactList(first..<first + 3) { "\(task) \(step) \($0)" }
                        switch Int.random(in: 0..<6, using: &random) {
                        case 0: try await contacts.delete(values)
                        case 1: try await contacts.add(values, waitFor: .main)
                        case 2: try await groups.add(GroupData(gid: "\(first)", name: "\(task) \(step)"))
                        case 3: _ = try await contacts.update(ContactEntity.self, set: [.set(\.note, "\(step)")])
                        case 4: _ = try await contacts.delete(ContactEntity.self, where: \.uid == "uid-\(first)")
                        default: try await contacts.add(values)
                        }
                    }
                }
            }
            try await tasks.waitForAll()
        }
    }

    private nonisolated static func edit(_ context: PrivateContext, _ random: inout SeededRandom) throws {
        for _ in 0..<3 {
            let all = try context.fetch(Peer.self, order: [.ascending(\.key)])
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                if all.count > 8, let peer = all.randomElement(using: &random) { context.delete(peer) }
            case 1:
                guard let peer = all.randomElement(using: &random) else { continue }
                peer.friends.set(Array(all.shuffled(using: &random).prefix(3)))
            case 2:
                guard let peer = all.randomElement(using: &random) else { continue }
                peer.boss = all.randomElement(using: &random)
            case 3:
                guard let peer = all.randomElement(using: &random) else { continue }
                peer.reports.set(Array(all.shuffled(using: &random).prefix(2)))
            default:
                let key = "\(Int.random(in: 0..<1000, using: &random))"
                let peer = try context.findOrInsert(Peer.self, where: \.key, equals: key)
                peer.name = "\(Int.random(in: 0..<9, using: &random))"
            }
        }
    }

    // MARK: The reference

    /// The rows of a store, by entity and key.
    private typealias Rows = [Int: [Int64: [RowValue]]]

    private static func check(_ container: PersistentContainer, _ comment: Comment) async throws {
        let layout = container.stack.layout
        let records = try await container.records()
        #expect(records.map(\.number) == Array(1...Int64(records.count)), comment)
        #expect(records.count > 10)
        var rows: Rows = [:]
        for record in records {
            apply(try #require(record.changeSet), to: &rows, layout, comment)
        }
        #expect(try stored(in: container) == rows.filter { !$0.value.isEmpty }, comment)
        for record in records.reversed() {
            apply(try #require(record.changeSet).inverted, to: &rows, layout, comment)
        }
        #expect(rows.values.allSatisfy { $0.isEmpty }, comment)
    }

    /// Applies changes to rows, which must be as the changes say they were.
    private static func apply(_ changes: ChangeSet, to rows: inout Rows, _ layout: ModelLayout, _ comment: Comment) {
        for entity in changes.entities {
            let entityLayout = layout.entities[entity.entity]
            for row in entity.deleted {
                #expect(rows[entity.entity]?[row.key] == entityLayout.storedValues(of: row.row), comment)
                rows[entity.entity]?[row.key] = nil
            }
            for row in entity.updated {
                #expect(rows[entity.entity]?[row.key] == entityLayout.storedValues(of: row.previous), comment)
                rows[entity.entity]?[row.key] = entityLayout.storedValues(of: row.row)
            }
            for row in entity.inserted {
                #expect(rows[entity.entity]?[row.key] == nil, comment)
                rows[entity.entity, default: [:]][row.key] = entityLayout.storedValues(of: row.row)
            }
        }
    }

    private static func stored(in container: PersistentContainer) throws -> Rows {
        let layout = container.stack.layout
        return try container.stack.root.store.read(.snapshot) { (reader) throws(DataSourceError) in
            var rows: Rows = [:]
            for entity in layout.entities where !entity.isAbstract {
                try reader.forEachRow(RowQuery(entity: entity.index)) { row in
                    rows[entity.index, default: [:]][row.key] = entity.storedValues(of: row.row)
                }
            }
            return rows
        }
    }
}

extension EntityLayout {
    fileprivate func storedValues(of row: RowSnapshot) -> [RowValue] {
        zip(columns, values(of: row)).filter(\.0.isStored).map(\.1)
    }
}

extension ChangeSet {
    /// The changes that take these changes back.
    fileprivate var inverted: ChangeSet {
        ChangeSet(
            entities: entities.map { changes in
                var inverted = EntityChanges(entity: changes.entity)
                inverted.inserted = changes.deleted
                inverted.deleted = changes.inserted
                inverted.updated = changes.updated.map {
                    UpdatedRow(key: $0.key, row: $0.previous, previous: $0.row, columns: $0.columns)
                }
                return inverted
            })
    }
}
