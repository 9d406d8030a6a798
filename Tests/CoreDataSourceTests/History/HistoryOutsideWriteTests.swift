import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// A history has records of the writes of other programs.
@MainActor
struct HistoryOutsideWriteTests {
    @Test func writesOfOtherProgramsAreRecorded() async throws {
        for place in HistoryPlace.files {
            try await place.withContainer { container, url in
                let contacts = try container.dataSource(ContactDataSource.self)
                try await contacts.add(contactList(0..<2))
                try RawConnection(url).execute("UPDATE \"ContactEntity\" SET \"name\" = 'outside'")
                try await contacts.add(contactList(2..<3))
                try await contacts.add(contactList(3..<4))
                let records = try await container.records()
                #expect(records.map(\.kind) == [.incoming, .outsideWrites, .incoming, .incoming])
                #expect(!records[1].hasValues && records[1].entityNames.isEmpty)
                // They are never left out for their entities, which are not known.
                let filter = HistoryFilter(entityNames: ["GroupEntity"])
                #expect(try await container.records(where: filter).map(\.kind) == [.outsideWrites])
            }
        }
    }

    /// The next container does not notice a write from before it was opened.
    @Test func aWriteAfterTheLastSaveIsRecordedAtTheClose() async throws {
        let directory = try TemporaryDirectory()
        let place = HistoryPlace.sqlite
        let first = try await place.open(directory.store)
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<2))
        try RawConnection(directory.store).execute("UPDATE \"ContactEntity\" SET \"name\" = 'outside'")
        try await first.close()
        for _ in 0..<2 {
            let container = try await place.open(directory.store)
            #expect(try await container.records().map(\.kind) == [.incoming, .outsideWrites])
            try await container.close()
        }
        try expectIntact(directory.store)
    }

    /// The last reference to a container can end on the main thread, which must not wait for another program. The record follows when
    /// the other program has ended its transaction.
    @Test func aContainerThatIsReleasedRecordsAWriteLaterIfTheFileIsLocked() async throws {
        let directory = try TemporaryDirectory()
        let other: RawConnection
        do {
            let container = try await HistoryPlace.sqlite.open(directory.store)
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<2))
            other = try RawConnection(directory.store)
            try other.execute("UPDATE \"ContactEntity\" SET \"name\" = 'outside'")
            try withExtendedLifetime(container) { try other.execute("BEGIN IMMEDIATE") }
        }
        try other.execute("COMMIT")
        let container = try await HistoryPlace.sqlite.open(directory.store)
        #expect(try await container.records().map(\.kind) == [.incoming, .outsideWrites])
        try await container.close()
    }

    /// The server notices writes of other programs itself.
    @Test(.enabled(if: SharedPlace.Kind.all.contains(.postgreSQL)))
    func writesOfOtherProgramsToAServerAreRecorded() async throws {
        let place = try SharedPlace(.postgreSQL)
        let container = try place.open(configuration: .keeping())
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<2))
        try place.run("UPDATE \"ContactEntity\" SET \"name\" = 'outside'")
        try await contacts.add(contactList(2..<3))
        let records = try await container.records()
        #expect(records.map(\.kind) == [.incoming, .outsideWrites, .incoming])
        #expect(records[1].entityNames == ["ContactEntity"] && !records[1].hasValues)
        try await container.close()
    }
}
