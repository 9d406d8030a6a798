import CoreDataSource
import Foundation
import Testing

/// The queries that the README shows, line by line.
@MainActor
struct ReadmeQueryTests {
    @Test func everyPredicateOfTheReadmeFindsItsRows() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.perform { context in
            for (age, name) in [(17, "Guan Ping"), (18, "Guan Yu"), (30, "Zhang Fei")] {
                let contact = try context.insert(ContactEntity.self)
                contact.uid = name
                contact.name = name
                contact.age = Int32(age)
            }
        }
        let grown = try contacts.fetch(ContactEntity.self, where: \.age >= 18 && \.name != "")
        let names = try await container.read { try $0.values(ObjectRequest<ContactEntity>(where: \.age >= 18), \.name) }
        let named = FetchPredicate<ContactEntity>(#Predicate { $0.name == "Guan Yu" })
        let typed = try FetchPredicate<ContactEntity>(format: "name CONTAINS[cd] %@ AND age > %d", "guan", 16)
        #expect(grown.map(\.name) == ["Guan Yu", "Zhang Fei"])
        #expect(names == ["Guan Yu", "Zhang Fei"])
        #expect(try contacts.fetch(ContactEntity.self, where: named).map(\.name) == ["Guan Yu"])
        #expect(try contacts.count(ContactEntity.self, where: typed) == 2)
    }
}
