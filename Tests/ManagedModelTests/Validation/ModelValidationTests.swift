import ErrorExpectations
import ManagedModel
import Testing

@Suite struct ModelValidationTests {
    @Test func aModelThatHoldsTogetherPasses() throws {
        try Library.model.validate()
        try ManagedObjectModel(name: "Empty", entities: []).validate()
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var change: ModelChange
        var code: ModelError.Code
        var words: String

        var testDescription: String { change.testDescription }

        init(_ change: ModelChange, _ code: ModelError.Code, _ words: String) {
            self.change = change
            self.code = code
            self.words = words
        }
    }

    static let faults: [Fault] = [
        Fault(
            ModelChange("two entities") { $0.entities.append(EntityDescription(name: "Book")) },
            .duplicateName, "Two entities are called Book."),
        Fault(
            ModelChange("two composites") { $0.composites.append(.init(name: "Place", attributes: [])) },
            .duplicateName, "Two composites are called Place."),
        Fault(
            ModelChange("two properties", in: "Book") { $0.relationship("author") { $0.name = "title" } },
            .duplicateName, "Book has two properties called title."),
        Fault(
            ModelChange("inherited property", in: "Book") { $0.attribute("title") { $0.name = "uid" } },
            .duplicateName, "Book.uid is already a property of its ancestor Item."),
        Fault(ModelChange("no name", in: "Book") { $0.name = "" }, .invalidName, "One of the entities has no name."),
        Fault(
            ModelChange("dot", in: "Book") { $0.attribute("title") { $0.name = "a.b" } },
            .invalidName, "contains a dot. Rename the property."),
        Fault(
            ModelChange("pattern", in: "Book") { $0.attribute("title") { $0.pattern = "[A-Z" } },
            .invalidPattern, "The pattern [A-Z of Book.title is not a regular expression."),
        Fault(
            ModelChange("unbalanced pattern", in: "Book") { $0.attribute("title") { $0.pattern = "a)(?:b" } },
            .invalidPattern, "The pattern a)(?:b of Book.title is not a regular expression."),
        Fault(
            ModelChange("unknown parent", in: "Author") { $0.parentName = "Person" },
            .unknownReference, "Entity Author has the parent Person, which does not exist."),
        Fault(
            ModelChange("own parent", in: "Author") { $0.parentName = "Author" },
            .inheritanceCycle, "Entity Author is its own ancestor."),
        Fault(
            ModelChange("cycle", in: "Item") { $0.parentName = "Book" },
            .inheritanceCycle, "is its own ancestor."),
        Fault(
            ModelChange("unknown destination", in: "Author") { $0.relationship("books") { $0.destinationName = "X" } },
            .unknownReference, "The destination of Author.books is X, which does not exist."),
        Fault(
            ModelChange("unknown inverse", in: "Author") { $0.relationship("books") { $0.inverseName = "x" } },
            .unknownReference, "The inverse of Author.books is Book.x, which does not exist."),
        Fault(
            ModelChange("one-sided inverse", in: "Book") { $0.relationship("author") { $0.inverseName = nil } },
            .inverseMismatch, "The inverse of Author.books is Book.author, which does not point back."),
        Fault(
            ModelChange("unknown composite") { $0.composites = [] },
            .unknownReference, "Item.place has the composite type Place, which does not exist."),
        Fault(
            ModelChange("composite in itself") {
                $0.composites[0].attributes.append(.init(name: "x", type: .composite, compositeName: "Place"))
            }, .inheritanceCycle, "The composite Place contains itself."),
        Fault(
            ModelChange("constraint on nothing", in: "Book") { $0.uniquenessConstraints = [["isbn"]] },
            .unknownReference, "names isbn, which does not exist."),
        Fault(
            ModelChange("constraint on a to-many", in: "Author") { $0.uniquenessConstraints = [["books"]] },
            .unknownReference, "names books, which is to-many."),
        Fault(
            ModelChange("constraint on a transient", in: "Book") { $0.uniquenessConstraints = [["isOpen"]] },
            .unknownReference, "names isOpen, which is transient."),
        Fault(
            ModelChange("constraint on a composite", in: "Item") { $0.uniquenessConstraints = [["place"]] },
            .unknownReference, "names place, which is a composite."),
        Fault(
            ModelChange("empty constraint", in: "Book") { $0.uniquenessConstraints = [[]] },
            .unknownReference, "is empty. Add an attribute to the constraint"),
    ]

    @Test(arguments: faults)
    func aFaultIsNamedInASentence(_ fault: Fault) throws {
        let error = try requireThrows(ModelError.self) { try fault.change.model.validate() }
        #expect(error.code == fault.code)
        #expect(error.message.contains(fault.words))
        #expect(error.description.hasSuffix("."))
    }

    @Test func constraintsMayNameInheritedAttributesLeavesAndToOneRelationships() throws {
        try Library.editing("Book") { $0.uniquenessConstraints = [["uid", "place.shelf"], ["author"]] }.validate()
    }

    @Test func aRelationshipMayBeItsOwnInverse() throws {
        let friend = RelationshipDescription(
            name: "friends", destinationName: "Person", inverseName: "friends", isToMany: true, isOptional: true)
        let model = ManagedObjectModel(
            name: "People", entities: [EntityDescription(name: "Person", relationships: [friend])])
        try model.validate()
    }

    @Test func anInverseMayBeInherited() throws {
        try ManagedObjectModel(
            name: "Tree",
            entities: [
                EntityDescription(
                    name: "Owner",
                    relationships: [.init(name: "pet", destinationName: "Dog", inverseName: "owner", isOptional: true)]),
                EntityDescription(
                    name: "Animal",
                    relationships: [
                        .init(name: "owner", destinationName: "Owner", inverseName: "pet", isOptional: true)
                    ]),
                EntityDescription(name: "Dog", parentName: "Animal"),
            ]
        ).validate()
    }

    @Test func inheritanceBeyondAllMeasureIsRefused() throws {
        func chain(_ count: Int) -> ManagedObjectModel {
            let entities = (0..<count).map {
                EntityDescription(name: "E\($0)", parentName: $0 == 0 ? nil : "E\($0 - 1)")
            }
            return ManagedObjectModel(name: "Chain", entities: entities)
        }
        try chain(64).validate()
        expectThrows(ModelError.self) { try chain(65).validate() }
        let error = try requireThrows(ModelError.self) { try chain(10_000).validate() }
        #expect(error.code == .tooDeep)
    }

    @Test func compositesThatDoubleAtEachLevelAreRefusedAtOnce() throws {
        let composites = (0..<60).map { level in
            CompositeDescription(
                name: "C\(level)",
                attributes: ["a", "b"].map { .init(name: $0, type: .composite, compositeName: "C\(level + 1)") })
        }
        let model = ManagedObjectModel(
            name: "Doubling", entities: [],
            composites: composites + [CompositeDescription(name: "C60", attributes: [])])
        let error = try requireThrows(ModelError.self) { try model.validate() }
        #expect(error.code == .tooLarge)
    }

    @Test func moreColumnsThanATableHoldsAreRefused() throws {
        func wide(_ count: Int) -> ManagedObjectModel {
            let attributes = (0..<count).map { AttributeDescription(name: "a\($0)", type: .boolean) }
            return ManagedObjectModel(
                name: "Wide",
                entities: [
                    EntityDescription(name: "Parent", attributes: attributes),
                    EntityDescription(
                        name: "Zchild", parentName: "Parent",
                        attributes: [AttributeDescription(name: "one", type: .boolean)]),
                ])
        }
        try wide(1_999).validate()
        let error = try requireThrows(ModelError.self) { try wide(2_000).validate() }
        #expect(error.code == .tooLarge)
        #expect(error.entityName == "Zchild")
    }

    @Test func moreColumnsInAllThanAnyAppHasAreRefused() throws {
        func spread(_ count: Int) -> ManagedObjectModel {
            let attributes = (0..<1_000).map { AttributeDescription(name: "a\($0)", type: .boolean) }
            let children = (1..<count).map { EntityDescription(name: "E\($0)", parentName: "E0") }
            return ManagedObjectModel(
                name: "Spread", entities: [EntityDescription(name: "E0", attributes: attributes)] + children)
        }
        try spread(500).validate()
        let error = try requireThrows(ModelError.self) { try spread(501).validate() }
        #expect(error.code == .tooLarge)
    }
}
