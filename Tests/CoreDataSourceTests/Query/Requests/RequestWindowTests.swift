import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Requests whose part is none, and requests for one column.
@MainActor
struct RequestWindowTests {
    @Test(arguments: StoreKind.allCases, [(-1, 0), (3, -2), (-4, -4)])
    func aNegativeLimitOrOffsetIsAnError(kind: StoreKind, window: (limit: Int, offset: Int)) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            let request = ObjectRequest(ContactEntity.self, limit: window.limit, offset: window.offset)
            func refuses(_ body: () throws -> Void, _ line: Int = #line) {
                let error = expectError(.invalidRequest, "line \(line)") { try body() }
                #expect(error?.message.contains("negative") == true, "line \(line)")
            }
            refuses { _ = try contacts.fetch(request) }
            refuses { _ = try contacts.main.count(request) }
            refuses { _ = try contacts.main.exists(request) }
            refuses { _ = try contacts.main.ids(request) }
            refuses { _ = try contacts.main.values(request, \.uid) }
            refuses { _ = try contacts.main.aggregate(request, .count()) }
            refuses { _ = try contacts.main.explain(request) }
            refuses { _ = try contacts.list(request) }
            refuses { try contacts.register(RecordingDelegate(), dataKey: "list", request) }
            if window.limit < 0 {
                refuses { _ = try contacts.fetch(ContactEntity.self, limit: window.limit) }
                refuses { _ = try contacts.list(ObjectRequest(ContactEntity.self, limit: window.limit)) }
            }
            var updates = contacts.updates(request).makeAsyncIterator()
            #expect(await updates.next()?.reason.failure?.code == .invalidRequest)
            await expectError(.invalidRequest) {
                try await contacts.perform { try $0.fetch(request).count }
            }
            #expect(try contacts.fetch(ObjectRequest(ContactEntity.self, limit: 0)).isEmpty)
        }
    }

    @Test func oneColumnIsAnArrayOfItsValues() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            let request = ObjectRequest(ContactEntity.self)
            #expect(Set(try contacts.main.values(request, \.uid)) == ["uid-0", "uid-1", "uid-2"])
            let phones: [String?] = try contacts.main.values(request, \.phone)
            #expect(phones == ["0", nil, "2"])
            let known = try await contacts.perform { Set(try $0.values(request, \.name)) }
            #expect(known.count == 3)
            #expect(try contacts.main.values(request, \.uid, \.age).map(\.0) == ["uid-0", "uid-1", "uid-2"])
        }
    }
}
