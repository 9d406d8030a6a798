import ManagedModel
@testable import ModelMigration
import Testing

@Suite struct ModelTextTests {
    /// The model of the other tests, with what only this text keeps.
    private static let model: ManagedObjectModel = {
        var model = Library.model
        model.composites[0].attributes[0].renamingIdentifier = "board"
        for index in model.entities.indices {
            model.entities[index].renamingIdentifier = index == 0 ? "Writer \"of\"\nbooks\\" : nil
            for position in model.entities[index].attributes.indices {
                model.entities[index].attributes[position].renamingIdentifier = "old"
                model.entities[index].attributes[position].versionHashModifier = "2"
            }
            for position in model.entities[index].relationships.indices {
                model.entities[index].relationships[position].renamingIdentifier = "of"
                model.entities[index].relationships[position].versionHashModifier = ""
            }
        }
        model.entities[0].relationships.append(
            RelationshipDescription(name: "draft", destinationName: "Book", isOptional: true, isTransient: true))
        return model
    }()

    @Test func everythingThatAMigrationNeedsIsReadBack() throws {
        let model = ModelTextTests.model
        let read = try #require(ManagedObjectModel(storedText: model.storedText))
        #expect(read.hash == model.hash)
        #expect(read.entities.map(\.name) == model.entities.map(\.name))
        #expect(read.entities.map(\.renamingIdentifier) == model.entities.map(\.renamingIdentifier))
        #expect(read.composites[0].attributes.map(\.renamingIdentifier) == ["board", nil])
        for (one, other) in zip(read.entities, model.entities) {
            #expect(one.attributes.map(\.name) == other.attributes.filter { !$0.isTransient }.map(\.name))
            #expect(one.attributes.allSatisfy { $0.renamingIdentifier == "old" })
            #expect(one.relationships.map(\.name) == other.relationships.map(\.name))
            #expect(one.relationships.map(\.renamingIdentifier) == other.relationships.map(\.renamingIdentifier))
            #expect(one.relationships.map(\.isTransient) == other.relationships.map(\.isTransient))
        }
        #expect(read.storedText == model.storedText)
    }

    @Test(arguments: ModelChange.persisted)
    func everyShapeIsReadBack(_ change: ModelChange) {
        let model = change.model
        // Some of these do not hold together, and no store was ever made for one.
        guard (try? model.validate()) != nil else { return }
        #expect(ManagedObjectModel(storedText: model.storedText)?.hash == model.hash)
    }

    @Test func aStoredModelThatIsDamagedAnywhereIsRefused() {
        let text = ModelTextTests.model.storedText
        let bytes = Array(text.utf8)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] = damaged[index] == 0x41 ? 0x42 : 0x41
            #expect(ManagedObjectModel(storedText: String(decoding: damaged, as: UTF8.self)) == nil, "\(index)")
            #expect(ManagedObjectModel(storedText: String(decoding: bytes[..<index], as: UTF8.self)) == nil, "\(index)")
        }
    }

    /// Whoever can write to the file can write a text with the right hash.
    @Test(arguments: [
        "", "entity", "entity \"\"", "entity \"A\"\nentity \"A\"", "entity \"A\" schema", "entity \"A\" x",
        "entity \"A\"\n  parent", "entity \"A\"\n  parent \"A\"", "entity \"A\"\n  parent \"B\"",
        "entity \"A\"\n  attribute \"a\"", "entity \"A\"\n  attribute \"a\" Word optional",
        "entity \"A\"\n  attribute \"a\".\"b\" String optional",
        "entity \"A\"\n  attribute \"a\" Composite optional composite \"P\"",
        "composite \"P\"\n  attribute \"a\" Composite optional composite \"P\"",
        "entity \"A\"\ncomposite \"P\"", "  attribute \"a\" String optional", "entity \"A\"\n  unique \"b\"",
        "entity \"A\"\n  relationship \"r\" to one \"B\" optional", "entity \"A\"\n  relationship \"r\" to",
        "entity \"A\"\n  relationship \"r\" to many \"A\" optional count 1", "entity \"A\"\n  nonsense \"x\"",
        "entity \"A\"\n  attribute \"a", "entity \"A\"\n  attribute \"a\\",
        "entity \"A\"\n  relationship \"r\" to many \"A\" optional count 99999999999999999999 0",
    ])
    func aStoredStringThatMakesNoModelIsRefused(_ body: String) {
        let text = "stored model schema 1 hash \(ModelHash(hashing: body))\n\(body)"
        let model = ManagedObjectModel(storedText: text)
        if body.isEmpty { #expect(model?.entities.isEmpty == true) } else { #expect(model == nil) }
    }

    @Test func aStoredModelThatIsTooLongIsRefused() {
        let body = (0...2_000).map { "entity \"E\($0)\"\n" }.joined()
        #expect(
            ManagedObjectModel(storedText: "stored model schema 1 hash \(ModelHash(hashing: body))\n\(body)") == nil)
    }
}
