import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// A reader of a kept history continues where it was, or is told that records are missing.
@MainActor
struct HistoryPositionTests {
    /// Saves one contact at a time.
    private func save(_ container: PersistentContainer, _ range: Range<Int>, phone: String = "1") async throws {
        let contacts = try container.dataSource(ContactDataSource.self)
        for number in range {
            try await contacts.add([ContactData(uid: "uid-\(number)", name: "\(number)", phone: phone)])
        }
    }

    @Test(arguments: HistoryPlace.lasting)
    func aPositionIsValidWhenTheStoreIsOpenedAgain(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store)
        try await save(first, 0..<3)
        let position = try #require(try await first.records().first?.position)
        let data = try JSONEncoder().encode(position)
        try await first.close()
        // The store remembers that it keeps a history.
        let second = try await place.open(directory.store, .init(synchronous: .normal))
        try await save(second, 3..<4)
        let decoded = try JSONDecoder().decode(HistoryPosition.self, from: data)
        #expect(decoded == position)
        #expect(try await second.records(after: decoded).map(\.number) == [2, 3, 4])
        let end = try await second.historyPosition()
        #expect(try await second.records(after: end).isEmpty)
        try await second.close()
    }

    @Test(arguments: HistoryPlace.all)
    func manyRecordsAreReadInPages(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            for step in 0..<700 {
                try await contacts.add(contactList(0..<1) { _ in "\(step)" }, waitFor: .main)
            }
            try await container.flush()
            let all = try await container.records()
            #expect(all.map(\.number) == Array(1...700))
            let later = try await container.records(after: all[299].position)
            #expect(later.map(\.number) == Array(301...700))
            let none = try await container.records(where: HistoryFilter(authors: ["nobody"]))
            #expect(none.isEmpty)
        }
    }

    @Test(arguments: HistoryPlace.all)
    func theOldestRecordsAreDroppedForTheirBytesAndReadersAreTold(place: HistoryPlace) async throws {
        try await place.withContainer(.keeping(.kept(for: .seconds(86_400), upTo: 64 << 10))) { container, url in
            try await save(container, 0..<1)
            let old = try await container.historyPosition()
            try await save(container, 1..<200, phone: String(repeating: "1", count: 1000))
            let error = await expectError(.historyExpired) { try await container.records(after: old) }
            let start = try #require(error?.historyStart)
            let kept = try await container.records(after: start)
            #expect(kept.last?.number == 200 && kept.count < 100 && kept.count > 10)
            #expect(try await container.records().map(\.number) == kept.map(\.number))
            #expect(kept.map(\.number) == Array((kept.first?.number ?? 0)...200))
            if place.isFile {
                let size = try RawConnection(url).column("SELECT sum(size) FROM _history").first.flatMap(Int.init)
                #expect(size.map { $0 <= 80 << 10 } ?? false)
            }
        }
    }

    /// The records of a store in memory are dropped by the code that drops those of a custom store.
    @Test(arguments: HistoryPlace.lasting)
    func recordsThatAreTooOldAreDropped(place: HistoryPlace) async throws {
        let configuration = PersistentContainer.Configuration.keeping(.kept(for: .seconds(100_000), upTo: 1 << 20))
        try await place.withContainer(configuration) { container, url in
            try await save(container, 0..<5)
            let old = try #require(try await container.records().first?.position)
            try await container.close()
            // While the container is open, it would record this write.
            try place.makeRecordsOlder(by: 200_000_000, upTo: 4, url)
            let later = try await place.open(url, configuration)
            try await save(later, 5..<6)
            await expectError(.historyExpired) { try await later.records(after: old) }
            #expect(try await later.records().map(\.number) == [5, 6])
            try await later.close()
        }
    }

    /// One of many records is too old. The other records do not delay the drop.
    @Test(arguments: HistoryPlace.lasting)
    func aSingleOldRecordIsDropped(place: HistoryPlace) async throws {
        let configuration = PersistentContainer.Configuration.keeping(.kept(for: .seconds(100_000), upTo: 1 << 20))
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store, configuration)
        try await save(first, 0..<20)
        try await first.close()
        try place.makeRecordsOlder(by: 200_000_000, upTo: 1, directory.store)
        let second = try await place.open(directory.store, configuration)
        try await save(second, 20..<21)
        #expect(try await second.records().map(\.number) == Array(2...21))
        try await second.close()
    }

    @Test(arguments: HistoryPlace.all)
    func aConsumerGoesOnWhereItWas(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await save(container, 0..<3)
            let index = try await container.historyConsumer("index")
            let first = try await index.records().all()
            #expect(first.map(\.number) == [1, 2, 3])
            try await index.didRead(first[1].position)
            // An earlier position changes nothing.
            try await index.didRead(first[0].position)
            let again = try await container.historyConsumer("index")
            #expect(try await again.records().all().map(\.number) == [3])
            try await again.remove()
            await expectError(.historyNotKept) { try await again.didRead(first[2].position) }
            #expect(try await container.historyConsumer("index").records().all().count == 3)
        }
    }

    /// Another process has removed it. If it came back, records would be kept for it again.
    @Test(arguments: HistoryPlace.all)
    func aRemovedConsumerReadsNothing(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await save(container, 0..<3)
            let (index, other) = (try await container.historyConsumer("i"), try await container.historyConsumer("i"))
            try await other.remove()
            await expectError(.historyNotKept) { try await index.records().all() }
            await expectError(.historyNotKept) { try await index.records().all() }
            // A reset has removed it, too, but then it gets the record of the reset.
            let later = try await container.historyConsumer("i")
            try await container.reset()
            let kinds = try await later.records().all().map(\.kind)
            #expect(kinds == [.reset])
            try await later.remove()
            await expectError(.historyNotKept) { try await later.records().all() }
        }
    }

    /// What a consumer has not read is kept however old it is, but not beyond the bytes.
    @Test(arguments: HistoryPlace.lasting)
    func whatAConsumerHasNotReadIsKeptUpToTheBytes(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let configuration = PersistentContainer.Configuration.keeping(.kept(for: .seconds(60), upTo: 64 << 10))
        let first = try await place.open(directory.store, configuration)
        try await save(first, 0..<2)
        let index = try await first.historyConsumer("index")
        try await index.didRead(try #require(try await first.records().first?.position))
        try await save(first, 2..<4)
        try await first.close()
        try place.makeRecordsOlder(by: 100_000, directory.store)
        let second = try await place.open(directory.store, configuration)
        try await save(second, 4..<5)
        let consumer = try await second.historyConsumer("index")
        #expect(try await consumer.records().all().map(\.number) == [2, 3, 4, 5])
        #expect(try await second.records().map(\.number) == [2, 3, 4, 5])
        try await save(second, 5..<200, phone: String(repeating: "1", count: 1000))
        let error = await expectError(.historyExpired) { try await consumer.records().all() }
        try await consumer.didRead(try #require(error?.historyStart))
        #expect(try await consumer.records().all().last?.number == 200)
        try await second.close()
    }

    @Test(arguments: HistoryPlace.all)
    func aPositionOfAnotherStoreIsRefused(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let other = try await place.open(directory.store)
        try await save(other, 0..<2)
        let position = try await other.historyPosition()
        try await other.close()
        try await place.withContainer { container, _ in
            try await save(container, 0..<3)
            await expectError(.historyOfOtherStore) { try await container.records(after: position) }
            let consumer = try await container.historyConsumer("index")
            await expectError(.historyOfOtherStore) { try await consumer.didRead(position) }
        }
    }

    /// Not every save of a store in memory looks for old records, but the history exceeds its bytes only a little.
    @Test func aHistoryInMemoryKeepsItsBytes() async throws {
        let history = KeptHistory.kept(for: .seconds(86_400), upTo: 512 << 10)
        try await HistoryPlace.memory.withContainer(.keeping(history)) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            for step in 0..<3_000 { try await contacts.add(contactList(0..<1) { _ in "small \(step)" }) }
            let small = try await container.records()
            #expect(small.count > 200 && small.count < 3_000)
            let long = String(repeating: "x", count: 10_000)
            for step in 0..<60 { try await contacts.add(contactList(0..<1) { _ in "\(long) \(step)" }) }
            // A record of an update has the old and the new row.
            let large = try await container.records().map(\.number)
            #expect(large.count >= 20 && large.count < 40 && large.last == small.last.map { $0.number + 60 })
        }
    }

    /// The records that the store had after the copy are lost, and others get their numbers.
    @Test func readersAreToldOfARestore() async throws {
        try await HistoryPlace.sqlite.withContainer { container, url in
            try await save(container, 0..<2)
            let index = try await container.historyConsumer("index")
            try await index.didRead(try #require(try await container.records().first?.position))
            let copy = url.deletingLastPathComponent().appending(path: "copy.sqlite")
            try await container.backup(to: copy)
            try await save(container, 2..<4)
            let positions = try await container.records().map(\.position)
            try await container.close()
            try await PersistentContainer.restore(copy, to: url, replacingStore: true)
            let restored = try await HistoryPlace.sqlite.open(url)
            try await save(restored, 2..<6)
            for position in positions {
                let error = await expectError(.historyExpired) { try await restored.records(after: position) }
                #expect(error?.message.contains("The store was restored from a copy.") ?? false)
                #expect(try await restored.records(after: error?.historyStart).count == 7)
            }
            let kinds = try await restored.records().map(\.kind)
            #expect(kinds == [.incoming, .incoming, .reset] + Array(repeating: HistoryKind.incoming, count: 4))
            // A consumer is told by the first record.
            let records = try await restored.historyConsumer("index").records().all()
            #expect(records.map(\.number) == Array(3...7) && records.first?.kind == .reset)
            // Who leaves out records is told, too.
            let filter = HistoryFilter(authors: ["somebody"], kinds: [.local])
            #expect(try await restored.records(where: filter).map(\.kind) == [.reset])
            let again = try #require(records.last?.position)
            try await restored.close()
            try await PersistentContainer.restore(copy, to: url, replacingStore: true)
            let second = try await HistoryPlace.sqlite.open(url)
            for position in [again, positions[0]] {
                await expectError(.historyExpired) { try await second.records(after: position) }
            }
            try await second.close()
            // The copy itself is unchanged.
            let kept = try RawConnection(copy).column("SELECT count(*) FROM _history")
            #expect(kept == ["2"])
        }
    }

    /// The file itself was put back, so that the history has the same ID.
    @Test func aPositionFromBeforeTheFileWasPutBackIsRefused() async throws {
        try await HistoryPlace.sqlite.withContainer { container, url in
            try await save(container, 0..<2)
            let copy = url.deletingLastPathComponent().appending(path: "copy.sqlite")
            try await container.backup(to: copy)
            try await save(container, 2..<4)
            let positions = try await container.records().map(\.position)
            try await container.close()
            try FileManager.default.removeItem(at: url)
            try FileManager.default.copyItem(at: copy, to: url)
            let restored = try await HistoryPlace.sqlite.open(url)
            #expect(try await restored.records(after: positions[0]).map(\.number) == [2])
            await expectError(.historyExpired) { try await restored.records(after: positions[3]) }
            // Also when the restored store has reached the number again.
            try RawConnection(url).execute("UPDATE _history SET time = time - 1 WHERE key >> 20 > 2")
            try await save(restored, 2..<6)
            try RawConnection(url).execute("UPDATE _history SET time = time - 1 WHERE key >> 20 > 2")
            await expectError(.historyExpired) { try await restored.records(after: positions[3]) }
            try await restored.close()
        }
    }

    /// A position that an app has damaged leads to an error.
    @Test(arguments: HistoryPlace.all, [Int64.min, -1, 99, .max - 1, .max])
    func aDamagedPositionIsRefused(place: HistoryPlace, number: Int64) async throws {
        try await place.withContainer { container, _ in
            try await save(container, 0..<2)
            let id = try await container.historyPosition().historyID
            let position = HistoryPosition(historyID: id, number: number, time: 5)
            await expectError(.historyExpired) { try await container.records(after: position) }
            if number > 0 {
                let consumer = try await container.historyConsumer("index")
                await expectError(.historyExpired) { try await consumer.didRead(position) }
            }
        }
    }
}
