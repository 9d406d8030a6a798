import CoreDataSource
import Testing

/// From a context to its model and container.
@MainActor
struct ContextContainerTests {
    @Test func everyContextNamesItsModelAndContainer() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            #expect(container.main.model == .contacts && container.main.container === container)
            let isSame = try await contacts.perform { $0.model == .contacts && $0.container === container }
            #expect(isSame)
            let isSameInARead = try await container.read { $0.model == .contacts && $0.container === container }
            #expect(isSameInARead)
        }
    }

    @Test func aContextDoesNotKeepItsContainer() async throws {
        var container: PersistentContainer? = try await PersistentContainer(model: .contacts, store: .inMemory)
        let main = try #require(container?.main)
        #expect(main.container != nil)
        container = nil
        #expect(main.container == nil && main.model.name == "Contacts")
    }
}
