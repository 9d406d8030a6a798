import CoreDataSource
import ErrorExpectations
import Testing

/// A class where a value is meant is an error: no hook would know what to do with it.
@MainActor @Suite struct ClassAsValueTests {
    /// What is written by somebody who reads no warnings.
    private protocol CarelessCalls: Sendable {
        func delete(from contacts: ContactDataSource) async throws
    }

    private struct Careless: CarelessCalls {
        @available(*, deprecated)
        func delete(from contacts: ContactDataSource) async throws {
            try await contacts.delete(ContactEntity.self)
        }
    }

    private nonisolated static let calls: [@Sendable (ContactDataSource) async throws -> Void] = [
        { try await (Careless() as any CarelessCalls).delete(from: $0) },
        { try await $0.delete([ContactEntity.self]) },
        { contacts in
            _ = try await withCheckedThrowingContinuation { done in
                contacts.delete([ContactEntity.self]) { done.resume(with: $0) }
            }
        },
        { try await $0.add(ContactEntity.self) },
        { try await $0.add([ContactEntity.self]) },
        { try await $0.sync([ContactEntity.self], entity: ContactEntity.self) },
        { _ = try await $0.planSync([ContactEntity.self], entity: ContactEntity.self) },
    ]

    @Test(arguments: calls.indices)
    func aClassAsAValueIsRefusedAndNothingHappens(index: Int) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            let error = await expectError(.classAsValue) {
                try await ClassAsValueTests.calls[index](contacts)
            }
            #expect(error?.entityName == "ContactEntity")
            #expect(try contacts.count(ContactEntity.self) == 3)
        }
    }

    @Test func allObjectsOfAClassAreDeletedBySayingSo() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            #expect(try await contacts.delete(ContactEntity.self, where: nil).deleted == 3)
        }
    }
}
