import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

struct FolderValue: Sendable {
    var key: String
    var parent: String?
}

/// Folders whose parents may come later in the list.
private final class FolderDataSource: KeyedDataSource<FolderValue, Folder> {
    override class var key: ObjectKey<FolderValue, Folder> { ObjectKey(\.key, \.key) }

    override func update(_ folder: Folder, from value: FolderValue, in context: PrivateContext) {}

    override func link(_ folder: Folder, from value: FolderValue, in context: PrivateContext) throws {
        if value.key == "poison" { throw Poison() }
        folder.parent = try value.parent.flatMap {
            try context.first(Folder.self, where: \.key, equals: $0)
        }
    }
}

/// The same without a key, for folders and what else there is.
private final class LooseFolderDataSource: DataSource<FolderValue> {
    override class var entities: [ManagedObject.Type] { [Folder.self] }

    override func onAdd(_ value: FolderValue, in context: PrivateContext) throws -> ManagedObject? {
        if value.key.isEmpty { return nil }
        return try context.folder(value.key)
    }

    override func onLink(_ object: ManagedObject, for value: FolderValue, in context: PrivateContext) throws {
        guard let folder = object as? Folder else { return }
        folder.parent = try value.parent.flatMap { try context.first(Folder.self, where: \.key, equals: $0) }
    }
}

/// References to objects that come later in the list.
@MainActor @Suite struct ForwardLinkTests {
    private let list = [
        FolderValue(key: "leaf", parent: "middle"), FolderValue(key: "middle", parent: "root"),
        FolderValue(key: "root", parent: nil), FolderValue(key: "lost", parent: "nowhere"),
    ]

    private func parents(_ container: PersistentContainer) async throws -> [String: String] {
        try await container.read { context in
            Dictionary(
                uniqueKeysWithValues: try context.fetch(Folder.self).compactMap { folder in
                    folder.parent.map { (folder.key, $0.key) }
                })
        }
    }

    @Test func objectsThatComeLaterInTheListAreLinked() async throws {
        try await withEmptyGraph { container in
            let folders = try container.dataSource(FolderDataSource.self)
            #expect(try await folders.add(list) == SaveReport(inserted: 4))
            #expect(try await parents(container) == ["leaf": "middle", "middle": "root"])
            // Links that are there already are not written.
            #expect(try await folders.add(list.reversed()) == SaveReport())
            let report = try await folders.sync(list + [FolderValue(key: "nowhere")])
            #expect(report.inserted == 1 && report.updated == 1 && report.unchanged == 3)
            #expect(try await parents(container)["lost"] == "nowhere")
        }
    }

    @Test func onlyValuesWithAnObjectAreLinked() async throws {
        try await withEmptyGraph { container in
            let folders = try container.dataSource(LooseFolderDataSource.self)
            let report = try await folders.add(list + [FolderValue(key: "", parent: "root")])
            #expect(report == SaveReport(inserted: 4, ignored: 1))
            #expect(try await parents(container) == ["leaf": "middle", "middle": "root"])
        }
    }

    @Test func aLinkThatThrowsRollsTheWholeBatchBack() async throws {
        try await withEmptyGraph { container in
            let folders = try container.dataSource(FolderDataSource.self)
            await expectThrows(Poison.self) {
                try await folders.add(list + [FolderValue(key: "poison", parent: "root")])
            }
            #expect(try folders.count(Folder.self) == 0)
        }
    }

    /// A whole list of children in the scope of their parent.
    @Test func aListOfChildrenIsSyncedInTheScopeOfTheirParent() async throws {
        try await withEmptyGraph { container in
            let folders = try container.dataSource(FolderDataSource.self)
            try await folders.add([
                FolderValue(key: "one"), FolderValue(key: "two"), FolderValue(key: "a", parent: "one"),
                FolderValue(key: "b", parent: "one"), FolderValue(key: "c", parent: "two"),
            ])
            let one = try #require(try container.main.first(Folder.self, where: \.key, equals: "one"))
            let scope = try FetchPredicate<Folder>(format: "parent == %@", one.objectID)
            let children = [FolderValue(key: "b", parent: "one"), FolderValue(key: "c", parent: "one")]
            let report = try await folders.sync(children, scope: scope)
            #expect(report.deleted == 1 && report.updated == 1 && report.unchanged == 1)
            #expect(try await parents(container) == ["b": "one", "c": "one"])
            #expect(try folders.count(Folder.self) == 4)
        }
    }
}
