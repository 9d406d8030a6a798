import CoreDataSource
import CoreDataSourceActiveRecord
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Updates and deletions of more rows than a save can hold, which the store makes by itself.
@MainActor
@Suite(.serialized)
struct BulkChangeTests {
    /// More than a save holds.
    private nonisolated static let count = 17_000

    private func withContacts(
        _ body: @MainActor (PersistentContainer, ContactDataSource) async throws -> Void
    ) async throws {
        try await withContainer { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<Self.count))
            try await body(container, contacts)
            #expect(container.stack.root.pendingSaveCount == 0)
        }
    }

    private let named = ObjectRequest(
        ContactEntity.self, where: \.name == "bulk", order: [FetchOrder(SortDescriptor(\.uid))], limit: 5)

    @Test func objectsAndListsShowABulkUpdate() async throws {
        try await withContacts { container, contacts in
            let delegate = RecordingDelegate()
            try contacts.register(delegate, dataKey: "list", named)
            delegate.follow(contacts, "list")
            let shown = try contacts.fetch(ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.uid)], limit: 3))
            let uids = shown.map(\.uid)
            let report = try await contacts.update(ContactEntity.self, set: [.set(\.name, "bulk")])
            #expect(report == SaveReport(updated: Self.count))
            #expect(shown.map(\.name) == ["bulk", "bulk", "bulk"])
            #expect(try contacts.count(ContactEntity.self, where: \.name == "bulk") == Self.count)
            await container.mainTier.waitForLists()
            #expect(contacts.allObjects(dataKey: "list", as: ContactEntity.self).count == 5)
            #expect(contacts.lastUpdateReason(dataKey: "list")?.kind == .bulkChange)
            #expect(delegate.problems == [])
            // The private context does not continue with what it knew.
            let names = try await contacts.perform { context in
                try context.fetch(ContactEntity.self, where: .isIn(\.uid, uids)).map(\.name)
            }
            #expect(names == ["bulk", "bulk", "bulk"])
            // Rows that have the value already are not written again.
            let again = try await contacts.update(ContactEntity.self, set: [.set(\.name, "bulk")])
            #expect(again == SaveReport(updated: 0))
            try await contacts.add(ContactData(uid: "uid-0", name: "own", phone: nil))
            #expect(
                try await contacts.update(ContactEntity.self, set: [.set(\.name, "bulk")]) == SaveReport(updated: 1))
        }
    }

    @Test func objectsAndListsShowABulkDeletion() async throws {
        try await withContacts { container, contacts in
            try await contacts.add(ContactData(uid: "kept", name: "kept", phone: nil))
            let delegate = RecordingDelegate()
            try contacts.register(
                delegate, dataKey: "list", ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.uid)]))
            delegate.follow(contacts, "list")
            let gone = try #require(try contacts.main.first(ContactEntity.self, where: \.uid, equals: "uid-1"))
            let report = try await contacts.delete(ContactEntity.self, where: \.uid != "kept")
            #expect(report == SaveReport(deleted: Self.count))
            #expect(gone.isDeleted)
            await container.mainTier.waitForLists()
            #expect(contacts.allObjects(dataKey: "list", as: ContactEntity.self).map(\.uid) == ["kept"])
            #expect(delegate.problems == [])
            // Adding them again makes new objects.
            #expect(try await contacts.add(contactList(0..<10)) == SaveReport(inserted: 10))
            try await contacts.add(contactList(0..<Self.count))
            try await contacts.nuke()
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }

    /// What is refused has changed nothing.
    @Test func aValueThatBreaksARuleChangesNothing() async throws {
        try await withContacts { _, contacts in
            await expectError(.uniquenessViolated) {
                try await contacts.update(ContactEntity.self, set: [.set(\.uid, "same")])
            }
            let count = try contacts.count(ContactEntity.self, where: \.uid == "same")
            #expect(count == 0)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await contacts.update(ContactEntity.self, set: [.set(\.name, "cancelled")])
            }
            await expectThrows(CancellationError.self) { try await task.value }
            #expect(try contacts.count(ContactEntity.self, where: \.name == "cancelled") == 0)
        }
    }

    @Test func anUpdateOfNothingChangesNothing() async throws {
        try await withContacts { _, contacts in
            let report = try await contacts.update(ContactEntity.self, set: [])
            #expect(report == SaveReport())
        }
    }

    /// What is derived in a sub-entity follows, although the entity itself derives nothing.
    @Test func derivedAttributesOfSubEntitiesFollow() async throws {
        let model = ManagedObjectModel(
            name: "Boxes",
            entities: [
                EntityDescription(
                    name: "Box", attributes: [AttributeDescription(name: "label", type: .string, isOptional: true)]),
                EntityDescription(
                    name: "Crate", parentName: "Box",
                    attributes: [
                        AttributeDescription(
                            name: "search", type: .string, isOptional: true,
                            derivationExpression: "uppercase:(label)")
                    ]),
            ])
        let directory = try TemporaryDirectory()
        var typed = model
        typed.classes = ["Box": Box.self, "Crate": Crate.self]
        let container = try await PersistentContainer(model: typed, store: .sqlite(directory.store))
        let boxes = try container.dataSource(PlainDataSource<Box, Crate>.self)
        try await boxes.perform { context in
            for _ in 0..<Self.count { try context.insert(Box.self).label = "old" }
            for _ in 0..<5 { try context.insert(Crate.self).label = "old" }
        }
        let report = try await boxes.update(Box.self, set: [.set(\.label, "new")])
        #expect(report == SaveReport(updated: Self.count + 5))
        #expect(try boxes.fetch(Crate.self).map(\.search) == Array(repeating: "NEW", count: 5))
        #expect(try boxes.count(Box.self, where: \.label == "new") == Self.count + 5)
        #expect(try await boxes.delete(Box.self, where: nil) == SaveReport(deleted: Self.count + 5))
        try await container.close()
    }

    /// Where SQLite cannot find the rows by itself, it ends between two of its statements, and nothing of it is left.
    @Test func aCancelledTaskEndsItHalfway() async throws {
        let canceller = Guarded<(@Sendable () -> Void)?>(nil)
        let configuration = PersistentContainer.Configuration(trace: { trace in
            guard trace.isWriting, trace.sql.hasPrefix("UPDATE"), trace.rowCount > 1 else { return }
            canceller.withLock { $0 }?()
        })
        try await withContainer(configuration: configuration) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<Self.count))
            let ready = AsyncStream<Void>.makeStream()
            let task = Task.detached {
                for await _ in ready.stream {}
                return try await contacts.update(
                    ContactEntity.self, where: .matches(\.name, "name [0-9]+"), set: [.set(\.name, "halfway")])
            }
            canceller.withLock { $0 = { task.cancel() } }
            ready.continuation.finish()
            await expectThrows(CancellationError.self) { try await task.value }
            canceller.withLock { $0 = nil }
            #expect(try contacts.count(ContactEntity.self, where: \.name == "halfway") == 0)
            // The next one finds nothing in its way.
            let report = try await contacts.update(ContactEntity.self, set: [.set(\.name, "whole")])
            #expect(report == SaveReport(updated: Self.count))
        }
    }

    /// Saves that are not in the store yet count, whoever waits for them.
    @Test func earlierSavesAreChangedToo() async throws {
        try await withContacts { container, contacts in
            try await contacts.add(ContactData(uid: "new", name: "new", phone: nil), waitFor: .main)
            let report = try await contacts.update(ContactEntity.self, set: [.set(\.name, "bulk")], waitFor: .main)
            #expect(report.updated == Self.count + 1)
            #expect(try contacts.count(ContactEntity.self, where: \.name != "bulk") == 0)
        }
    }

    /// Nobody sees a part of it, whatever else is saved and read meanwhile.
    @Test func readersSeeAllOfABulkChangeOrNothing() async throws {
        try await withContacts { container, contacts in
            let groups = try container.dataSource(GroupDataSource.self)
            let isOver = Guarded(false)
            async let reads: Int = Self.read(container, until: isOver)
            async let saves: Int = Self.save(groups, until: isOver)
            for round in 0..<6 {
                // The rows of this save are laid over those of the store until it is committed, and not longer.
                async let one = contacts.add(ContactData(uid: "uid-7", name: "one \(round)", phone: nil))
                async let all = contacts.update(ContactEntity.self, set: [.set(\.phone, "round \(round)")])
                _ = try await (one, all)
            }
            isOver.withLock { $0 = true }
            let (readCount, saveCount) = try await (reads, saves)
            #expect(readCount > 0)
            #expect(saveCount > 0)
            // The save of one contact may have come after the update, and then that one has no phone.
            let updated: FetchPredicate<ContactEntity> = \.phone == "round 5" && \.uid != "uid-7"
            #expect(try contacts.count(ContactEntity.self, where: updated) == Self.count - 1)
            #expect(try contacts.count(ContactEntity.self) == Self.count)
            #expect(try container.main.count(GroupEntity.self) == saveCount)
        }
    }

    private nonisolated static func read(_ container: PersistentContainer, until isOver: Guarded<Bool>) async throws
        -> Int
    {
        var count = 0
        while !isOver.withLock({ $0 }) {
            let phones = try await container.read { context in
                try context.values(ObjectRequest(ContactEntity.self, where: \.uid != "uid-7"), \.phone)
            }
            #expect(phones.count == Self.count - 1)
            let rounds = Set(phones.compactMap(\.self).filter { $0.hasPrefix("round") })
            #expect(rounds.count <= 1)
            #expect(rounds.isEmpty || phones.allSatisfy { $0 == rounds.first })
            count += 1
        }
        return count
    }

    private nonisolated static func save(_ groups: GroupDataSource, until isOver: Guarded<Bool>) async throws -> Int {
        var count = 0
        while !isOver.withLock({ $0 }) {
            try await groups.add(GroupData(gid: "\(count)", name: "group"))
            count += 1
        }
        return count
    }
}

private class Box: ManagedObject {
    override class var entityName: String { "Box" }
    override class var attributeKeyPaths: [AnyKeyPath: String] { [\Box.label: "label"] }

    final var label: String? {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
}

private final class Crate: Box {
    override class var entityName: String { "Crate" }
    override class var attributeKeyPaths: [AnyKeyPath: String] { [\Crate.label: "label", \Crate.search: "search"] }

    var search: String? { attribute(at: 1) }
}
