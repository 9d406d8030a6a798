import CoreDataSource
import Foundation
import Testing

/// Delegates that want to read a list again after very many changes.
@MainActor
struct ReloadTests {
    private func list(_ contacts: ContactDataSource, limit: Int) throws -> RecordingDelegate {
        let delegate = RecordingDelegate()
        delegate.changeLimit = limit
        let request = ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)])
        try contacts.register(delegate, dataKey: "list \(limit)", request)
        delegate.follow(contacts, "list \(limit)")
        return delegate
    }

    @Test(arguments: StoreKind.allCases)
    func aReportOfMoreChangesThanTheLimitIsOneCall(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<2) { "\($0)" })
            // They share one engine, so the limit of one is not that of the other.
            let (few, more) = (try list(contacts, limit: 2), try list(contacts, limit: 3))
            try await contacts.add(contactList(2..<5) { "\($0)" }, waitFor: .main)
            #expect(few.takeCalls() == ["reload"])
            let inserts = (2..<5).map { "insert - [0, \($0)]" }
            #expect(more.takeCalls() == ["will"] + inserts + ["did"])
            #expect(few.table == more.table && few.table?.sections.first?.rows.count == 5)
            try await contacts.add(contactList(5..<7) { "\($0)" }, waitFor: .main)
            #expect(few.takeCalls() == ["will", "insert - [0, 5]", "insert - [0, 6]", "did"])
            #expect(few.problems + more.problems == [])
        }
    }

    @Test func aListThatCatchesUpKeepsTheLimit() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let delegate = try list(contacts, limit: 1)
            contacts.pausedDataKeys = ["list 1"]
            for number in 0..<2 { try await contacts.add(contactList(number..<number + 1), waitFor: .main) }
            #expect(delegate.takeCalls() == [])
            contacts.pausedDataKeys = []
            #expect(delegate.takeCalls() == ["reload"])
        }
    }

    @Test func aDelegateMayUnregisterWhenItIsToldToReload() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let delegate = try list(contacts, limit: 0)
            delegate.onDidChange = { contacts.unregister(dataKey: "list 0") }
            try await contacts.add(contactList(0..<2), waitFor: .main)
            try await contacts.add(contactList(2..<4), waitFor: .main)
            #expect(delegate.takeCalls() == ["reload"])
        }
    }

    @Test func aDelegateWithOneMethodMakesNoObjects() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let counter = Counter()
            try contacts.register(counter, dataKey: "list", ObjectRequest(ContactEntity.self))
            try await contacts.add(contactList(0..<1000), waitFor: .main)
            #expect(container.main.registeredObjectCount == 0)
            try await contacts.add(contactList(0..<1) { _ in "new" }, waitFor: .main)
            #expect(container.main.registeredObjectCount == 1)
            try await contacts.delete(contactList(0..<1000), waitFor: .main)
            #expect(counter.reports == 3)
        }
    }
}

private final class Counter: DataSourceDelegate {
    var reports = 0

    func changeLimit(dataKey: String) -> Int { 1 }

    func didChangeContent(dataKey: String) { reports += 1 }
}
