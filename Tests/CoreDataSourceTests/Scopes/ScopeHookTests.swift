import CoreDataSource
import Foundation
import Testing

private struct Branch: Sendable {
    var key: String
    var parent: String?
    /// The key of an object that the hook deletes.
    var deleted: String?
}

private final class TreeSource: DataSource<Branch> {
    override class var entities: [ManagedObject.Type] { [Node.self] }

    override func onAdd(_ value: Branch, in context: PrivateContext) throws -> ManagedObject? {
        let node = try context.findOrInsert(Node.self, where: \.key, equals: value.key)
        if let parent = value.parent {
            node.parent = try context.findOrInsert(Node.self, where: \.key, equals: parent)
        }
        if let deleted = value.deleted { try context.delete(Node.self, where: \.key == deleted) }
        return node
    }
}

/// Delete rules and hooks that delete objects of the list that is being stored.
@MainActor
struct ScopeHookTests {
    private let all = SyncScope("nodes", Node.self)

    private func withTree(_ body: @MainActor (TreeSource) async throws -> Void) async throws {
        let container = try await PersistentContainer(model: .library, store: .inMemory)
        try await body(try container.dataSource(TreeSource.self))
        try await container.close()
    }

    private func keys(_ tree: TreeSource) throws -> [String] {
        try tree.fetch(Node.self, order: [.ascending(\.key)]).map(\.key)
    }

    @Test func aCascadeThatDeletesAListedObjectDropsTheTag() async throws {
        try await withTree { tree in
            try await tree.load(all, maxAge: .zero) { _ in
                .list([Branch(key: "p"), Branch(key: "c", parent: "p")], entityTag: "1")
            }
            #expect(try tree.freshness(of: all).entityTag == "1")
            // The deletion of the parent deletes its child, although the child is in the list.
            let report = try await tree.apply(
                .list([Branch(key: "c")], entityTag: "2", cursor: "2"), to: all, requestedAt: Date())
            #expect(report.deleted == 1)
            let found = try tree.freshness(of: all)
            #expect(found.isComplete && found.entityTag == nil && found.cursor == nil)
            // So the next request brings the child back.
            try await tree.load(all, maxAge: .zero) { request in
                request.entityTag == nil ? .list([Branch(key: "c")], entityTag: "2") : .notModified
            }
            #expect(try keys(tree) == ["c"])
            #expect(try tree.freshness(of: all).entityTag == "2")
        }
    }

    @Test func aHookThatDeletesAListedObjectDropsTheTag() async throws {
        try await withTree { tree in
            for key in ["a", "b"] {
                try await tree.apply(
                    .list([Branch(key: key), Branch(key: "z", deleted: key)], entityTag: "1"), to: all,
                    requestedAt: Date())
                #expect(try tree.freshness(of: all).entityTag == nil)
                #expect(try keys(tree) == ["z"])
            }
            // The hook deletes an object that is not in the list.
            try await tree.add([Branch(key: "y")])
            try await tree.apply(
                .list([Branch(key: "z", deleted: "y")], entityTag: "2"), to: all, requestedAt: Date())
            #expect(try tree.freshness(of: all).entityTag == "2")
        }
    }

    /// Delete rules can delete rows that are no objects of the context. They are compared, too.
    @Test func aCascadeOfAnOlderAnswerDeletesNoObjectOfAListThatIsNotModified() async throws {
        try await withTree { tree in
            let (parent, child) = (
                SyncScope("parent", Node.self, where: \.key == "p"), SyncScope("child", Node.self, where: \.key == "c")
            )
            let branches = [Branch(key: "p"), Branch(key: "c", parent: "p")]
            try await tree.add(branches)
            try await tree.load(child, maxAge: .zero) { _ in .list([branches[1]], entityTag: "1") }
            let requests = Shared(0)
            try await tree.load(parent, maxAge: .zero) { _ in
                requests.update { $0 += 1 }
                if requests.value > 1 { return .list([branches[0]]) }
                try await tree.load(child, maxAge: .zero) { _ in .notModified }
                return .gone
            }
            #expect(requests.value == 2)
            #expect(try keys(tree) == ["c", "p"])
        }
    }
}
