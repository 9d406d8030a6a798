import CoreDataSource
import Foundation
import ManagedModel
import ModelConversion
import ModelReader
import TestSupport
import Testing

/// A model in code, the same text read by the command, and the equal bundle are one model.
struct SameModelTests {
    private static let folder = PackageFiles.tests.appending(path: "ModelInCodeTests")

    @Test func theModelOfTheArticleHasTheHashOfItsBundle() throws {
        let article = PackageFiles.root.appending(path: "Sources/CoreDataSource/CoreDataSource.docc/TheModel.md")
        let blocks = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```xml\n").dropFirst()
        let xml = try #require(blocks.first?.components(separatedBy: "```").first)
        let model = try ModelReader.read(data: Data(xml.utf8), name: "Mail").model
        #expect(ManagedObjectModel.mail.hash == model.hash)
        var (one, other) = (ManagedObjectModel.mail, model)
        // The bundle lists some properties in another order.
        for index in one.entities.indices {
            for keyPath in [\EntityDescription.attributes] {
                one.entities[index][keyPath: keyPath].sort { $0.name < $1.name }
                other.entities[index][keyPath: keyPath].sort { $0.name < $1.name }
            }
            // A number that may be nil has another property in a bundle only if the bundle says so.
            one.entities[index].attributes.indices.forEach {
                one.entities[index].attributes[$0].usesScalarValueType = false
            }
        }
        #expect(one.entities == other.entities)
    }

    @Test(arguments: ["MailModel.swift", "Fixture.swift"])
    func theCommandReadsTheModelThatTheProgramHas(_ file: String) throws {
        let document = try SwiftModelReader.read([Self.folder.appending(path: file).path])
        #expect(document.diagnostics.isEmpty)
        let model = file == "MailModel.swift" ? ManagedObjectModel.mail : .inCode
        #expect(document.model == model)
        #expect(document.model.hash == model.hash)
    }

    @Test func aStoreOfTheBundleOpensWithTheClasses() async throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation.sqlite(directory.url.appending(component: "a.sqlite"))
        var bundle = ManagedObjectModel.mail
        bundle.classes = [:]
        for index in bundle.entities.indices { bundle.entities[index].attributes.reverse() }
        let first = try await PersistentContainer(model: bundle, store: location)
        try await first.close()
        let container = try await PersistentContainer(model: .mail, store: location)
        #expect(container.startup.reason == .current)
        let source = try await container.dataSource(MailDataSource.self)
        try await source.perform { context in
            let message = try context.insert(MessageEntity.self)
            message.uid = "1"
            message.thread = try context.insert(ThreadEntity.self)
            message.thread?.uid = "2"
        }
        let texts = try await container.read {
            try $0.fetch(ObjectRequest<MessageEntity>(where: \.uid == "1")).map { $0.thread?.uid }
        }
        #expect(texts == ["2"])
        try await container.close()
    }
}

final class MailDataSource: EntityDataSource {
    override class var entities: [ManagedObject.Type] { [ThreadEntity.self, MessageEntity.self] }
}
