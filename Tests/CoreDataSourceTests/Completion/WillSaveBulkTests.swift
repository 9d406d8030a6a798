import CoreDataSource
import ErrorExpectations
import RowStore
import Synchronization
import Testing

/// The hook before an update or a deletion of so many rows that a store in a file makes it. In memory, the rows become objects.
@MainActor
struct WillSaveBulkTests {
    private nonisolated static let count = 20

    private func withMany(
        _ kind: StoreKind, limit: Int = 8, count: Int = Self.count,
        _ body: @MainActor (BulkSource, PersistentContainer) async throws -> Void
    ) async throws {
        var configuration = PersistentContainer.Configuration.uncached
        configuration.changedRowLimit = limit
        try await withContainer(kind, configuration: configuration) { container, _ in
            let source = try container.dataSource(BulkSource.self)
            try await source.add((0..<count).map { Member("\($0)", "a") })
            _ = source.takeLines()
            try await body(source, container)
        }
    }

    @Test func theHookGetsTheChangeAndNoObjects() async throws {
        try await withMany(.sqlite) { source, container in
            let list = try source.list(ObjectRequest(ContactEntity.self))
            let report = try await source.update(
                ContactEntity.self, where: \.uid != "1", set: [.set(\.note, "bulk"), .set(\.isFavorite, true)])
            #expect(report == SaveReport(updated: Self.count - 1))
            #expect(
                source.takeLines() == [
                    "update ContactEntity isFavorite note", "19 rows of 20", "favorite true, note bulk",
                ])
            #expect(try source.count(ContactEntity.self, where: \.note == "bulk") == Self.count - 1)
            #expect(await source.tier.registeredObjectCount == 0)
            #expect(list.snapshot.count == Self.count)
            #expect(try await source.delete(ContactEntity.self, where: \.uid != "1").deleted == Self.count - 1)
            #expect(
                source.takeLines() == ["deletion ContactEntity ", "19 rows of 20", "favorite nil, note nil"])
            #expect(try source.fetch(ContactEntity.self).map(\.uid) == ["1"])
        }
    }

    /// However many rows the deletion reaches.
    @Test(arguments: StoreKind.allCases, [8, 100])
    func aHookThatDiscardsTheBatchStopsADeletion(kind: StoreKind, limit: Int) async throws {
        try await withMany(kind, limit: limit) { source, container in
            source.script.set { changes, context in
                let deletes = try changes.bulk.isEmpty ? !changes.of(ContactEntity.self).isEmpty : true
                if deletes { context.rollback() }
            }
            try await source.delete(ContactEntity.self, where: nil)
            source.script.set { _, _ in }
            #expect(try source.count(ContactEntity.self) == Self.count)
        }
    }

    /// The limit of an app.
    @Test func aChangeOfMoreRowsThanTheLimitOfAnAppIsOneStatement() async throws {
        try await withMany(.sqlite, limit: 1 << 14, count: 17_000) { source, container in
            #expect(PersistentContainer.Configuration().changedRowLimit == 1 << 14)
            let report = try await source.update(ContactEntity.self, set: [.set(\.note, "bulk")])
            #expect(report == SaveReport(updated: 17_000))
            #expect(source.takeLines().first == "update ContactEntity note")
            #expect(await source.tier.registeredObjectCount == 0)
        }
    }

    /// The stores that make no change of many rows themselves: all but a file that is not shared and keeps no history.
    nonisolated private static let storesWithObjects: [(HistoryPlace, Bool)] = HistoryPlace.all.flatMap { place in
        place == .sqlite ? [(place, true)] : [(place, true), (place, false)]
    }

    /// The hook gets every changed row as an object, and learns the same of the change.
    @Test(arguments: storesWithObjects)
    func otherStoresGiveTheHookTheObjects(place: HistoryPlace, isKept: Bool) async throws {
        var configuration = isKept ? PersistentContainer.Configuration.keeping() : .init(synchronous: .normal)
        configuration.changedRowLimit = 8
        try await place.withContainer(configuration) { container, _ in
            let source = try container.dataSource(BulkSource.self)
            try await source.add((0..<Self.count).map { Member("\($0)", "a") })
            source.script.set { changes, _ in
                let changed = try changes.of(ContactEntity.self)
                let updated = changed.filter { $0.kind == .update }
                let names = Set(updated.flatMap(\.properties)).sorted().joined(separator: " ")
                if !updated.isEmpty { source.note("update \(names), \(updated.count) rows") }
                let deletedCount = changed.count { $0.kind == .delete }
                if deletedCount > 0 { source.note("deletion, \(deletedCount) rows") }
            }
            _ = source.takeLines()
            let report = try await source.update(
                ContactEntity.self, where: \.uid != "1", set: [.set(\.note, "bulk"), .set(\.isFavorite, true)])
            #expect(report == SaveReport(updated: Self.count - 1))
            #expect(source.takeLines() == ["19 objects", "update isFavorite note, 19 rows"])
            #expect(try source.count(ContactEntity.self, where: \.note == "bulk") == Self.count - 1)
            #expect(try await source.delete(ContactEntity.self, where: \.uid != "1").deleted == Self.count - 1)
            #expect(source.takeLines() == ["19 objects", "deletion, 19 rows"])
            #expect(try source.fetch(ContactEntity.self).map(\.uid) == ["1"])
        }
    }

    /// The change and the edits of the hook are one save over objects, and the hook is called for it as always.
    @Test(arguments: StoreKind.allCases)
    func editsOfTheHookMakeTheChangeAnOrdinaryOne(kind: StoreKind) async throws {
        try await withMany(kind) { source, container in
            source.script.set { changes, context in
                if changes.bulk.isEmpty { return }
                try context.insert(GroupEntity.self).gid = "of the bulk call"
            }
            let report = try await source.update(ContactEntity.self, set: [.set(\.note, "bulk")])
            // The group is of a call that was given up.
            #expect(report == SaveReport(updated: Self.count))
            #expect(try source.fetch(GroupEntity.self).map(\.gid) == ["a"])
            #expect(source.takeLines().suffix(1) == ["20 objects"])

            source.script.set { changes, context in
                for change in try changes.of(ContactEntity.self) where change.changes(\.isFavorite) {
                    change.object.age = 7
                }
                guard try context.count(ContactEntity.self, where: \.note == "by the hook") == 0 else { return }
                try context.first(ContactEntity.self, where: \.uid, equals: "1")?.note = "by the hook"
                try context.delete(ContactEntity.self, where: \.uid == "2")
            }
            let second = try await source.update(
                ContactEntity.self, where: \.note == "bulk", set: [.set(\.note, "again"), .set(\.isFavorite, true)])
            #expect(second == SaveReport(updated: Self.count - 1, deleted: 1))
            #expect(try source.count(ContactEntity.self, where: \.age == 7) == Self.count - 1)
            #expect(try source.count(ContactEntity.self, where: \.note == "again") == Self.count - 2)
            #expect(try source.count(ContactEntity.self, where: \.note == "by the hook") == 1)
            #expect(container.stack.root.pendingSaveCount == 0)
        }
    }

    /// The hook gets the rows as objects, and its reads show the new values. Rows that it inserts are not part of the update.
    @Test(arguments: [1, 8, 9, 20])
    func readsOfTheHookShowTheChange(rows: Int) async throws {
        try await withMany(.sqlite) { source, _ in
            let uids = (0..<rows).map { "\($0)" }
            source.script.set { changes, context in
                let changed = try changes.of(ContactEntity.self)
                if changed.contains(where: { $0.kind == .insert }) { return }
                source.note("told \(changed.count)")
                source.note("read \(try context.count(ContactEntity.self, where: \.note == "new"))")
                if changed.first?.kind != .delete {
                    let contact = try context.insert(ContactEntity.self)
                    (contact.uid, contact.name) = ("made by the hook", "name")
                }
            }
            try await source.update(ContactEntity.self, where: .isIn(\.uid, uids), set: [.set(\.note, "new")])
            #expect(
                source.takeLines().filter { $0.hasPrefix("told") || $0.hasPrefix("read") } == [
                    "told \(rows)", "read \(rows)",
                ])
            #expect(try source.count(ContactEntity.self, where: \.note == "new") == rows)
            #expect(try source.first(uid: "made by the hook")?.note == nil)
            try await source.delete(ContactEntity.self, where: .isIn(\.uid, uids))
            #expect(
                source.takeLines().filter { $0.hasPrefix("told") || $0.hasPrefix("read") } == [
                    "told \(rows)", "read 0",
                ])
            #expect(try source.count(ContactEntity.self) == Self.count - rows + 1)
        }
    }

    /// Whether or not the hook throws the error of a call that needs objects, the change becomes an ordinary one.
    @Test(arguments: ["of", "of all", "owners", "swallowed"])
    func aHookThatNeedsObjectsGetsThem(way: String) async throws {
        try await withMany(.sqlite) { source, _ in
            source.script.set { changes, context in
                if way == "of all" { _ = try changes.of(ManagedObject.self) }
                if way == "of" { _ = try changes.of(ContactEntity.self) }
                if way == "owners" { _ = try changes.owners(of: \GroupEntity.members) }
                if way == "swallowed" { source.note("\((try? changes.of(ContactEntity.self))?.count ?? -1)") }
            }
            let report = try await source.delete(ContactEntity.self, where: nil)
            #expect(report.deleted == Self.count)
            let lines = source.takeLines()
            #expect(lines.contains("20 objects"), "\(lines)")
            #expect(try source.count(ContactEntity.self) == 0)
        }
    }

    /// A hook that only keeps counts is asked nothing by an update of attributes.
    @Test func ownersAndOtherClassesNeedNoObjects() async throws {
        try await withMany(.sqlite) { source, _ in
            source.script.set { changes, context in
                for group in try changes.owners(of: \GroupEntity.members) {
                    group.memberCount = Int32(group.members.count)
                }
                for change in try changes.of(GroupEntity.self) { source.note(change.object.gid) }
            }
            #expect(try await source.update(ContactEntity.self, set: [.set(\.note, "n")]).updated == Self.count)
            #expect(source.takeLines().count == 3)
            #expect(await source.tier.registeredObjectCount == 0)
            try await source.delete(ContactEntity.self, where: \.uid < "2")
            let left = try source.count(ContactEntity.self)
            #expect(try source.fetch(GroupEntity.self).map { Int($0.memberCount) } == [left])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aHookThatThrowsStopsTheChange(kind: StoreKind) async throws {
        try await withMany(kind) { source, _ in
            source.script.set { _, _ in throw Poison() }
            await expectThrows(Poison.self) {
                try await source.update(ContactEntity.self, set: [.set(\.note, "bulk")])
            }
            await expectThrows(Poison.self) { try await source.delete(ContactEntity.self, where: nil) }
            await expectThrows(Poison.self) { try await source.deleteAllOwned() }
            source.script.set { changes, context in
                try context.delete(GroupEntity.self, where: nil)
                if changes.bulk.isEmpty { throw Poison() }
            }
            await expectThrows(Poison.self) { try await source.delete(ContactEntity.self, where: nil) }
            #expect(try source.count(ContactEntity.self, where: \.note == nil) == Self.count)
            #expect(try source.count(GroupEntity.self) == 1)
            source.script.set { _, _ in }
            try await source.deleteAllOwned()
            #expect(try source.count(ContactEntity.self) == 0)
        }
    }

    /// An edit of the hook breaks a rule: neither the edit nor the change is saved.
    @Test func aRuleThatTheEditsBreakStopsTheChange() async throws {
        try await withMany(.sqlite) { source, _ in
            source.script.set { changes, context in
                if try context.count(GroupEntity.self) == 1 { try context.insert(GroupEntity.self).gid = "a" }
            }
            await expectError(.uniquenessViolated) {
                try await source.update(ContactEntity.self, set: [.set(\.note, "bulk")])
            }
            let groups = try source.count(GroupEntity.self)
            #expect(groups == 1)
            #expect(try source.count(ContactEntity.self, where: \.note == nil) == Self.count)
        }
    }

    /// The store makes a change of a data source without the hook, although delete rules may call the hook of another one.
    @Test func aDataSourceWithoutTheHookPaysNothing() async throws {
        var configuration = PersistentContainer.Configuration.uncached
        configuration.changedRowLimit = 8
        try await withContainer(configuration: configuration) { container, _ in
            let groups = try container.dataSource(GroupDataSource.self)
            let contacts = try container.dataSource(NotedContactSource.self)
            try await groups.add((0..<20).map { GroupData(gid: "\($0)", name: "") })
            #expect(try await groups.update(GroupEntity.self, set: [.set(\.name, "bulk")]).updated == 20)
            #expect(await groups.tier.registeredObjectCount == 0)
            #expect(contacts.calls.withLock { $0 } == 0)
            #expect(try groups.count(GroupEntity.self, where: \.name == "bulk") == 20)
        }
    }
}

extension EntityDataSource {
    fileprivate func first(uid: String) throws -> ContactEntity? {
        try fetch(ContactEntity.self, where: \.uid == uid).first
    }
}

/// Counts the calls of its hook.
private final class NotedContactSource: DataSource<any Sendable>, SaveCompleting {
    let calls = Mutex(0)

    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        calls.withLock { $0 += 1 }
    }
}

/// Notes the large changes that its hook gets, and the number of objects in other calls.
private final class BulkSource: MemberSource, SaveCompleting {
    let script = LibraryScript()
    private let lines = Mutex<[String]>([])

    func takeLines() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    nonisolated func note(_ line: String) { lines.withLock { $0.append(line) } }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for change in changes.bulk {
            let isFavorite = change.value(of: \ContactEntity.isFavorite).map { "\($0)" } ?? "nil"
            let name = change.value(of: \ContactEntity.note).flatMap(\.self) ?? "nil"
            note(
                "\(change.isDeletion ? "deletion" : "update") \(change.entityName) \(change.attributes.joined(separator: " "))"
            )
            let request = change.request(for: ContactEntity.self)
            note("\(try request.map(context.count) ?? -1) rows of \(try context.count(ContactEntity.self))")
            note("favorite \(isFavorite), note \(name)")
        }
        if changes.bulk.isEmpty { note("\(try changes.of(ContactEntity.self).count) objects") }
        try script.run(changes, context)
    }
}
