import RowStore
import StoreTestModel
import Testing

/// The rows that a store of one's own keeps in memory.
struct InMemoryRowsTests {
    private let rows = InMemoryRows(TestModel.layout)
    private let all = RowQuery(entity: TestModel.item)

    private func item(_ key: Int64, _ code: String) -> StoredRow {
        StoredRow(key: key, row: TestModel.row(code: code))
    }

    private func keys(_ isolation: ReadIsolation = .statement) throws -> [Int64] {
        try rows.read(isolation) { (reader) throws(DataSourceError) in try reader.rows(all).map(\.key) }
    }

    @Test func changesThatCannotBeWrittenAreNotShown() throws {
        _ = try rows.commit([.of(insert: [item(1, "a")])])
        let bound = rows.firstFreeKey
        #expect(
            code {
                let group = [ChangeSet.of(insert: [item(5000, "b")], delete: [item(1, "a")])]
                _ = try rows.commit(group) { (_, _) throws(DataSourceError) in
                    throw DataSourceError(.diskFull, "Full.")
                }
            } == .diskFull)
        #expect(try keys() == [1])
        #expect(rows.firstFreeKey == bound)
        #expect(try rows.commit([.of(insert: [item(2, "b")])]).refused.isEmpty)
        #expect(try rows.commit([.of(insert: [item(3, "a")])]).refused[0]?.code == .uniquenessViolated)
    }

    @Test func onlyAcceptedChangesAreWritten() throws {
        _ = try rows.commit([.of(insert: [item(1, "a")])])
        var group = [ChangeSet.of(insert: [item(2, "a")]), .of(insert: [item(9000, "b")]), .of(insert: [item(4, "c")])]
        (group[0].origin, group[1].origin, group[2].origin) = (1, 2, 1)
        let written = Guarded<(keys: [Int64], firstFreeKey: Int64)>(([], 0))
        let outcome = try rows.commit(group) { (accepted, firstFreeKey) throws(DataSourceError) in
            let keys = accepted.flatMap(\.entities).flatMap(\.inserted).map(\.key)
            written.withLock { $0 = (keys, firstFreeKey) }
        }
        #expect(outcome.refused.mapValues(\.code) == [0: .uniquenessViolated, 2: .saveRolledBack])
        #expect(written.withLock { $0.keys } == [9000])
        #expect(written.withLock { $0.firstFreeKey } == rows.firstFreeKey)
        #expect(rows.firstFreeKey > 9000)
        #expect(try keys() == [1, 9000])
        _ = try rows.commit([.of(insert: [item(2, "a")])]) { (_, _) throws(DataSourceError) in
            Issue.record("Nothing was accepted.")
        }
    }

    @Test func readersSeeTheOldRowsUntilTheNewOnesAreWritten() throws {
        _ = try rows.commit([.of(insert: [item(1, "a")])])
        _ = try rows.commit([.of(insert: [item(2, "b")])]) { (_, _) throws(DataSourceError) in
            for isolation in [ReadIsolation.statement, .snapshot] {
                #expect((try? keys(isolation)) == [1])
            }
        }
        #expect(try keys() == [1, 2])
    }

    @Test func rowsThatCollideCannotBeLoaded() throws {
        try rows.load([item(5000, "a")], entity: TestModel.item)
        #expect(rows.firstFreeKey > 5000)
        #expect(code { try rows.load([item(2, "a")], entity: TestModel.item) } == .uniquenessViolated)
        #expect(code { try rows.load([item(5000, "b")], entity: TestModel.item) } == .uniquenessViolated)
        let other = StoredRow(key: 3, row: RowSnapshot(columnCount: 2))
        #expect(code { try rows.load([other], entity: TestModel.item) } == .storeCorrupt)
    }

    @Test func aRowIsMadeOfValuesOfItsTypesOnly() throws {
        let layout = TestModel.layout.entities[TestModel.item]
        let values: [RowValue] = [.integer(1), .real(2), .text("t"), .blob([3]), .text("4"), .text("c"), .null]
        #expect(layout.values(of: try layout.row(values)) == values)
        for (column, wrong) in [
            (0, RowValue.text("1")), (1, .integer(2)), (1, .real(.nan)), (2, .blob([])), (3, .text("")),
        ] {
            var damaged = values
            damaged[column] = wrong
            #expect(code { _ = try layout.row(damaged) } == .storeCorrupt)
        }
        #expect(code { _ = try layout.row(Array(values.dropLast())) } == .storeCorrupt)
    }

    /// A reader that can only list rows.
    private struct Lister: StoreReader {
        let stored: [StoredRow]

        func forEachRow(_ query: RowQuery, _ body: (StoredRow) -> Void) throws(DataSourceError) {
            let stored = stored
            let rows = try query.rows(in: TestModel.layout) { (entity) throws(DataSourceError) in
                entity == TestModel.item ? stored : []
            }
            for row in rows { body(row) }
        }

        func row(entity: Int, constraint: Int, values: [RowValue]) throws(DataSourceError) -> StoredRow? {
            try rows(RowQuery(TestModel.layout.entities[entity], constraint: constraint, values: values)).first
        }
    }

    @Test func aReaderThatOnlyListsRowsAnswersAsMemoryDoes() throws {
        let stored = (1...20).map { key in
            StoredRow(
                key: key,
                row: TestModel.row(.integer(key % 7), .null, .text("t\(key)"), .null, .null, .text("\(key)")))
        }
        try rows.load(stored, entity: TestModel.item)
        let lister = Lister(stored: stored.reversed())
        let queries = [
            all, RowQuery(entity: 1), RowQuery(entity: TestModel.item, limit: 3, offset: 4),
            RowQuery(
                entity: TestModel.item, predicate: .compare(column: TestModel.integer, .greater, .integer(2)),
                sort: [SortKey(column: TestModel.integer, isAscending: false)], limit: 5),
        ]
        try rows.read(.snapshot) { (reader) throws(DataSourceError) in
            for query in queries {
                #expect(try lister.rows(query).map(\.key) == reader.rows(query).map(\.key))
                #expect(try lister.count(query) == reader.count(query))
            }
            for key in Int64(0)...21 {
                #expect(try (lister.row(entity: 0, key: key) == nil) == (reader.row(entity: 0, key: key) == nil))
                for values in [[RowValue.text("\(key)")], [.null]] {
                    let found = try lister.row(entity: 0, constraint: 0, values: values)?.key
                    #expect(try found == reader.row(entity: 0, constraint: 0, values: values)?.key)
                }
            }
        }
    }

    @Test func droppingEntitiesTakesTheLinksToThemAlong() throws {
        let layout = ModelLayout(TestModel.linkModel)
        let rows = InMemoryRows(layout)
        let person = try #require(layout.entity(named: "Person"))
        let town = try #require(layout.entity(named: "Town"))
        let place = try #require(layout.entity(named: "Place"))
        let pairs = try #require(layout.entities.first { $0.links != nil })
        func row(_ layout: EntityLayout, _ key: Int64, _ values: [String: Int64] = [:]) throws -> StoredRow {
            let values = layout.columns.map { column in values[column.name].map { RowValue.integer($0) } ?? .null }
            return StoredRow(key: key, row: try layout.row(values))
        }
        func link(_ key: Int64, to entity: EntityLayout, _ other: Int64) throws -> StoredRow {
            try row(
                pairs, key,
                ["_source": 1, "_destination": other, "_destination.entity": Int64(entity.index)])
        }
        try rows.load(
            [
                row(person, 1, ["home": 10, "home.entity": Int64(place.index)]),
                row(person, 2, ["home": 20, "home.entity": Int64(town.index)]),
            ], entity: person.index)
        try rows.load([row(place, 10)], entity: place.index)
        try rows.load([row(town, 20)], entity: town.index)
        try rows.load([link(30, to: place, 10), link(31, to: town, 20)], entity: pairs.index)
        #expect(rows.objectCount() == 4)
        #expect(rows.objectCount(of: ["Town", "Person"]) == 3)
        let changes = try rows.changes(droppingEntities: ["Town"])
        #expect(try rows.commit([changes]).refused.isEmpty)
        try rows.read(.snapshot) { (reader) throws(DataSourceError) in
            let people = try reader.rows(RowQuery(entity: person.index))
            #expect(people.map { person.values(of: $0.row).contains(.integer(10)) } == [true, false])
            #expect(people.map { person.values(of: $0.row).allSatisfy { $0 == .null } } == [false, true])
            #expect(try reader.count(RowQuery(entity: place.index)) == 1)
            #expect(try reader.count(RowQuery(entity: town.index)) == 0)
            #expect(try reader.rows(RowQuery(entity: pairs.index)).map(\.key) == [30])
        }
    }
}
