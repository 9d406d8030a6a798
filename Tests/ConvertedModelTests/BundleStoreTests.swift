import CoreDataSource
import Foundation
import ManagedModel
import ModelReader
import TestSupport
import Testing

/// A store that is made with the classes opens with the model of the bundle, and the other way around.
@MainActor
struct BundleStoreTests {
    private nonisolated static let models: [String: ManagedObjectModel] = [
        "AllTypes": .allTypes, "Chat": .chat, "Contacts": .contacts, "Graph": .graph, "Mail": .mail, "Tasks": .tasks,
    ]

    private static func bundle(_ name: String) throws -> ManagedObjectModel {
        let folder =
            name == "Contacts"
            ? PackageFiles.root.appending(component: "Models") : PackageFiles.tests.appending(component: "Fixtures")
        return try ModelReader.read(folder.appending(component: "\(name).xcdatamodeld")).model
    }

    @Test(arguments: models.keys.sorted())
    func neitherBundleNorClassesResetTheOthersStore(_ name: String) async throws {
        let (classes, bundle) = (try #require(Self.models[name]), try Self.bundle(name))
        #expect(classes.hash == bundle.hash && classes.entityHashes == bundle.entityHashes)
        for (first, second) in [(classes, bundle), (bundle, classes)] {
            let directory = try TemporaryDirectory()
            for (model, reason) in [(first, StoreStartup.Reason.firstLaunch), (second, .current), (first, .current)] {
                let container = try await PersistentContainer(model: model, store: .sqlite(directory.store))
                #expect(container.startup.reason == reason)
                try await container.close()
            }
        }
    }

    @Test func bundleAndClassesReadTheSameRows() async throws {
        let directory = try TemporaryDirectory()
        let classes = try await PersistentContainer(model: .mail, store: .sqlite(directory.store))
        try await classes.dataSource(ClassTags.self).perform { context in
            let tag = try context.insert(MailTag.self)
            (tag.name, tag.weight) = ("first", 1.5)
        }
        try await classes.close()

        var model = try Self.bundle("Mail")
        model.classes = ["Tag": HandwrittenTag.self]
        let bundle = try await PersistentContainer(model: model, store: .sqlite(directory.store))
        let tags = try bundle.dataSource(HandwrittenTags.self)
        #expect(try tags.fetch(HandwrittenTag.self).map(\.name) == ["first"])
        #expect(try tags.fetch(HandwrittenTag.self).map(\.weight) == [1.5])
        try await tags.perform { context in
            let tag = try context.insert(HandwrittenTag.self)
            (tag.name, tag.weight) = ("second", nil)
        }
        try await bundle.close()

        let again = try await PersistentContainer(model: .mail, store: .sqlite(directory.store))
        #expect(again.startup.reason == .current)
        let found = try again.main.fetch(MailTag.self, order: [.ascending(\.name)])
        #expect(found.map(\.name) == ["first", "second"] && found.map(\.weight) == [1.5, nil])
        try await again.close()
        try expectIntact(directory.store)
    }
}

private final class ClassTags: EntityDataSource {
    override class var entities: [ManagedObject.Type] { [MailTag.self] }
}

/// A class with the properties of an entity of a bundle, in the order of its columns.
private final class HandwrittenTag: ManagedObject {
    override class var entityName: String { "Tag" }

    var name: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    var weight: Double? {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }
}

private final class HandwrittenTags: EntityDataSource {
    override class var entities: [ManagedObject.Type] { [HandwrittenTag.self] }
}
