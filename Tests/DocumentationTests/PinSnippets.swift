import CoreDataSource
import Testing

/// The examples of a pinned main context.
@MainActor
struct PinSnippets {
    @Test func severalReadsAreOfOneState() async throws {
        try await withContacts { container, contacts in
            try await contacts.add([Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")])
            @MainActor func read() throws -> (Int, [String]) {
                try container.main.pin()
                defer { container.main.unpin() }
                let count = try container.main.count(ContactEntity.self)
                let names = try container.main.values(ObjectRequest<ContactEntity>(), \.name)
                return (count, names)
            }
            let (count, names) = try read()
            #expect(count >= 2 && names.count == count && container.main.pinned == nil)
        }
    }

    @Test func aPinnedContextMovesOn() async throws {
        try await withContacts { container, contacts in
            let main = container.main
            @MainActor func read() throws -> Int {
                try main.pin()
                defer { main.unpin() }
                let count = try main.count(ContactEntity.self)
                let contacts = try main.fetch(ContactEntity.self)  // count objects
                return count - contacts.count
            }
            #expect(try read() == 0)
            let before = try main.count(ContactEntity.self)
            try main.pin()
            // The test may take longer than the usual limit.
            try main.pin(for: .seconds(86_400))
            try await contacts.add([Contact(uid: "pinned", name: "Guan Yu")])
            #expect(try main.count(ContactEntity.self) == before)
            if let pinned = main.pinned { print(pinned) }
            if let pinned = container.main.pinned, pinned.waitingByteCount > 1 << 20 {
                try container.main.advance()
            }
            if let pinned = main.pinned, (pinned.logByteCount ?? 0) > 100 << 20 {
                main.unpin()
            }
            try main.advance()
            #expect(try main.count(ContactEntity.self) == before + 1)
            main.unpin()
        }
    }
}
