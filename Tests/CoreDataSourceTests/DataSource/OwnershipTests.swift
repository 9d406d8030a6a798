import CoreDataSource
import ErrorExpectations
import Testing

/// D7: in the ancestor, "one data source an entity" was a sentence in the README.
@MainActor
struct OwnershipTests {
    final class SecondContacts: DataSource<any Sendable> {
        override class var entities: [ManagedObject.Type] { [ContactEntity.self] }
    }

    final class EveryEntity: DataSource<any Sendable> {
        override class var entities: [ManagedObject.Type] { [BaseEntity.self] }
    }

    final class Intruder: DataSource<any Sendable> {
        override class var entities: [ManagedObject.Type] { [] }

        override func onAdd(_ object: any Sendable, in context: PrivateContext) throws -> ManagedObject? {
            switch object as? String {
            case "insert": return try context.insert(ContactEntity.self)
            case "edit":
                let contact = try context.fetch(ContactEntity.self).first
                contact?.name = "edited"
                return contact
            default:
                if let contact = try context.fetch(ContactEntity.self).first { context.delete(contact) }
                return nil
            }
        }
    }

    @Test func aDataSourceIsMadeOnce() async throws {
        try await withContainer { container, _ in
            let one = try container.dataSource(ContactDataSource.self)
            #expect(try container.dataSource(ContactDataSource.self) === one)
        }
    }

    @Test func aSecondOwnerIsRefused() async throws {
        try await withContainer { container, _ in
            _ = try container.dataSource(ContactDataSource.self)
            let error = expectError(.entityAlreadyOwned) { try container.dataSource(SecondContacts.self) }
            #expect(error?.message.contains("ContactDataSource") == true)
        }
    }

    @Test func owningAnEntityIncludesItsSubEntities() async throws {
        try await withContainer { container, _ in
            _ = try container.dataSource(EveryEntity.self)
            expectError(.entityAlreadyOwned) { try container.dataSource(ContactDataSource.self) }
        }
    }

    @Test func aRefusedOwnerClaimsNothing() async throws {
        final class Both: DataSource<any Sendable> {
            override class var entities: [ManagedObject.Type] { [GroupEntity.self, ContactEntity.self] }
        }
        try await withContainer { container, _ in
            _ = try container.dataSource(ContactDataSource.self)
            expectError(.entityAlreadyOwned) { try container.dataSource(Both.self) }
            _ = try container.dataSource(GroupDataSource.self)
        }
    }

    @Test(arguments: ["insert", "edit", "delete"])
    func aHookCannotChangeWhatItsSourceDoesNotOwn(act: String) async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(ContactData(uid: "a", name: "n"))
            let intruder = try container.dataSource(Intruder.self)
            await expectError(.entityNotOwned) { try await intruder.add(act) }
            #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["n"])
        }
    }

    @Test func everySourceMayReadWhatOthersOwn() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            for number in 0..<3 {
                try await contacts.add(ContactData(uid: "a", name: "\(number)"))
                let name = try await groups.perform {
                    try $0.first(ContactEntity.self, where: \.uid, equals: "a")?.name
                }
                #expect(name == "\(number)")
            }
        }
    }

    @Test func anAbstractEntityHasNoObjectsOfItsOwn() async throws {
        try await withContainer { container, _ in
            let all = try container.dataSource(EveryEntity.self)
            await expectError(.abstractEntity) {
                try await all.perform { _ = try $0.insert(BaseEntity.self) }
            }
        }
    }
}
