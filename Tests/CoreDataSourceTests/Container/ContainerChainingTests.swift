import CoreDataSource
import CoreDataSourceActiveRecord
import Foundation
import Testing

/// A container as those use it who know Skopelos.
@MainActor
struct ContainerChainingTests {
    @Test(arguments: StoreKind.allCases)
    func aWriteIsReadInTheSameChain(_ kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            var counts: [Int] = []
            try container
                .writeSync(in: contacts) { try ContactEntity.create(in: $0).uid = "a" }
                .writeSync(in: groups) { try GroupEntity.create(in: $0).gid = "g" }
                .readSync { counts += [try ContactEntity.count(in: $0), try GroupEntity.count(in: $0)] }
                .writeSync(in: contacts) { try ContactEntity.removeAll(in: $0) }
                .readSync { counts.append(try ContactEntity.count(in: $0)) }
            #expect(counts == [1, 1, 0])
        }
    }

    @Test func aWriteCallsBackWhenMainShowsIt() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let count: Int = await withCheckedContinuation { continuation in
                container.writeAsync(in: contacts) {
                    try ContactEntity.create(in: $0).uid = "a"
                } callback: { _ in
                    continuation.resume(returning: (try? contacts.count(ContactEntity.self)) ?? -1)
                }
            }
            #expect(count == 1 && container.pendingSaveCount == 0)
        }
    }

    @Test func aFailedWriteIsHandledInTheChain() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let failures = AsyncStream.makeStream(of: StoreFailure.Kind.self)
            container
                .handleError { failures.continuation.yield($0.kind) }
                .writeAsync(in: contacts) { context in
                    try ContactEntity.create(in: context).uid = "a"
                    throw Poison()
                }
            var iterator = failures.stream.makeAsyncIterator()
            #expect(await iterator.next() == .writeFailed)
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func nukingAContainerEmptiesItsStore(_ kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<10))
            var left = -1
            try await container.nuke().readSync { left = try ContactEntity.count(in: $0) }
            #expect(left == 0)
            // It goes on working.
            try container.writeSync(in: contacts) { try ContactEntity.create(in: $0).uid = "a" }
            #expect(try contacts.count(ContactEntity.self) == 1)
        }
    }
}
