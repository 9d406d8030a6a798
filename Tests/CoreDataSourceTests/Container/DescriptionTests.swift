import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// What things look like when they are printed, in a log or to a user.
@MainActor
struct DescriptionTests {
    @Test func anErrorIsLocalized() {
        let error: any Error = DataSourceError(.diskFull, "The disk is full. Free some space.", cause: "ENOSPC")
        #expect(error.localizedDescription == "The disk is full. Free some space.")
        #expect((error as NSError).localizedFailureReason == "ENOSPC")
    }

    @Test func objectsShowTheirIdAndValues() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let shown = try await contacts.perform { context in
                let contact = try context.insert(ContactEntity.self)
                (contact.uid, contact.name, contact.isFavorite) = ("u", "Guan \"Yu\"", true)
                contact.note = String(repeating: "n", count: 500)
                contact.birthday = Date(timeIntervalSinceReferenceDate: 0)
                return "\(contact)"
            }
            #expect(shown.hasPrefix("ContactEntity/1 (inserted): "))
            for part in [
                "name \"Guan \\\"Yu\\\"\"", "isFavorite true", "age 0", "birthday 2001-01-01T00:00:00Z",
                "nnn\"... (500 characters)",
            ] {
                #expect(shown.contains(part), "\(shown)")
            }
            #expect(!shown.contains("phone") && shown.count < 300)
            let contact = try #require(try contacts.fetch(ContactEntity.self).first)
            #expect("\(contact)".hasPrefix("ContactEntity/1: "))
        }
    }

    @Test func contextsAndListsSayWhatTheyAre() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            #expect("\(container.main)" == "MainContext of Contacts (pending saves: 0)")
            #expect(try await contacts.perform { "\($0)" } == "PrivateContext of ContactDataSource (ContactEntity)")
            let list = try contacts.list(
                ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]), sectionBy: \.phone)
            #expect("\(list)" == "LiveList of ContactEntity (3 rows in 3 sections)")
            #expect("\(list.snapshot)" == "ListSnapshot of ContactEntity (3 rows in 3 sections)")
            #expect("\(list.snapshot[0])".contains("uid \"uid-1\""))
            try await contacts.add(contactList(1..<4), waitFor: .main)
            #expect("\(list.difference)" == "1 insert")
        }
    }

    @Test func aPairOfDuplicatesIsOneFailure() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let error = await expectError(.uniquenessViolated) {
                try await contacts.perform { context in
                    for _ in 0..<3 { try context.insert(ContactEntity.self).uid = "same" }
                }
            }
            #expect(error?.failures.isEmpty == true)
            #expect(error?.message.hasPrefix("Two objects of ContactEntity") == true)
            let two = await expectError(.uniquenessViolated) {
                try await contacts.perform { context in
                    for number in 0..<4 { try context.insert(ContactEntity.self).uid = "same \(number % 2)" }
                }
            }
            #expect(two?.failures.count == 2)
        }
    }
}
