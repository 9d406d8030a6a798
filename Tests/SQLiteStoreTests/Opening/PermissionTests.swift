import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Rights do not bind root, so the store is opened in a child that is somebody else.
struct PermissionTests {
    enum Obstacle: CaseIterable {
        case unreadableFile, readOnlyFile, unreadableFolder, readOnlyFolder
    }

    @Test(arguments: Obstacle.allCases)
    func aMissingRightIsNamedAndNothingIsTouched(obstacle: Obstacle) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "a"))])])
        store.close()
        let before = folder.contents()
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("test.store.lock"))
        try setMode(0o777, folder.url)
        try setMode(0o666, folder.store)
        switch obstacle {
        case .unreadableFile: try setMode(0, folder.store)
        case .readOnlyFile: try setMode(0o444, folder.store)
        case .unreadableFolder: try setMode(0, folder.url)
        case .readOnlyFolder: try setMode(0o555, folder.url)
        }
        await #expect(processExitsWith: .success) { [path = folder.store.path as String] in
            dropRootPrivileges()
            let options = SQLiteStore.Options(
                url: URL(fileURLWithPath: path), layout: TestModel.layout, identity: TestModel.identity("other"))
            #expect(code { _ = try SQLiteStore.open(options) } == .permissionDenied)
        }
        try setMode(0o777, folder.url)
        try setMode(0o666, folder.store)
        #expect(folder.contents() == before)
    }

    @Test func aNewStoreIsItsOwnersAlone() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "a"))])])
        for name in folder.names {
            let path = folder.url.appendingPathComponent(name).path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        #expect(folder.names.count == 4)
        store.close()
    }

    private func setMode(_ mode: Int, _ url: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }
}

/// Gives up the rights of root, if the process has them.
func dropRootPrivileges() {
    guard geteuid() == 0 else { return }
    precondition(setgroups(0, nil) == 0 && setgid(65534) == 0 && setuid(65534) == 0)
}
