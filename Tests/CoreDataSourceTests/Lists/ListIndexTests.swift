import CoreDataSource
import RowStore
import TestSupport
import Testing

/// The index finds each list that a save concerns, and few others.
struct ListIndexTests {
    private static let number = ListWorld.numberColumn
    private static let text = ListWorld.textColumn
    private static let isSeven = RowPredicate.compare(column: number, .equal, .integer(7))
    private static let isA = RowPredicate.compare(column: text, .equal, .text("a"))
    private static let isSmall = RowPredicate.compare(column: number, .less, .integer(5))

    private func query(_ predicate: RowPredicate, joined: [JoinedColumn] = [], limit: Int? = nil) -> ListQuery {
        ListQuery(
            ListWorld.base, predicate: predicate, joined: joined, order: ListOrder(ListWorld.base, sort: []),
            limit: limit)
    }

    private func row(_ key: Int64, _ number: Int64, _ text: String?) -> RowSnapshot {
        ListWorld.row(key, ListWorld.Item(entity: ListWorld.entities[0], number: number, text: text))
    }

    private func save(_ edit: (inout EntityChanges) -> Void) -> ChangeSet {
        var changes = EntityChanges(entity: ListWorld.entities[0])
        edit(&changes)
        return ChangeSet(entities: [changes])
    }

    // MARK: Required values

    @Test func comparisonsWithConstantsRequireValues() throws {
        #expect(RequiredValues(Self.isSeven)?.columns == [Self.number])
        #expect(RequiredValues(Self.isSeven)?.combinations == [[.integer(7)]])
        let both = try #require(RequiredValues(.and([Self.isSmall, .and([Self.isA, .constant(true)]), Self.isSeven])))
        #expect(Set(both.columns) == [Self.number, Self.text] && both.columns == both.columns.sorted())
        #expect(both.combinations.count == 1)
        let few = RequiredValues(.isIn(column: Self.number, [.integer(1), .integer(2)]))
        #expect(few?.combinations == [[.integer(1)], [.integer(2)]])
        #expect(RequiredValues(.compareKey(.equal, 3))?.combinations == [[.integer(3)]])
    }

    @Test func otherPredicatesRequireNoValues() {
        #expect(RequiredValues(.constant(true)) == nil)
        #expect(RequiredValues(Self.isSmall) == nil)
        #expect(RequiredValues(.not(Self.isSeven)) == nil)
        #expect(RequiredValues(.or([Self.isSeven, Self.isA])) == nil)
        #expect(RequiredValues(.isIn(column: Self.number, (0..<100).map { .integer($0) })) == nil)
        let joined = JoinedColumn(.outerKey, .integer)
        #expect(RequiredValues(.compare(column: joined.number(at: 0), .equal, .integer(1))) == nil)
        // Related rows determine the rows of such lists, too.
        #expect(query(Self.isSeven, joined: [joined]).requiredValues == nil)
        #expect(query(Self.isSeven, joined: [joined], limit: 3).requiredValues == nil)
        #expect(query(Self.isSeven, limit: 3).requiredValues != nil)
    }

    /// A long value of a row is not copied, because no list is found by it.
    @Test func onlyShortValuesAreRequired() {
        let (short, long) = (String(repeating: "a", count: 256), String(repeating: "a", count: 257))
        #expect(RequiredValues(.compare(column: Self.text, .equal, .text(short)))?.columns == [Self.text])
        #expect(RequiredValues(.compare(column: Self.text, .equal, .text(long))) == nil)
        #expect(RequiredValues(.isIn(column: Self.text, [.text("a"), .text(long)])) == nil)
        func values(_ text: String?) -> [RowValue]? {
            RequiredValues.values(ofRow: 1, row(1, 7, text), in: [Self.number, Self.text], ListWorld.base)
        }
        #expect(values(short) == [.integer(7), .text(short)])
        #expect(values(nil) == [.integer(7), .null])
        #expect(values(long) == nil)
    }

    // MARK: Required ranges

    private func bounds(_ predicates: RowPredicate...) -> ClosedRange<Double>? {
        RequiredRange(.and(predicates), ListWorld.base)?.bounds
    }

    @Test func comparisonsOfNumbersRequireARange() {
        let isLarge = RowPredicate.compare(column: Self.number, .greaterOrEqual, .integer(-2))
        #expect(RequiredRange(Self.isSmall, ListWorld.base)?.column == Self.number)
        #expect(bounds(Self.isSmall) == -.infinity...5)
        #expect(bounds(isLarge) == -2...(.infinity))
        #expect(bounds(Self.isA, Self.isSmall, .and([isLarge])) == -2...5)
        #expect(bounds(Self.isSmall, .compare(column: Self.number, .less, .integer(3))) == -.infinity...3)
        // No row has such a number, so any range will do.
        #expect(bounds(Self.isSmall, .compare(column: Self.number, .greater, .integer(6))) == -.infinity...5)
        // The nearest number with a fraction is greater.
        let large = (Int64(1) << 53) + 3
        #expect(bounds(.compare(column: Self.number, .less, .integer(large))) == -.infinity...Double(large))
        #expect(bounds(Self.isSeven) == nil)
        #expect(bounds(.or([Self.isSmall, isLarge])) == nil)
        #expect(bounds(.compare(column: Self.number, .less, .real(1))) == nil)
        #expect(bounds(.compare(column: Self.text, .less, .text("a"))) == nil)
        #expect(query(Self.isSmall).requiredRange != nil)
        #expect(query(Self.isSmall, joined: [JoinedColumn(.outerKey, .integer)]).requiredRange == nil)
    }

    /// Also while ranges are added.
    @Test(arguments: 0..<8)
    func theRangesOfANumberAreFound(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (index, all) = (RangeIndex(), [ClosedRange<Double>]())
        let ends = [-Double.infinity, .infinity] + (0..<20).map { Double($0) / 2 }
        for number in 0..<300 {
            let (one, other) = (ends[random.next(below: ends.count)], ends[random.next(below: ends.count)])
            all.append(min(one, other)...max(one, other))
            index.add(number, all[number])
            for value in [ends[random.next(below: ends.count)], Double(random.next(below: 80)) / 8, .nan] {
                var found: Set<Int> = []
                index.find(value, &found)
                let expected = all.indices.filter { all[$0].contains(value) || value.isNaN }
                #expect(found == Set(expected), "\(value) of \(number), seed \(seed)")
            }
        }
    }

    // MARK: Finding

    @Test func listsAreFoundByTheValuesBeforeAndAfterASave() {
        var index = ListIndex()
        for number in 0..<100 {
            index.add(number, query(.compare(column: Self.number, .equal, .integer(Int64(number)))))
        }
        index.add(100, query(.not(Self.isSeven)))
        index.add(101, query(.and([Self.isSeven, Self.isA])))
        index.add(102, query(.compareKey(.equal, 1)))
        let insert = save { $0.inserted = [StoredRow(key: 1, row: row(1, 7, "a"))] }
        #expect(index.lists(concernedBy: [insert]) == [7, 100, 101, 102])
        let delete = save { $0.deleted = [StoredRow(key: 2, row: row(2, 8, nil))] }
        #expect(index.lists(concernedBy: [delete]) == [8, 100])
        let update = save {
            var columns = ColumnSet()
            columns.insert(Self.number)
            $0.updated = [UpdatedRow(key: 2, row: row(2, 7, "b"), previous: row(2, 9, "b"), columns: columns)]
        }
        #expect(index.lists(concernedBy: [update]) == [7, 9, 100])
        #expect(index.lists(concernedBy: [delete, update]) == [7, 8, 9, 100])
        let other = ChangeSet(entities: [EntityChanges(entity: ListWorld.base.index + 100)])
        #expect(index.lists(concernedBy: [other]).isEmpty)
    }

    @Test func listsAreFoundByTheRangesOfTheirNumbers() {
        var index = ListIndex()
        for number in 0..<100 {
            let low = RowPredicate.compare(column: Self.number, .greater, .integer(Int64(10 * number)))
            let high = RowPredicate.compare(column: Self.number, .lessOrEqual, .integer(Int64(10 * number + 10)))
            index.add(number, query(.and([low, high])))
        }
        index.add(100, query(Self.isSmall))
        let insert = save { $0.inserted = [StoredRow(key: 1, row: row(1, 25, nil))] }
        #expect(index.lists(concernedBy: [insert]) == [2])
        let update = save {
            var columns = ColumnSet()
            columns.insert(Self.number)
            $0.updated = [UpdatedRow(key: 2, row: row(2, 33, "b"), previous: row(2, 4, "b"), columns: columns)]
        }
        #expect(index.lists(concernedBy: [update]) == [0, 3, 100])
    }

    @Test func listsThatDoNotUseValuesAreFoundByTheirEntity() {
        var index = ListIndex()
        index.add(0, query(Self.isSeven), usesValues: false)
        index.add(1, query(Self.isSeven))
        let insert = save { $0.inserted = [StoredRow(key: 1, row: row(1, 8, nil))] }
        #expect(index.lists(concernedBy: [insert]) == [0])
    }

    /// To visit a few lists takes less time than to look up many rows.
    @Test func allListsOfTheEntityAreFoundAfterALargeSave() {
        var index = ListIndex()
        for number in 0..<3 {
            index.add(number, query(.compare(column: Self.number, .equal, .integer(Int64(number)))))
        }
        for (count, found) in [(256, [1]), (257, [0, 1, 2])] {
            let large = save { changes in
                changes.inserted = (1...Int64(count)).map { StoredRow(key: $0, row: row($0, 1, nil)) }
            }
            #expect(index.lists(concernedBy: [large]) == Set(found))
        }
    }

    /// Random lists and saves: a list that is not found shows the same as before, and a merge of the saves would change nothing in it.
    @Test(arguments: 0..<24)
    func aListThatIsNotFoundDoesNotChange(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var world = ListWorld()
        for _ in 0..<20 { _ = world.save(&random) }
        let plans = (0..<80).map { _ in ListWorld.Plan(&random) }
        var index = ListIndex()
        for (number, plan) in plans.enumerated() { index.add(number, plan.query) }
        var (foundCount, otherCount) = (0, 0)
        for _ in 0..<100 {
            let before = plans.map { world.shown($0) }
            let saves = (0...random.next(below: 3)).map { _ in world.save(&random) }
            let found = index.lists(concernedBy: saves)
            foundCount += found.count
            for (number, plan) in plans.enumerated() where !found.contains(number) {
                otherCount += 1
                var net = NetChanges()
                for save in saves { try net.add(save, to: plan.query) }
                #expect(net.isEmpty && world.shown(plan) == before[number], "list \(number), seed \(seed)")
            }
        }
        #expect(foundCount > 0 && otherCount > 0)
    }

    // MARK: Turns

    @Test(arguments: 0..<8)
    func theLowestNumberTakesTheNextTurn(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (queue, expected) = (TurnQueue(), Set<Int>())
        for _ in 0..<2000 {
            if random.next(below: 5) < 3 {
                let number = random.next(below: 300)
                queue.insert(number)
                expected.insert(number)
            } else {
                let lowest = expected.min()
                if let lowest { expected.remove(lowest) }
                let first = queue.takeFirst()
                #expect(first == lowest)
            }
            #expect(queue.numbers == expected)
        }
    }
}
