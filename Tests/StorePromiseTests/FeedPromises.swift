import Dispatch
import RowStore
import StoreTestModel
import Synchronization
import TestSupport
import Testing

/// How members of a shared store find out what the others have saved.
struct FeedPromises {
    private func insert(_ key: Int64, _ number: Int64 = 0) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(.integer(number)))])
    }

    private func keys(_ events: [FeedEvent]) -> [Int64] {
        events.flatMap { event -> [Int64] in
            guard case .changes(let changes) = event else { return [-1] }
            return changes.entities.flatMap { $0.inserted.map(\.key) }
        }
    }

    @Test(arguments: TestedStore.shared)
    func eachSaveHasThePositionAfterTheOneBefore(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let first = try members[0].store.position()
            #expect(members[0].sharing.firstPosition == first)
            var number: Int64 = 0
            for step in Int64(0)..<6 {
                let count = step % 3 + 1
                try members[Int(step % 2)].store.write((1...count).map { insert(step * 10 + $0) })
                number += count
                for member in members { #expect(try member.store.position() == first + number) }
            }
        }
    }

    @Test(arguments: TestedStore.shared)
    func refusedSavesHaveNoPosition(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let start = try members[0].store.position()
            var sets = [insert(1), insert(1), insert(2), .of(delete: []), insert(3)]
            for index in sets.indices { sets[index].origin = index }
            sets[3] = ChangeSet(entities: [])
            #expect(try members[0].store.commit(sets).refused.keys.sorted() == [1])
            #expect(try members[0].store.position() == start + 3)
            let page = try members[1].readFeed(after: start)
            #expect(page.position == start + 3)
            #expect(keys(page.events) == [1, 2, 3])
        }
    }

    @Test(arguments: TestedStore.shared)
    func theFeedLeavesOutAMembersOwnSavesAndNamesTheMembersOfTheOthers(kind: TestedStore) async throws {
        try await kind.withMembers(3) { members in
            let start = try members[0].store.position()
            for step in Int64(1)...9 { try members[Int(step % 3)].store.write([insert(step)]) }
            for (index, member) in members.enumerated() {
                let page = try member.readFeed(after: start)
                #expect(page.position == start + 9)
                #expect(keys(page.events) == (1...9).filter { $0 % 3 != index })
                for event in page.events {
                    guard case .changes(let changes) = event else { continue }
                    let key = try #require(changes.entities.first?.inserted.first?.key)
                    #expect(changes.member == members[Int(key % 3)].sharing.member)
                }
                let none = try member.sharing.readFeed(after: page.position)
                #expect(none.events.isEmpty && !none.isMore && none.position == page.position)
            }
        }
    }

    @Test(arguments: TestedStore.shared)
    func theFeedHasEachRowBeforeAndAfterTheSave(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let layout = TestModel.layout.entities[TestModel.item]
            let start = try members[0].store.position()
            var old = TestModel.row(
                .integer(.min), .real(0.1), .text("日本\u{1F600}"), .blob([0, 255]), .text("-1.50"), .text("a"))
            old.setInteger(1, TestModel.flag)
            let new = TestModel.row(.null, .real(-.infinity), .text(""), .blob([]), .text("2"), .text("a"))
            try members[0].store.write([.of(insert: [StoredRow(key: 7, row: old)])])
            try members[0].store.write([.of(update: [.of(7, old, new, layout)])])
            try members[0].store.write([.of(delete: [StoredRow(key: 7, row: new)])])
            let sets = try members[1].readFeed(after: start).events.compactMap { event -> EntityChanges? in
                guard case .changes(let changes) = event else { return nil }
                return changes.entities.first
            }
            try #require(sets.count == 3)
            // Values of transient attributes are not for others.
            old.setNull(TestModel.flag)
            func isSame(_ row: RowSnapshot?, _ other: RowSnapshot) -> Bool {
                guard let row else { return false }
                return layout.columns.indices.allSatisfy {
                    row.isEqual(to: other, column: $0, storage: layout.columns[$0].storage)
                }
            }
            #expect(sets[0].inserted.map(\.key) == [7] && isSame(sets[0].inserted.first?.row, old))
            #expect(sets[1].updated.map(\.key) == [7] && isSame(sets[1].updated.first?.previous, old))
            #expect(isSame(sets[1].updated.first?.row, new))
            let columns = try #require(sets[1].updated.first?.columns)
            #expect((0..<TestModel.columnCount).filter(columns.contains) == [0, 1, 2, 3, 4])
            #expect(sets[2].deleted.map(\.key) == [7] && isSame(sets[2].deleted.first?.row, new))
        }
    }

    @Test(arguments: TestedStore.shared)
    func aLongFeedIsReadInPages(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let start = try members[0].store.position()
            try members[0].store.write((1...1000).map { insert($0) })
            let page = try members[1].sharing.readFeed(after: start)
            #expect(page.isMore)
            #expect(page.events.count < 1000 && page.position == start + Int64(page.events.count))
            #expect(keys(try members[1].readFeed(after: start).events) == Array(1...1000))
        }
    }

    @Test(arguments: TestedStore.shared)
    func aSaveOfManyRowsIsUnknownForItsEntities(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let start = try members[0].store.position()
            let row = TestModel.row()
            try members[0].store.write([.of(insert: (1...5000).map { StoredRow(key: $0, row: row) }), insert(6000)])
            let page = try members[1].readFeed(after: start)
            #expect(page.position == start + 2 && page.events.count == 2)
            guard case .unknown([TestModel.item]) = page.events.first else {
                Issue.record("5000 rows are reported one by one")
                return
            }
            #expect(keys(Array(page.events.dropFirst())) == [6000])
        }
    }

    /// A reader that is gone or stopped keeps nothing in the store for good.
    @Test(arguments: TestedStore.shared)
    func aFollowerThatIsTooLateReloads(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let start = try members[0].store.position()
            for step in Int64(0)..<40 {
                try members[0].store.write((1...500).map { insert(step * 500 + $0) })
                let page = try members[1].sharing.readFeed(after: start)
                guard case .unknown(nil)? = page.events.first else { continue }
                #expect(page.position == start + (step + 1) * 500)
                #expect(page.events.count == 1 && !page.isMore)
                let newest = try members[1].sharing.readFeed(after: page.position - 100)
                #expect(keys(newest.events).count == 100)
                return
            }
            Issue.record("20,000 saves are kept for a reader that does not come")
        }
    }

    @Test(arguments: TestedStore.shared)
    func aStoreThatIsOpenedLaterBeginsWhereTheOthersAre(kind: TestedStore) async throws {
        let place = try kind.makePlace()
        let one = try Member(place.open())
        try one.store.write([insert(1), insert(2)])
        let other = try Member(place.open())
        #expect(other.sharing.firstPosition == (try one.store.position()))
        #expect(other.sharing.member.number > one.sharing.member.number)
        #expect(try other.readFeed(after: other.sharing.firstPosition).events.isEmpty)
        try other.store.write([insert(3)])
        #expect(keys(try one.readFeed(after: other.sharing.firstPosition).events) == [3])
        one.store.close()
        other.store.close()
        try place.verify()
    }

    @Test(arguments: TestedStore.shared)
    func aSaveOfAnotherMemberIsCalledOut(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let start = try members[0].store.position()
            let calls = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            members[1].sharing.listen { calls.continuation.yield() }
            try members[0].store.write([insert(1)])
            for await _ in calls.stream {
                if try keys(members[1].readFeed(after: start).events) == [1] { break }
            }
        }
    }

    @Test(arguments: TestedStore.shared)
    func keysThatAreReservedAreReservedOnce(kind: TestedStore) async throws {
        let place = try kind.makePlace()
        var all: [Range<Int64>] = []
        for _ in 0..<2 {
            let members = try (0..<3).map { _ in try Member(place.open()) }
            let ranges = Mutex<[Range<Int64>]>([])
            DispatchQueue.concurrentPerform(iterations: 30) { step in
                let range = Result { try members[step % 3].sharing.reserveKeys(Int64(step % 7 + 1)) }
                ranges.withLock { ranges in
                    if case .success(let range) = range { ranges.append(range) }
                }
            }
            all += ranges.withLock { $0 }
            for member in members { member.store.close() }
        }
        #expect(all.count == 60)
        all.sort { $0.lowerBound < $1.lowerBound }
        for (range, next) in zip(all, all.dropFirst()) { #expect(range.upperBound <= next.lowerBound) }
        #expect(all.allSatisfy { $0.lowerBound >= 1 && (1...7).contains($0.count) })
        try place.verify()
    }

    @Test(arguments: TestedStore.shared)
    func keysThatAreReservedAreAboveThoseThatAreThere(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let bound = try members[0].sharing.reserveKeys(1).upperBound
            try members[0].store.write([insert(bound + 5000)])
            #expect(try members[1].sharing.reserveKeys(1).lowerBound > bound + 5000)
        }
    }

    /// Each save inserts one row, so that a reader can count what it sees.
    @Test(arguments: TestedStore.shared)
    func aReaderSaysThePositionOfWhatItReadsWhileOthersWrite(kind: TestedStore) async throws {
        try await kind.withMembers(4) { members in
            let start = try members[0].store.position()
            let failures = Mutex<[String]>([])
            let writers = Atomic(3)
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                do {
                    if index < 3 {
                        defer { writers.wrappingSubtract(1, ordering: .releasing) }
                        for step in Int64(0)..<40 {
                            let keys = try members[index].sharing.reserveKeys(2)
                            try members[index].store.write(keys.map { insert($0, Int64(index) * 1000 + step) })
                        }
                        return
                    }
                    while writers.load(ordering: .acquiring) > 0 {
                        let (position, count) = try members[3].store.read(.snapshot) {
                            (reader) throws(DataSourceError) in
                            (reader.position, try reader.count(RowQuery(entity: TestModel.item)))
                        }
                        if position - start != count {
                            failures.withLock { $0.append("\(count) rows at \(position - start)") }
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                    writers.store(0, ordering: .releasing)
                }
            }
            #expect(failures.withLock { $0 } == [])
            let page = try members[3].readFeed(after: start)
            #expect(page.position == start + 240 && page.events.count == 240)
            #expect(keys(page.events).sorted() == (try members[3].store.keys()))
            try expectOrder(page.events)
            // Whoever looks finds the same order.
            let late = try members[3].readFeed(after: start + 100)
            #expect(keys(late.events) == Array(keys(page.events).dropFirst(100)))
        }
    }

    /// Saves of one member come in the order in which it made them.
    private func expectOrder(_ events: [FeedEvent]) throws {
        var last: [Int64: Int64] = [:]
        for event in events {
            guard case .changes(let changes) = event else { continue }
            let row = try #require(changes.entities.first?.inserted.first)
            let number = row.row.integer(TestModel.integer)
            #expect(last[number / 1000, default: -1] <= number % 1000)
            last[number / 1000] = number % 1000
        }
    }
}
