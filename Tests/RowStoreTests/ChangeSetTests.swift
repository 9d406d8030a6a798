import RowStore
import TestSupport
import Testing

/// A change set has each entity and each row once, whatever is added to it.
struct ChangeSetTests {
    private enum Kind: CaseIterable { case inserted, updated, deleted }

    private func changes(_ entity: Int, _ rows: [(kind: Kind, key: Int64)]) -> EntityChanges {
        var changes = EntityChanges(entity: entity)
        let row = RowSnapshot(columnCount: 1)
        for (kind, key) in rows {
            switch kind {
            case .inserted: changes.inserted.append(StoredRow(key: key, row: row))
            case .updated:
                changes.updated.append(UpdatedRow(key: key, row: row, previous: row, columns: ColumnSet()))
            case .deleted: changes.deleted.append(StoredRow(key: key, row: row))
            }
        }
        return changes
    }

    @Test func aRowThatIsAddedTwiceIsThereOnce() {
        for first in Kind.allCases {
            for second in Kind.allCases {
                var set = ChangeSet(entities: [])
                set.add(changes(3, [(first, 1)]))
                set.add(changes(3, [(second, 1), (second, 2)]))
                #expect(set.hasEachRowOnce && set.entities.count == 1 && set.rowCount == 2)
                // The first change stands.
                let kept = changes(3, [(first, 1), (second, 2)])
                #expect(set.entities[0].inserted.map(\.key) == kept.inserted.map(\.key))
                #expect(set.entities[0].updated.map(\.key) == kept.updated.map(\.key))
                #expect(set.entities[0].deleted.map(\.key) == kept.deleted.map(\.key))
            }
        }
    }

    @Test func entitiesAreInTheOrderOfTheModel() {
        var set = ChangeSet(entities: [])
        for entity in [4, 1, 7, 0, 4, 1] { set.add(changes(entity, [(.deleted, Int64(entity))])) }
        #expect(set.entities.map(\.entity) == [0, 1, 4, 7] && set.rowCount == 4)
    }

    @Test(arguments: 0..<4) func aChangeSetHasEachRowOnceInAnyOrder(part: UInt64) {
        let seed = testSeed() &+ part
        var random = SeededRandom(seed: seed)
        for _ in 0..<100 {
            var set = ChangeSet(entities: [])
            var met: Set<[Int64]> = []
            for _ in 0..<random.next(below: 12) {
                let entity = random.next(below: 3)
                var keys: Set<Int64> = []
                for _ in 0...random.next(below: 5) { keys.insert(Int64(random.next(below: 8))) }
                set.add(
                    changes(entity, keys.map { (Kind.allCases[random.next(below: 3)], $0) }))
                for key in keys { met.insert([Int64(entity), key]) }
            }
            #expect(set.hasEachRowOnce && set.rowCount == met.count, "seed \(seed)")
        }
    }

    @Test func aSetWithARowTwiceIsKnownAsOne() {
        #expect(!ChangeSet(entities: [changes(1, [(.inserted, 1), (.deleted, 1)])]).hasEachRowOnce)
        #expect(
            !ChangeSet(entities: [changes(1, [(.inserted, 1)]), changes(1, [(.inserted, 2)])]).hasEachRowOnce)
        #expect(
            ChangeSet(entities: [changes(1, [(.inserted, 1)]), changes(2, [(.inserted, 1)])]).hasEachRowOnce)
    }
}
