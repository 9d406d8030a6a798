import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Any group of saves, compared with what it does to a store in memory.
struct RandomGroupPromises {
    private static let codes = ["a", "b", "c", "d", "e", "é", "e\u{301}", ""]

    @Test(arguments: TestedStore.persistent)
    func aGroupOfSavesGivesTheSameRowsAsInMemory(kind: TestedStore) throws {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for round in 0..<10 {
            let oracle = InMemoryStore(TestModel.layout)
            try kind.withStore { store in
                var nextKey: Int64 = 1
                for step in 0..<25 {
                    let group = writtenEarly(try group(oracle, &nextKey, &random), store, &random)
                    let expected = try oracle.commit(group).refused.mapValues(kindOfRefusal)
                    let found = try store.commit(group).refused.mapValues(kindOfRefusal)
                    #expect(found == expected, "seed \(seed), round \(round), step \(step)")
                    for entity in 0..<2 {
                        let isSame = try contents(store, entity) == contents(oracle, entity)
                        #expect(isSame, "entity \(entity), seed \(seed), round \(round), step \(step)")
                    }
                }
            }
        }
    }

    /// Writes some rows of the first save while it is still being made, now and then with other values, and others beside them.
    private func writtenEarly(
        _ group: [ChangeSet], _ store: any PersistentStore, _ random: inout SeededRandom
    ) -> [ChangeSet] {
        guard let store = store as? any EarlyWriteStore, random.next(below: 2) == 0 else { return group }
        var group = group
        let earlyWrite = EarlyWrite()
        group[0].earlyWrite = earlyWrite
        for changes in group[0].entities {
            var rows = changes.inserted.filter { _ in random.next(below: 4) > 0 }
            for index in rows.indices where random.next(below: 4) == 0 {
                let layout = TestModel.layout.entities[changes.entity]
                rows[index] = StoredRow(key: rows[index].key, row: row(layout, &random))
            }
            if !rows.isEmpty, !store.write(NewRows(entity: changes.entity, rows), for: earlyWrite) { break }
        }
        return group
    }

    /// Which of several faults of one save is named is the store's to say.
    private func kindOfRefusal(_ error: DataSourceError) -> String {
        [.uniquenessViolated, .objectGone].contains(error.code) ? "cannot be written" : error.code.rawValue
    }

    private func contents(_ store: any PersistentStore, _ entity: Int) throws -> [[RowValue]] {
        let columns = TestModel.layout.entities[entity].columns
        return try store.rows(RowQuery(entity: entity)).map { stored in
            [.integer(stored.key)] + columns.indices.map { stored.row.value($0, columns[$0].storage) }
        }
    }

    /// One that touches each row at most once, so that what its saves expect is what they find.
    private func group(
        _ oracle: InMemoryStore, _ nextKey: inout Int64, _ random: inout SeededRandom
    ) throws -> [ChangeSet] {
        var rest = try (0..<2).map { try oracle.rows(RowQuery(entity: $0)).shuffled(using: &random) }
        return try (0..<1 + random.next(below: 5)).map { _ in
            var set = ChangeSet(entities: [])
            set.origin = random.next(below: 3)
            for entity in 0..<2 where random.next(below: 3) > 0 {
                var changes = EntityChanges(entity: entity)
                for _ in 0..<random.next(below: 4) {
                    try change(&changes, &rest[entity], oracle, &nextKey, &random)
                }
                if !changes.isEmpty { set.entities.append(changes) }
            }
            return set
        }
    }

    private func change(
        _ changes: inout EntityChanges, _ rest: inout [StoredRow], _ oracle: InMemoryStore, _ nextKey: inout Int64,
        _ random: inout SeededRandom
    ) throws {
        let layout = TestModel.layout.entities[changes.entity]
        let new = row(layout, &random)
        switch random.next(below: 10) {
        case 0..<5:
            changes.inserted.append(StoredRow(key: nextKey, row: new))
            nextKey += 1
        case 5..<7:
            guard let old = rest.popLast() else { return }
            let update = UpdatedRow.of(old.key, old.row, new, layout)
            if !update.columns.isEmpty { changes.updated.append(update) }
        case 7..<9:
            if let old = rest.popLast() { changes.deleted.append(old) }
        default:
            // Nobody has this row, or everybody.
            if random.next(below: 2) == 0 {
                let update = UpdatedRow.of(1_000_000 + nextKey, row(layout, &random), new, layout)
                if !update.columns.isEmpty { changes.updated.append(update) }
            } else if let old = rest.popLast() {
                changes.inserted.append(StoredRow(key: old.key, row: new))
            }
        }
    }

    private func row(_ layout: EntityLayout, _ random: inout SeededRandom) -> RowSnapshot {
        var row = RowSnapshot(columnCount: layout.columns.count)
        func value(_ values: [RowValue]) -> RowValue { values[random.next(below: values.count)] }
        row.setValue(value([.null, .integer(0), .integer(1), .integer(.max)]), TestModel.integer)
        row.setValue(value([.null, .real(1.5), .real(-.infinity)]), TestModel.real)
        row.setValue(value([.null, .text("x"), .text("y"), .text("")]), TestModel.text)
        row.setValue(value([.null, .blob([]), .blob([0, 1])]), TestModel.blob)
        row.setValue(value([.null, .null] + RandomGroupPromises.codes.map { .text($0) }), TestModel.code)
        return row
    }
}
