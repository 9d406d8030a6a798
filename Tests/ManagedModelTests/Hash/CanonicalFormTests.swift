import ManagedModel
import Testing

@Suite struct CanonicalFormTests {
    @Test func thePersistedShapeIsWrittenInOneOrder() {
        let itemHash = Library.model.entityHashes["Item"].map(\.description) ?? ""
        #expect(
            Library.model.canonicalForm == """
                model schema 1
                entity "Author" schema 1
                  attribute "name" String required
                  relationship "books" to many "Book" inverse "author" ordered optional count 0 100
                entity "Book" schema 1
                  parent "Item" \(itemHash)
                  modifier "1"
                  attribute "authorName" String optional derived "author.name"
                  attribute "pages" Integer 32 optional
                  attribute "title" String optional
                  relationship "author" to one "Author" inverse "books" optional
                entity "Item" schema 1
                  abstract
                  attribute "place"."room" String optional
                  attribute "place"."shelf" Integer 16 optional
                  attribute "uid" String required
                  unique "uid"

                """)
    }

    @Test(arguments: ModelChange.persisted)
    func aChangeOfThePersistedShapeChangesTheHash(_ change: ModelChange) {
        #expect(change.model.hash != Library.model.hash)
    }

    @Test(arguments: ModelChange.unpersisted)
    func changesOfUnstoredPartsKeepTheHash(_ change: ModelChange) {
        #expect(change.model.hash == Library.model.hash)
    }

    /// These values are in the stores of users: a change here resets every one of them.
    @Test func theHashesAreTheSameOnEveryMachineAndInEveryRelease() {
        #expect(Library.model.hash.description == "c41050478382e4fe19978f2365e8675a")
        #expect(
            Library.model.entityHashes.mapValues(\.description) == [
                "Author": "8aebba98a7aa47e9dbe6f06dfb02b5dd",
                "Book": "37446b879e143da4850f04388ec75b3b",
                "Item": "3920981444e1811fceb49027ebeca9c9",
            ])
    }

    @Test func anEmptyModelHasAHash() {
        #expect(ManagedObjectModel(name: "Empty", entities: []).hash.description == "cd9df8fff748c04567fb3907c75c8d73")
    }

    @Test func anEntitysHashIsThatOfItsForm() throws {
        for entity in Library.model.entities {
            let form = Library.model.canonicalForm(of: entity)
            #expect(Library.model.entityHashes[entity.name] == ModelHash(hashing: form))
        }
    }

    @Test func aParentsChangeReachesItsChildrenOnly() {
        let changed = Library.editing("Item") { $0.attribute("uid") { $0.type = .uuid } }
        #expect(changedEntities(of: changed) == ["Book", "Item"])
    }

    @Test func aChildsChangeDoesNotReachItsParent() {
        let changed = Library.editing("Book") { $0.attribute("title") { $0.isOptional = false } }
        #expect(changedEntities(of: changed) == ["Book"])
    }

    @Test func aChangeReachesEveryGeneration() {
        func model(isOptional: Bool) -> ManagedObjectModel {
            var entities = [
                EntityDescription(
                    name: "E0", attributes: [AttributeDescription(name: "a", type: .date, isOptional: isOptional)])
            ]
            entities += (1...5).map { EntityDescription(name: "E\($0)", parentName: "E\($0 - 1)") }
            return ManagedObjectModel(name: "Chain", entities: entities)
        }
        let (one, other) = (model(isOptional: true).entityHashes, model(isOptional: false).entityHashes)
        #expect(one.allSatisfy { other[$0.key] != $0.value })
    }

    @Test func aTypeThatIsOnlyNamedAfterACompositeIsNotOne() {
        let split = ManagedObjectModel(
            name: "M", entities: [entity(attributes: [AttributeDescription(name: "a.b", type: .string)])])
        let leaf = ManagedObjectModel(
            name: "M",
            entities: [
                entity(attributes: [AttributeDescription(name: "a", type: .composite, compositeName: "C")])
            ],
            composites: [CompositeDescription(name: "C", attributes: [.init(name: "b", type: .string)])])
        #expect(split.hash != leaf.hash)
    }

    /// Pairs of models that would share a text if names were not quoted, or quotes not escaped.
    @Test(arguments: [
        (["a\" String optional\n  attribute \"b"], ["a", "b"]), (["a\\", "b"], ["a\\\"", "b"]), (["a\nb"], ["a\\nb"]),
        (["a\r"], ["a\n"]), (["a b"], ["a", "b"]), (["a", "b", "c"], ["a, b", "c"]),
    ])
    func differentListsOfNamesHaveDifferentForms(_ one: [String], _ other: [String]) {
        func form(_ names: [String]) -> String {
            let attributes = names.map { AttributeDescription(name: $0, type: .string, isOptional: true) }
            return ManagedObjectModel(
                name: "M", entities: [entity(attributes: attributes, constraints: [names])]
            ).canonicalForm
        }
        #expect(form(one) != form(other))
    }

    @Test func aModifierIsNotTakenForThatOfAnotherLevel() {
        func model(outer: String?, inner: String?) -> ManagedObjectModel {
            let attribute = AttributeDescription(
                name: "a", type: .composite, compositeName: "C", versionHashModifier: outer)
            let leaf = AttributeDescription(name: "b", type: .string, versionHashModifier: inner)
            return ManagedObjectModel(
                name: "M", entities: [entity(attributes: [attribute])],
                composites: [CompositeDescription(name: "C", attributes: [leaf])])
        }
        #expect(model(outer: "x", inner: nil).hash != model(outer: nil, inner: "x").hash)
    }

    @Test func formsOfModelsThatDoNotHoldTogetherEnd() {
        var model = Library.model
        for index in model.entities.indices { model.entities[index].parentName = "Book" }
        model.composites[0].attributes.append(.init(name: "again", type: .composite, compositeName: "Place"))
        #expect(!model.canonicalForm.isEmpty)
        #expect(model.entityHashes.count == 3)
    }

    private func changedEntities(of model: ManagedObjectModel) -> [String] {
        let old = Library.model.entityHashes
        return model.entityHashes.filter { old[$0.key] != $0.value }.keys.sorted()
    }

    private func entity(attributes: [AttributeDescription], constraints: [[String]] = []) -> EntityDescription {
        EntityDescription(name: "E", attributes: attributes, uniquenessConstraints: constraints)
    }
}
