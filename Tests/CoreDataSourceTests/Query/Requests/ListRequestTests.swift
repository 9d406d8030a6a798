import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Lists of what a request asks for.
@MainActor @Suite struct ListRequestTests {
    /// Opens a container with ten contacts that differ in everything.
    private func withContacts(
        _ kind: StoreKind = .inMemory, _ body: @MainActor (ContactDataSource) async throws -> Void
    ) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.perform { context in
                for (number, name) in ["b", "File10", "a", "B", "file9", "é", "E", "c", "C", "A"].enumerated() {
                    let contact = try context.insert(ContactEntity.self)
                    contact.uid = "\(number)"
                    contact.name = name
                    contact.age = Int32(number * 7 % 10)
                    contact.isFavorite = number % 3 == 0
                    contact.score = Double(number * 3 % 10)
                }
            }
            try await body(contacts)
        }
    }

    private nonisolated static let byLength = FetchCollation { lhs, rhs in
        lhs.count == rhs.count ? .orderedSame : lhs.count < rhs.count ? .orderedAscending : .orderedDescending
    }

    private nonisolated static let orders: [[FetchOrder<ContactEntity>]] = [
        [.ascending(\.name, [.caseInsensitive, .diacriticInsensitive, .numeric])],
        [.ascending(\.name, [.caseInsensitive])], [.descending(\.name)], [.by(\.name, byLength)],
        [.descending(\.age)], [.ascending(\.score)],
        [.descending(\.isFavorite), .ascending(\.name, [.caseInsensitive]), .ascending(\.age)],
    ]

    /// A list is what a fetch of the same request finds, before a save and after it.
    @Test(arguments: StoreKind.allCases, orders)
    func listsHaveTheOrderOfTheirRequest(kind: StoreKind, order: [FetchOrder<ContactEntity>]) async throws {
        try await withContacts(kind) { contacts in
            let request = ObjectRequest(ContactEntity.self, where: \.age > 1, order: order)
            let list = try contacts.list(request)
            let delegate = RecordingDelegate()
            try contacts.register(delegate, dataKey: "list", request)
            var updates = contacts.updates(request).makeAsyncIterator()
            let first = try #require(await updates.next())
            let expected = try contacts.fetch(request).map(\.uid)
            #expect(expected.count == 8)
            #expect(list.snapshot.map(\.uid) == expected)
            #expect(contacts.allObjects(dataKey: "list", as: ContactEntity.self).map(\.uid) == expected)
            #expect(first.snapshot.map(\.uid) == expected)
            try await contacts.perform(waitFor: .main) { context in
                for (uid, name) in [("0", "e"), ("1", "file 10"), ("8", "É")] {
                    let contact = try context.first(ContactEntity.self, where: \.uid == uid)
                    contact?.name = name
                    contact?.age += 3
                    contact?.score = 4.5
                    contact?.isFavorite = name == "e"
                }
            }
            let second = try #require(await updates.next())
            let changed = try contacts.fetch(request).map(\.uid)
            #expect(list.snapshot.map(\.uid) == changed)
            #expect(contacts.allObjects(dataKey: "list", as: ContactEntity.self).map(\.uid) == changed)
            #expect(second.snapshot.map(\.uid) == changed)
        }
    }

    @Test func addressesAreSorted() async throws {
        let container = try await PersistentContainer(model: .allTypes, store: .inMemory)
        let source = try container.dataSource(PlainDataSource<EveryType>.self)
        try await source.perform { context in
            for text in ["https://b.example", "https://a.example", "https://c.example"] {
                let object = try context.insert(EveryType.self)
                object.uriRequired = try #require(URL(string: text))
                object.uuidRequired = UUID()
                object.binaryRequired = Data()
            }
        }
        let list = try source.list(ObjectRequest(EveryType.self, order: [.descending(\.uriRequired)]))
        #expect(list.snapshot.map { $0.uriRequired.host() } == ["c.example", "b.example", "a.example"])
    }

    @Test func listsHaveTheWindowAndSectionsOfTheirRequest() async throws {
        try await withContacts { contacts in
            var request = ObjectRequest(ContactEntity.self, where: \.age != 0, order: [.ascending(\.age)], limit: 4)
            let list = try contacts.list(request, sectionBy: \.age)
            #expect(list.snapshot.map(\.age) == [1, 2, 3, 4])
            #expect(list.sections.count == 4)
            request.after = list.snapshot.last.map { FetchCursor($0) }
            let next = try contacts.list(request)
            #expect(next.snapshot.map(\.age) == [5, 6, 7, 8])
            try await contacts.delete(ContactEntity.self, where: \.age == 6, waitFor: .main)
            #expect(next.snapshot.map(\.age) == [5, 7, 8, 9])
        }
    }

    @Test func listsLeaveOutSubentitiesIfTheirRequestDoes() async throws {
        let container = try await PersistentContainer(model: .allTypes, store: .inMemory)
        let parents = try container.dataSource(PlainDataSource<Parent>.self)
        try await parents.perform { context in
            try context.insert(Parent.self).name = "parent"
            try context.insert(Child.self).name = "child"
        }
        var request = ObjectRequest(Parent.self, order: [.ascending(\.name)])
        let all = try parents.list(request)
        request.includesSubentities = false
        let some = try parents.list(request)
        #expect(all.snapshot.map(\.name) == ["child", "parent"])
        #expect(some.snapshot.map(\.name) == ["parent"])
        try await parents.perform(waitFor: .main) { context in
            try context.insert(Child.self).name = "another child"
            try context.insert(Parent.self).name = "another parent"
        }
        #expect(all.snapshot.map(\.name) == ["another child", "another parent", "child", "parent"])
        #expect(some.snapshot.map(\.name) == ["another parent", "parent"])
        var nothing = ObjectRequest(Grandparent.self)
        nothing.includesSubentities = false
        #expect(try parents.list(nothing).count == 0)
    }

    @Test func equalRequestsShareOneQuery() async throws {
        try await withContacts { contacts in
            let request = ObjectRequest(ContactEntity.self, where: \.age > 1, order: [.ascending(\.age)], limit: 3)
            let list = try contacts.list(request)
            let same = try contacts.list(
                ObjectRequest(
                    ContactEntity.self, where: \.age > 1, order: [FetchOrder(SortDescriptor(\.age))], limit: 3))
            #expect(list.snapshot.ids == same.snapshot.ids)
            #expect(contacts.mainTier.followedQueryCount == 1)
        }
    }

    private nonisolated static let refused: [@Sendable (inout ObjectRequest<ContactEntity>) -> Void] = [
        { $0.offset = 1 }, { $0.isDistinct = true }, { $0.limit = 0 },
    ]

    @Test(arguments: refused.indices)
    func unsupportedRequestsOfListsAreRefusedByName(index: Int) async throws {
        try await withContacts { contacts in
            var request = ObjectRequest(ContactEntity.self)
            ListRequestTests.refused[index](&request)
            let ofList = expectError(.unsupportedQuery) { try contacts.list(request) }
            let ofDelegate = expectError(.unsupportedQuery) {
                try contacts.register(RecordingDelegate(), dataKey: "list", request)
            }
            var updates = contacts.updates(request).makeAsyncIterator()
            let ofUpdates = await updates.next()?.reason.failure
            for error in [ofList, ofDelegate, ofUpdates] {
                #expect(error?.code == .unsupportedQuery)
                #expect(error?.entityName == "ContactEntity")
            }
        }
    }
}
