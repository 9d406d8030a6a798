import CoreDataSource
import DataSourceTesting
import FrameworkNames
import Testing

/// The tests that the article on testing shows.
struct ContactDataSourceTests {
    @Test func contactsKeepTheContract() async throws {
        let contract = DataSourceContract(
            ContactDataSource.self, model: .contacts, entity: ContactEntity.self,
            values: [Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")])
        try await contract.check()
    }

    @MainActor
    @Test func addingTwiceIsAddingOnce() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try container.dataSource(ContactDataSource.self)
        let list = [Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")]

        #expect(try await contacts.add(list) == SaveReport(inserted: 2))
        #expect(try await contacts.add(list) == SaveReport())
        try await contacts.sync(list)
        #expect(try await contacts.sync(list).unchanged == 2)
        try await contacts.delete(list)
        #expect(try contacts.count(ContactEntity.self) == 0)
    }
}
