import CoreDataSource
import ErrorExpectations
import RowStore
import Synchronization
import Testing

/// The hook before an update or a deletion of more rows than become objects.
@MainActor
@Suite(.serialized)
struct WillSaveBulkTests {
    private nonisolated static let count = 17_000

    private func withMany(
        _ kind: StoreKind, _ body: @MainActor (BulkSource, PersistentContainer) async throws -> Void
    ) async throws {
        try await withContainer(kind, configuration: .uncached) { container, _ in
            let source = try container.dataSource(BulkSource.self)
            try await source.add((0..<Self.count).map { Member("\($0)") })
            source.took.withLock { $0 = [] }
            try await body(source, container)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theHookGetsTheChangeAndNoObjects(kind: StoreKind) async throws {
        try await withMany(kind) { source, _ in
            let report = try await source.update(
                ContactEntity.self, where: \.uid != "1", set: [.set(\.note, "bulk"), .set(\.isFavorite, true)])
            #expect(report == SaveReport(updated: Self.count - 1))
            #expect(
                source.took.withLock { $0 } == [
                    "0 objects", "update ContactEntity isFavorite note", "\(Self.count - 1) rows", "registered 0",
                    "favorite true, note bulk",
                ])
            #expect(try source.count(ContactEntity.self, where: \.note == "bulk") == Self.count - 1)
            source.took.withLock { $0 = [] }
            #expect(try await source.delete(ContactEntity.self, where: \.uid != "1").deleted == Self.count - 1)
            #expect(
                source.took.withLock { $0 } == [
                    "0 objects", "deletion ContactEntity ", "\(Self.count - 1) rows", "registered 0",
                    "favorite nil, note nil",
                ])
            #expect(try source.fetch(ContactEntity.self).map(\.uid) == ["1"])
        }
    }

    /// The edits and the update are one save, and both are there.
    @Test(arguments: StoreKind.allCases)
    func editsOfTheHookAreSavedWithTheChange(kind: StoreKind) async throws {
        try await withMany(kind) { source, container in
            let groups = try source.count(GroupEntity.self)
            source.edits.withLock { $0 = true }
            let report = try await source.update(
                ContactEntity.self, set: [.set(\.note, "bulk"), .set(\.isFavorite, true)])
            // One contact was deleted by the hook, and a group was inserted.
            #expect(report == SaveReport(inserted: 1, updated: Self.count - 1, deleted: 1))
            #expect(try source.count(ContactEntity.self, where: \.isFavorite == true) == Self.count - 1)
            #expect(try source.count(ContactEntity.self, where: \.note == "bulk") == Self.count - 2)
            let edited = try source.fetch(ContactEntity.self, where: \.uid == "1")
            #expect(edited.map(\.note) == ["by the hook"] && edited.map(\.isFavorite) == [true])
            #expect(try source.count(ContactEntity.self, where: \.uid == "2") == 0)
            #expect(try source.count(GroupEntity.self) == groups + 1)
            #expect(try await source.delete(ContactEntity.self, where: nil).deleted == Self.count - 1)
            #expect(try source.count(ContactEntity.self) == 0)
            #expect(try source.count(GroupEntity.self) == groups + 2)
            #expect(container.stack.root.pendingSaveCount == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aHookThatThrowsStopsTheChange(kind: StoreKind) async throws {
        try await withMany(kind) { source, _ in
            source.throwing.withLock { $0 = true }
            await #expect(throws: Poison.self) {
                try await source.update(ContactEntity.self, set: [.set(\.note, "bulk")])
            }
            await #expect(throws: Poison.self) { try await source.delete(ContactEntity.self, where: nil) }
            await #expect(throws: Poison.self) { try await source.deleteAllOwned() }
            #expect(try source.count(ContactEntity.self, where: \.note == nil) == Self.count)
            source.throwing.withLock { $0 = false }
            try await source.deleteAllOwned()
            #expect(try source.count(ContactEntity.self) == 0)
        }
    }

    /// An edit of the hook breaks a rule: neither the edit nor the change is saved.
    @Test func aRuleThatTheEditsBreakStopsTheChange() async throws {
        try await withMany(.sqlite) { source, _ in
            source.edits.withLock { $0 = true }
            try await source.perform { try $0.insert(GroupEntity.self).gid = "group of 2" }
            await expectError(.uniquenessViolated) {
                try await source.update(ContactEntity.self, set: [.set(\.note, "bulk")])
            }
            #expect(try source.count(ContactEntity.self, where: \.note == nil) == Self.count)
        }
    }
}

/// Notes the large changes that its hook gets.
private final class BulkSource: MemberSource {
    let took = Mutex<[String]>([])
    let edits = Mutex(false)
    let throwing = Mutex(false)

    override func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        if throwing.withLock({ $0 }) { throw Poison() }
        for change in changes.bulk {
            let request = change.request(for: ContactEntity.self)
            let isFavorite = change.value(of: \ContactEntity.isFavorite).map { "\($0)" } ?? "nil"
            let note = change.value(of: \ContactEntity.note).flatMap(\.self) ?? "nil"
            var lines = ["\(try changes.of(ContactEntity.self).count) objects"]
            lines.append(
                "\(change.isDeletion ? "deletion" : "update") \(change.entityName) \(change.attributes.joined(separator: " "))"
            )
            lines.append("\(try request.map(context.count) ?? -1) rows")
            lines.append("registered \(context.registeredObjectCount)")
            took.withLock { $0 += lines + ["favorite \(isFavorite), note \(note)"] }
            guard edits.withLock({ $0 }) else { continue }
            let groups = try context.count(GroupEntity.self)
            try context.insert(GroupEntity.self).gid = "group of \(groups + 1)"
            try context.first(ContactEntity.self, where: \.uid, equals: "1")?.note = "by the hook"
            try context.delete(ContactEntity.self, where: \.uid == "2")
        }
    }
}
