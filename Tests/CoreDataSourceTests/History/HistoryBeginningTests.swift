import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// A history that begins in a store that has existed before tells its consumers so.
@MainActor
struct HistoryBeginningTests {
    /// A consumer of an earlier history has missed the saves without a record.
    @Test(arguments: HistoryPlace.lasting)
    func aConsumerIsToldThatTheHistoryWasOff(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        for (turn, history) in [KeptHistory.ample, .none, .ample, .ample].enumerated() {
            let container = try await place.open(directory.store, .keeping(history))
            if history != KeptHistory.none {
                let index = try await container.historyConsumer("index")
                let unread = try await index.records().all()
                // The record stays until the consumer has read it.
                #expect(unread.map(\.kind) == (turn == 0 ? [] : turn == 2 ? [.reset] : [.reset, .incoming]))
                #expect(turn == 0 || unread.first?.note == StoredRecord.begun)
            }
            try await container.dataSource(ContactDataSource.self).add(contactList(turn..<turn + 1))
            if turn == 0 {
                let index = try await container.historyConsumer("index")
                try await index.didRead(try await container.historyPosition())
            }
            try await container.close()
        }
    }

    /// Nothing is known of the consumers of the damaged history.
    @Test(arguments: HistoryPlace.files)
    func aConsumerIsToldThatADamagedHistoryWasReplaced(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store, databaseKey: "1")
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<2))
        let index = try await first.historyConsumer("index")
        try await index.didRead(try await first.historyPosition())
        try await first.close()
        try RawConnection(directory.store).execute("DELETE FROM _history_state WHERE name = 'seconds'")
        var configuration = PersistentContainer.Configuration.keeping()
        configuration.resetPolicy = .discard
        let second = try await place.open(directory.store, configuration, databaseKey: "2")
        #expect(second.startup.isReset)
        #expect(try await second.historyConsumer("index").records().all().map(\.kind) == [.reset])
        try await second.close()
    }
}
