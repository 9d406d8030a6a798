import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Another program writes to the tables by which processes share a store.
@MainActor
struct DamagedSharedTablesTests {
    private nonisolated static let columns = [
        ("_feed", "position"), ("_feed", "lowest"), ("_feed", "writes"), ("_feed", "leases"), ("_feed", "members"),
        ("_leases", "epoch"), ("_leases", "since"), ("_leases", "holder"), ("_tickets", "number"),
        ("_tickets", "since"),
        ("_tickets", "member"), ("_changes", "position"), ("_changes", "size"), ("_changes", "time"),
        ("_changes", "member"), ("_members", "number"), ("_metadata", "value"),
    ]
    nonisolated static let damages = columns.flatMap { table, column in
        ["9223372036854775807", "-9223372036854775808"].map { (table, column, $0) }
    }

    /// What a call may say of it.
    private static let expected: Set<DataSourceError.Code> = [
        .storeCorrupt, .leaseLost, .leaseUnavailable, .keysExhausted,
    ]

    private func damage(_ url: URL, _ table: String, _ column: String, _ value: String) throws {
        let raw = try RawConnection(url)
        if table == "_tickets" {
            try raw.execute("INSERT INTO \"_tickets\" VALUES (900, 900, 'ContactEntity', 'Source', 1, '')")
        }
        let place =
            switch table {
            case "_changes": "WHERE \"position\" = (SELECT max(\"position\") FROM \"_changes\")"
            case "_members": "WHERE \"number\" = (SELECT max(\"number\") FROM \"_members\")"
            case "_leases": "WHERE \"entity\" = 'ContactEntity'"
            case "_metadata": "WHERE \"name\" = 'firstFreeKey'"
            default: ""
            }
        try raw.execute("UPDATE \"\(table)\" SET \"\(column)\" = \(value) \(place)")
        if column == "size" {
            try raw.execute(
                "INSERT INTO \"_changes\" SELECT \"position\" + 1, \"member\", 0, \(value), NULL, NULL FROM \"_changes\""
            )
        }
    }

    private func code(of body: () async throws -> Void) async -> DataSourceError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? DataSourceError)?.code ?? .storeUnreadable
        }
    }

    /// Such values ended the process, for sums of them are no numbers any more.
    @Test(arguments: damages)
    func damagedNumbersAreErrorsAndTheNextOpeningMendsThem(table: String, column: String, value: String) async throws {
        let directory = try TemporaryDirectory()
        let sides = try (0..<2).map { _ in try PersistentContainer.shared(directory.store, times: .short) }
        let sources = try sides.map { try $0.dataSource(ContactDataSource.self) }
        try await sources[0].add(contactList(0..<3))
        try damage(directory.store, table, column, value)
        var codes: [DataSourceError.Code?] = []
        for (container, source) in zip(sides, sources) {
            codes.append(await code { _ = try container.leases })
            codes.append(await code { _ = try source.count(ContactEntity.self) })
            codes.append(await code { try await source.add(contactList(3..<5)) })
            codes.append(await code { try await source.delete(contactList(4..<5)) })
        }
        #expect(Set(codes.compactMap(\.self)).isSubset(of: Self.expected), "\(codes)")
        let isMisread = ["_feed", "_tickets"].contains(table) || column == "epoch" || column == "since"
        if isMisread { #expect(codes.contains(.storeCorrupt), "\(codes)") }
        for container in sides { try? await container.close() }
        // There is no such bound, so that nothing else of what the store says of itself is believed.
        if table == "_metadata", value.hasPrefix("-") {
            expectError(.storeCorrupt) { try PersistentContainer.shared(directory.store) }
            return
        }
        let next = try PersistentContainer.shared(directory.store)
        let contacts = try next.dataSource(ContactDataSource.self)
        #expect(try contacts.count(ContactEntity.self) >= 3)
        #expect(try await contacts.add(contactList(0..<6)).inserted >= 1)
        try await next.close()
        try expectIntact(directory.store)
    }
}
