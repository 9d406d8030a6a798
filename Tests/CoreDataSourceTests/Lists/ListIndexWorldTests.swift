import CoreDataSource
import ManagedModel
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// The index with values of all storages, with sub-entities that have more columns, with keys, and with links.
struct ListIndexWorldTests {
    /// Random lists and saves: a merge of the saves changes nothing in a list that is not found.
    @Test(arguments: 0..<16)
    func aListThatIsNotFoundDoesNotChange(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var world = IndexedWorld()
        for _ in 0..<10 { _ = world.save(&random) }
        let queries = (0..<120).map { _ in IndexedWorld.query(&random) }
        var index = ListIndex()
        for (number, query) in queries.enumerated() { index.add(number, query) }
        var (foundCount, otherCount) = (0, 0)
        for _ in 0..<100 {
            let saves = (0...random.next(below: 3)).map { _ in world.save(&random) }
            let found = index.lists(concernedBy: saves.map(\.changes))
            if saves.contains(where: \.changesLinks) {
                #expect(found.count == queries.count, "seed \(seed)")
                continue
            }
            foundCount += found.count
            for (number, query) in queries.enumerated() where !found.contains(number) {
                otherCount += 1
                var net = NetChanges()
                for save in saves { try net.add(save.changes, to: query) }
                #expect(net.isEmpty, "list \(number), seed \(seed)")
            }
        }
        #expect(foundCount > 0 && otherCount > 0)
    }

    /// Random lists and saves: the rows that a database finds for a list that is not found are the same before and after the saves.
    @Test(arguments: 0..<6)
    func aDatabaseFindsTheSameRowsForAListThatIsNotFound(seed: UInt64) throws {
        var random = SeededRandom(seed: 100 + seed)
        var world = IndexedWorld()
        let database = try IndexedDatabase()
        for _ in 0..<10 { try database.commit(world.save(&random).changes) }
        let queries = (0..<60).map { _ in IndexedWorld.query(&random) }
        var index = ListIndex()
        for (number, query) in queries.enumerated() { index.add(number, query) }
        var rows = try queries.map { try database.rows($0) }
        var (changedCount, otherCount) = (0, 0)
        for _ in 0..<40 {
            let saves = (0...random.next(below: 3)).map { _ in world.save(&random).changes }
            for save in saves { try database.commit(save) }
            let found = index.lists(concernedBy: saves)
            for (number, query) in queries.enumerated() {
                let after = try database.rows(query)
                let isSame = after == rows[number]
                rows[number] = after
                if isSame { continue }
                changedCount += 1
                #expect(found.contains(number), "list \(number), seed \(seed)")
            }
            otherCount += queries.count - found.count
        }
        #expect(changedCount > 0 && otherCount > 0)
        database.store.close()
    }
}

/// A file with the wholes of a world. Its predicates are evaluated by SQLite.
private final class IndexedDatabase {
    private let directory: TemporaryDirectory
    let store: SQLiteStore

    init() throws {
        directory = try TemporaryDirectory()
        let identity = StoreIdentity(modelHash: "hash", entityHashes: [:], databaseKey: "1")
        store = try SQLiteStore.open(
            SQLiteStore.Options(
                url: directory.store, layout: IndexedWorld.layout, identity: identity, synchronous: .normal,
                resetPolicy: .fail))
    }

    func commit(_ save: ChangeSet) throws {
        let wholes = IndexedWorld.wholes.map(\.index)
        let outcome = try store.commit([ChangeSet(entities: save.entities.filter { wholes.contains($0.entity) })])
        if let error = outcome.refused[0] { throw error }
    }

    /// The rows that a list without a limit has: for each row its entity, its key and the bytes of its values.
    func rows(_ query: ListQuery) throws -> [[RowValue]] {
        var found: [[RowValue]] = []
        for layout in IndexedWorld.wholes where query.family.contains(layout.index) {
            let rowQuery = RowQuery(entity: layout.index, predicate: query.predicate)
            let rows = try store.read(.statement) { (reader) throws(DataSourceError) in try reader.rows(rowQuery) }
            for stored in rows.sorted(by: { $0.key < $1.key }) {
                let values = layout.storages.enumerated().map { column, storage in
                    switch stored.row.value(column, storage) {
                    case .text(let text): RowValue.blob(Array(text.utf8))
                    case .real(let number): RowValue.integer(Int64(bitPattern: number.bitPattern))
                    case let value: value
                    }
                }
                found.append([.integer(Int64(layout.index)), .integer(stored.key)] + values)
            }
        }
        return found
    }
}

/// Wholes of two entities with parts, which are edited at random.
private struct IndexedWorld {
    static let layout = ModelLayout(
        ManagedObjectModel(
            name: "Indexed",
            entities: [
                EntityDescription(
                    name: "Whole",
                    attributes: [
                        AttributeDescription(name: "blob", type: .binary, isOptional: true),
                        AttributeDescription(name: "number", type: .integer64, isOptional: true),
                        AttributeDescription(name: "real", type: .double, isOptional: true),
                        AttributeDescription(name: "text", type: .string, isOptional: true),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "parts", destinationName: "Part", inverseName: "whole", isToMany: true,
                            isOptional: true)
                    ]),
                EntityDescription(
                    name: "Special", parentName: "Whole",
                    attributes: [
                        AttributeDescription(name: "other", type: .double, isOptional: true),
                        AttributeDescription(name: "title", type: .string, isOptional: true),
                    ]),
                EntityDescription(
                    name: "Part",
                    relationships: [
                        RelationshipDescription(
                            name: "whole", destinationName: "Whole", inverseName: "parts", isOptional: true)
                    ]),
            ]))
    static let wholes = ["Whole", "Special"].map { layout.entity(named: $0)! }
    private static let part = layout.entity(named: "Part")!
    private static let wholeColumn = part.column(named: "whole")!
    private static let keyCount = 12

    /// The rows of each entity, by key.
    private var rows: [Int: [Int64: RowSnapshot]] = [:]

    // MARK: Lists

    static func query(_ random: inout SeededRandom) -> ListQuery {
        let layout = wholes[random.next(below: 2)]
        let family = random.next(below: 3) == 0 ? [layout.index] : layout.concreteFamily
        let parts = (0...random.next(below: 3)).map { _ in comparison(layout, &random) }
        let predicate: RowPredicate =
            switch random.next(below: 6) {
            case 0: .or(parts)
            case 1: .and([.not(parts[0]), .and(Array(parts.dropFirst()))])
            default: .and(parts)
            }
        return ListQuery(
            layout, family: family, predicate: predicate, order: ListOrder(layout, sort: []),
            limit: random.next(below: 3) == 0 ? 3 : nil, links: ChangedLinks(of: family, Self.layout),
            layouts: wholes)
    }

    private static func comparison(_ layout: EntityLayout, _ random: inout SeededRandom) -> RowPredicate {
        let keys = (0...random.next(below: 2)).map { _ in Int64(random.next(below: 3 * keyCount)) }
        switch random.next(below: 8) {
        case 0: return .compareKey(.equal, keys[0])
        case 1: return .isMember(.key, ValueList(keys.map { .integer($0) }, .natural))
        default: break
        }
        let columns = layout.storages.indices.filter { layout.columns[$0].attribute != nil }
        let column = columns[random.next(below: columns.count)]
        let values = (0..<3).map { _ in value(layout.storages[column], &random) }
        if random.next(below: 3) > 0 { return .compare(column: column, .equal, values[0]) }
        return .isIn(column: column, values.filter { $0 != .null })
    }

    private static func value(_ storage: ColumnStorage, _ random: inout SeededRandom) -> RowValue {
        let number = random.next(below: 4)
        if number == 0 { return .null }
        return switch storage {
        case .integer: .integer(Int64(number))
        case .real: .real([-0.0, 0, 1.5][number - 1])
        // The first two are equal in Swift, but not in a store.
        case .text:
            .text(["\u{E9}", "e\u{301}", String(repeating: "a", count: 255 + random.next(below: 3))][number - 1])
        case .blob: .blob([[], [1], [UInt8](repeating: 1, count: 255 + random.next(below: 3))][number - 1])
        }
    }

    // MARK: Saves

    /// Some inserts, edits and deletes as one save, and whether the save changes the links of a whole.
    mutating func save(_ random: inout SeededRandom) -> (changes: ChangeSet, changesLinks: Bool) {
        let before = rows
        for _ in 0...random.next(below: 3) { edit(Self.wholes[random.next(below: 2)], &random) }
        if random.next(below: 8) == 0 { edit(Self.part, &random) }
        let all = (Self.wholes + [Self.part]).map { changes($0, since: before[$0.index] ?? [:]) }
        let links = all[2]
        let owners = (links.inserted + links.deleted).map(\.row) + links.updated.flatMap { [$0.row, $0.previous] }
        return (ChangeSet(entities: all.filter { !$0.isEmpty }), owners.contains { !$0.isNull(Self.wholeColumn) })
    }

    private mutating func edit(_ layout: EntityLayout, _ random: inout SeededRandom) {
        // No two rows have the same key.
        let key = Int64(random.next(below: Self.keyCount) * 3 + layout.index % 3)
        if random.next(below: 4) == 0 {
            rows[layout.index, default: [:]][key] = nil
            return
        }
        var row = rows[layout.index]?[key] ?? RowSnapshot(columnCount: layout.columns.count)
        for column in layout.storages.indices where random.next(below: 2) == 0 {
            let isLink = layout.columns[column].attribute == nil
            if isLink, layout.index != Self.part.index { continue }
            row.setValue(Self.value(isLink ? .integer : layout.storages[column], &random), column)
        }
        rows[layout.index, default: [:]][key] = row
    }

    private func changes(_ layout: EntityLayout, since before: [Int64: RowSnapshot]) -> EntityChanges {
        var changes = EntityChanges(entity: layout.index)
        let after = rows[layout.index] ?? [:]
        for key in Set(before.keys).union(after.keys).sorted() {
            switch (before[key], after[key]) {
            case (nil, let row?): changes.inserted.append(StoredRow(key: key, row: row))
            case (let row?, nil): changes.deleted.append(StoredRow(key: key, row: row))
            case (let old?, let new?):
                var columns = ColumnSet()
                for (column, storage) in layout.storages.enumerated()
                where !new.isEqual(to: old, column: column, storage: storage) {
                    columns.insert(column)
                }
                if columns.isEmpty { continue }
                changes.updated.append(UpdatedRow(key: key, row: new, previous: old, columns: columns))
            case (nil, nil): break
            }
        }
        return changes
    }
}
