import CoreDataSource
import CoreDataSourceActiveRecord
import ErrorExpectations
import Foundation
import ModelReader
import Testing

/// Containers that go by a name.
@MainActor
struct ContainerNameTests {
    private func mode(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func theStoreIsInTheDirectoryUnderItsName() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.url.appending(components: "data", "app")
        let container = try await PersistentContainer(name: "Contacts", configuration: .init(directory: folder))
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<2))
        try await container.close()
        let file = folder.appending(component: "Contacts.sqlite")
        #expect(container.storeURL?.path == file.path)
        #expect(try await PersistentContainer(model: .contacts, store: .inMemory).storeURL == nil)
        let again = try await PersistentContainer(model: .contacts, store: .sqlite(file))
        #expect(try ContactEntity.count(in: again.main) == 2)
        try await again.close()
    }

    @Test func missingFoldersAreMadeForTheirOwnerAlone() async throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.url.path)
        let folder = directory.url.appending(components: "data", "app")
        let container = try await PersistentContainer(name: "Contacts", configuration: .init(directory: folder))
        try await container.close()
        #expect(try mode(folder) == 0o700 && mode(folder.deletingLastPathComponent()) == 0o700)
        #expect(try mode(directory.url) == 0o755)
    }

    @Test func aFolderThatCannotBeMadeIsAnError() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "file")
        try Data().write(to: file)
        for folder in [file, file.appending(component: "folder")] {
            await expectError(.notAFile) {
                try await PersistentContainer(name: "Contacts", configuration: .init(directory: folder))
            }
        }
    }

    @Test(arguments: ["", ".", "..", ".hidden", "a/b", "a\0b"])
    func aNameThatIsNoFileNameIsRefused(_ name: String) async throws {
        let directory = try TemporaryDirectory()
        let url = directory.url
        await expectError(.notAFile) {
            try await PersistentContainer(name: name, model: .contacts, configuration: .init(directory: url))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
    }

    @Test func aStoreThatIsOnlyReadMakesNoFolder() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.url.appending(component: "app")
        let configuration = PersistentContainer.Configuration(isReadOnly: true, directory: folder)
        await expectThrows(DataSourceError.self) {
            try await PersistentContainer(name: "Contacts", configuration: configuration)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func theDataDirectoryIsThatOfXDG() {
        let home = URL(filePath: "/home/guan", directoryHint: .isDirectory)
        func path(_ environment: [String: String]) -> String {
            PersistentContainer.Configuration.dataDirectory(environment, home: home).path(percentEncoded: false)
        }
        #expect(path([:]) == "/home/guan/.local/share/")
        #expect(path(["XDG_DATA_HOME": "/data"]) == "/data/")
        #expect(path(["XDG_DATA_HOME": ""]) == "/home/guan/.local/share/")
        #expect(path(["XDG_DATA_HOME": "data"]) == "/home/guan/.local/share/")
    }

    #if !canImport(Darwin)
    @Test func withoutADirectoryTheStoreIsInTheFolderOfTheApp() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            setenv("XDG_DATA_HOME", path, 1)
            let container = try await PersistentContainer(name: "Contacts")
            try await container.close()
            let folder = PersistentContainer.Configuration.defaultDirectory
            let isThere = FileManager.default.fileExists(
                atPath: folder.appending(component: "Contacts.sqlite").path)
            let program = ProcessInfo.processInfo.processName
            exit(isThere && folder.path.hasPrefix(path) && folder.path.hasSuffix("/\(program)") ? 0 : 1)
        }
    }
    #endif

    @Test(arguments: ["Contacts", "Graph", "AllTypes"])
    func theModelWithTheNameIsThatOfTheModule(_ name: String) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(name: name, configuration: .init(directory: directory.url))
        #expect(container.main.model.name == name)
        try await container.close()
        let other: ManagedObjectModel = name == "Graph" ? .contacts : .graph
        let reset = try await PersistentContainer(
            name: name, model: other, configuration: .init(directory: directory.url))
        #expect(reset.startup.reason.isModelChanged)
        try await reset.close()
    }

    @Test(arguments: ["Contact", "contacts", "Contacts ", "Ä"])
    func aNameWithoutAModelIsAnError(_ name: String) async throws {
        let directory = try TemporaryDirectory()
        let configuration = PersistentContainer.Configuration(directory: directory.url)
        let error = await expectError(.unreadableModel) {
            try await PersistentContainer(name: name, configuration: configuration)
        }
        #expect(error?.message.hasPrefix("The module CoreDataSourceTests has no model \(name).") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
    }

    @Test func anotherModuleHasOtherModels() async throws {
        let directory = try TemporaryDirectory()
        let configuration = PersistentContainer.Configuration(directory: directory.url)
        await expectError(.unreadableModel) {
            try await PersistentContainer(name: "Contacts", configuration: configuration, fileID: "Other/File.swift")
        }
    }

    @Test func aModelThatIsReadByItsNameOpensAContainer() async throws {
        let directory = try TemporaryDirectory()
        let models = PackageModels.directory
        let model = try ModelReader.read(named: "Contacts", in: [models]).model
        let container = try await PersistentContainer(
            name: model.name, model: model, configuration: .init(directory: directory.url))
        #expect(container.startup.reason == .firstLaunch)
        try await container.close()
    }
}

private enum PackageModels {
    static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Models").standardizedFileURL
}
