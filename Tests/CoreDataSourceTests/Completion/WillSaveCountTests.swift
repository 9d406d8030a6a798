import CoreDataSource
import RowStore
import TestSupport
import Testing

/// A count that the hook keeps beside the objects that it counts.
@MainActor
struct WillSaveCountTests {
    private nonisolated static let groups = ["a", "b", "c"]

    /// Adds, deletions, syncs, drafts, imports and edits in any order: after each of them, the count is that of a plain count.
    @Test(arguments: StoreKind.allCases)
    func theCountIsRightAfterEverySave(kind: StoreKind) async throws {
        let seed = testSeed()
        try await withContainer(kind, configuration: seed % 2 == 0 ? .init() : .uncached) { container, _ in
            var random = SeededRandom(seed: seed)
            let source = try container.dataSource(CountedSource.self)
            var reference: [String: String] = [:]
            var saves = 0
            for step in 0..<(isThorough ? 1_000 : 120) {
                let change = try await Change(source, reference, &random)
                reference = change.expected
                let counts = try source.fetch(GroupEntity.self).reduce(into: [:]) { $0[$1.gid] = Int($1.memberCount) }
                let expected = counts.keys.reduce(into: [:]) { counts, gid in
                    counts[gid] = reference.values.count { $0 == gid }
                }
                try #require(counts == expected, "\(change.name) in step \(step), seed \(seed)")
                let stored = try source.fetch(ContactEntity.self).reduce(into: [:]) { $0[$1.uid] = $1.group?.gid ?? "" }
                try #require(stored == reference, "\(change.name) in step \(step), seed \(seed)")
                saves += change.name == "nothing" ? 0 : 1
            }
            #expect(saves > 50)
        }
    }

    /// Two containers that share a store count for each other.
    @Test(arguments: SharedPlace.Kind.all)
    func processesThatShareAStoreCountTogether(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        let containers = [try place.open(times: .patient), try place.open(times: .patient)]
        let sources = try containers.map { try $0.dataSource(CountedSource.self) }
        for step in 0..<20 {
            try await sources[step % 2].add((0...step).map { Member("\($0)", Self.groups[($0 + step) % 3]) })
            for source in sources {
                let groups = try source.fetch(GroupEntity.self)
                #expect(groups.allSatisfy { Int($0.memberCount) == $0.members.count })
                #expect(groups.reduce(0) { $0 + Int($1.memberCount) } == step + 1)
            }
        }
        for container in containers { try await container.close() }
    }

    /// One random save, and the groups of all contacts after it.
    @MainActor
    private struct Change {
        let name: String
        private(set) var expected: [String: String]

        init(_ source: CountedSource, _ reference: [String: String], _ random: inout SeededRandom) async throws {
            expected = reference
            let uids = (0..<random.next(below: 6)).map { _ in "\(random.next(below: 30))" }
            let list = Set(uids).sorted().map { uid in
                let place = random.next(below: 4)
                return Member(uid, place == 3 ? nil : groups[place])
            }
            let moved = Dictionary(uniqueKeysWithValues: list.map { ($0.uid, $0.gid ?? "") })
            switch random.next(below: 8) {
            case 0, 1:
                name = "add"
                try await source.add(list)
                expected.merge(moved) { $1 }
            case 2:
                name = "delete"
                try await source.delete(list)
                for uid in moved.keys { expected[uid] = nil }
            case 3:
                name = "sync"
                try await source.sync(list, entity: ContactEntity.self, deleting: .all, options: .allowsEmpty)
                expected = moved
            case 4:
                name = "delete a group"
                let gid = groups[random.next(below: 3)]
                try await source.delete(GroupEntity.self, where: \.gid == gid)
                expected = expected.mapValues { $0 == gid ? "" : $0 }
            case 5:
                name = "draft"
                guard let contact = try source.fetch(ContactEntity.self).first, let group = list.last?.gid,
                    let groupID = try source.main.first(GroupEntity.self, where: \.gid, equals: group)?.objectID
                else { return }
                let draft = try source.draft(of: contact)
                draft.object.group = try draft.context.object(GroupEntity.self, id: groupID)
                draft.object.note = "in a draft"
                expected[contact.uid] = group
                try await draft.save()
            case 6:
                name = "perform"
                try await source.perform { context in
                    for member in list {
                        let contact = try context.first(ContactEntity.self, where: \.uid, equals: member.uid)
                        // It comes and goes, and what remains counts.
                        contact?.group = nil
                        if let contact { _ = try source.onAdd(Member(contact.uid, member.gid), in: context) }
                    }
                }
                for (uid, gid) in moved where reference[uid] != nil { expected[uid] = gid }
            default:
                name = "delete rows"
                try await source.delete(ContactEntity.self, where: .isIn(\.uid, Array(moved.keys)))
                for uid in moved.keys { expected[uid] = nil }
            }
        }
    }
}

/// Keeps the number of members in each group.
private final class CountedSource: MemberSource, SaveCompleting {
    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for group in try changes.owners(of: \GroupEntity.members) {
            group.memberCount = Int32(group.members.count)
        }
    }
}
