import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Values that are made from objects where those are.
@MainActor @Suite struct ValuesTests {
    @Test(arguments: StoreKind.allCases)
    func valuesComeOutInOrder(_ kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<20))
            let sort = [FetchOrder<ContactEntity>.descending(\.uid)]
            let all = try await contacts.fetch(as: ContactValue.self, ObjectRequest(order: sort))
            #expect(all.map(\.uid) == contactList(0..<20).map(\.uid).sorted().reversed())
            let some = try await contacts.fetch(
                as: ContactValue.self,
                ObjectRequest(where: .isIn(\.uid, ["uid-3", "uid-4", "uid-5"]), order: sort, limit: 1, offset: 1))
            #expect(some.map(\.uid) == ["uid-4"])
            #expect(
                try await contacts.fetch(
                    as: ContactValue.self,
                    ObjectRequest(
                        where: FetchPredicate(#Predicate { $0.name == "name 7" })
                    )
                ).count == 1)
            #expect(
                try await contacts.fetch(as: ContactValue.self, ObjectRequest(where: \.name == "name 8")).first?.uid
                    == "uid-8")
            #expect(
                try await contacts.fetch(
                    as: ContactValue.self, ObjectRequest(where: FetchPredicate(#Predicate { $0.name == "?" }))
                )
                .isEmpty)
            #expect(try container.main.fetch(as: ContactValue.self, ObjectRequest(order: sort)) == all)
            #expect(try container.main.fetch(as: ContactValue.self, ObjectRequest(order: sort, limit: 1)) == [all[0]])
        }
    }

    @Test func valuesAreReadFromAnyIsolation() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            let values = try await Task.detached { try await contacts.fetch(as: ContactValue.self) }.value
            #expect(values.count == 3)
        }
    }

    @Test func aBatchSeesItsOwnEdits() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let values = try await contacts.perform { context in
                let contact = try context.insert(ContactEntity.self)
                contact.uid = "1"
                contact.name = "new"
                return try context.fetch(as: ContactValue.self, ObjectRequest(where: \.name == "new"))
                    + context.fetch(
                        as: ContactValue.self, ObjectRequest(where: FetchPredicate(#Predicate { $0.uid == "1" })))
            }
            #expect(values.map(\.uid) == ["1", "1"])
        }
    }

    @Test func anErrorOfAnInitializerIsThrown() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.perform { context in
                let contact = try context.insert(ContactEntity.self)
                contact.uid = "1"
                contact.name = "poison"
            }
            await expectThrows(Poison.self) { try await contacts.fetch(as: ContactValue.self) }
        }
    }
}
