import CoreDataSource
import TestSupport
import Testing

/// Objects of a list that a delete rule deletes in the same save.
@MainActor @Suite struct SyncCascadeTests {
    @Test func anObjectOfTheListThatACascadeDeletesDoesNotCountAsStored() async throws {
        try await withContainerOfFolders { folders in
            // The parent is not in the list, so it is deleted, and its child with it.
            let plan = try await folders.planSync(["child", "other", "new:parent"], entity: Folder.self)
            let report = try await folders.sync(
                ["child", "other", "new:parent"], entity: Folder.self, options: .reportsIDs)
            #expect(report.deleted == 1 && report.cascaded == 2)
            #expect(report.unchanged == 1 && report.inserted == 0 && report.updated == 0)
            #expect(report.ids?.inserted.isEmpty == true && report.ids?.deleted.count == 1)
            // The new object was not stored.
            #expect(report.totalDeleted == 2 && plan.totalDeleted == 2)
            #expect(plan.cascaded == 2 && plan.unchanged == 1 && plan.inserted == 0)
            #expect(try folders.fetch(Folder.self).map(\.key) == ["other"])
            let again = try await folders.sync(["other"], entity: Folder.self)
            #expect(again.cascaded == 0 && again.unchanged == 1)
        }
    }

    private func withContainerOfFolders(_ body: @MainActor (FolderDataSource) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let folders = try container.dataSource(FolderDataSource.self)
        try await folders.add(["parent", "other", "child:parent"])
        try await body(folders)
        try await container.close()
    }
}

/// Folders, from values such as `child:parent`.
private final class FolderDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Folder.self] }

    override func onAdd(_ value: String, in context: PrivateContext) throws -> ManagedObject? {
        let keys = value.split(separator: ":").map(String.init)
        let folder = try context.folder(keys[0])
        if keys.count == 2 { folder.parent = try context.folder(keys[1]) }
        return folder
    }
}
