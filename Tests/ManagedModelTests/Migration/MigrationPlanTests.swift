import ManagedModel
@testable import ModelMigration
import Testing

/// What a lightweight migration can do, and what it cannot.
@Suite struct MigrationPlanTests {
    private static func attribute(
        _ name: String, _ type: AttributeType = .string, isOptional: Bool = true, default value: AttributeValue? = nil
    ) -> AttributeDescription {
        AttributeDescription(name: name, type: type, isOptional: isOptional, defaultValue: value)
    }

    private static func relationship(
        _ name: String, _ destination: String, _ inverse: String? = nil, isToMany: Bool = false
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name, destinationName: destination, inverseName: inverse, isToMany: isToMany, isOptional: true)
    }

    static let old = ManagedObjectModel(
        name: "Old",
        entities: [
            EntityDescription(
                name: "Contact",
                attributes: [attribute("name"), attribute("age", .integer64, isOptional: false), attribute("nick")],
                relationships: [
                    relationship("home", "Town", "people"), relationship("friends", "Contact", isToMany: true),
                ],
                uniquenessConstraints: [["name"]]),
            EntityDescription(
                name: "Town", attributes: [attribute("name")],
                relationships: [relationship("people", "Contact", "home", isToMany: true)]),
            EntityDescription(name: "Item", attributes: [attribute("code")]),
            EntityDescription(name: "Book", parentName: "Item", attributes: [attribute("pages", .integer32)]),
            EntityDescription(name: "Disc", parentName: "Item", attributes: [attribute("pages", .integer32)]),
            EntityDescription(name: "Animal", attributes: [attribute("legs", .integer16)]),
            EntityDescription(name: "Bird", parentName: "Animal"),
        ])

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var model = MigrationPlanTests.old
        /// The beginnings of the obstacles, and of the problems of the conditions.
        var obstacles: [String] = []
        var conditions: [String] = []

        init(
            _ words: String, obstacles: [String] = [], conditions: [String] = [],
            _ edit: (inout ManagedObjectModel) -> Void
        ) {
            testDescription = words
            edit(&model)
            model.entities.sort { $0.name < $1.name }
            self.obstacles = obstacles
            self.conditions = conditions
        }

        /// An edit of one entity.
        init(
            _ words: String, in entity: String, obstacles: [String] = [], conditions: [String] = [],
            _ edit: (inout EntityDescription) -> Void
        ) {
            self.init(words, obstacles: obstacles, conditions: conditions) { $0.edit(entity, edit) }
        }
    }

    static let cases: [Case] = [
        Case("nothing") { _ in },
        Case("an attribute is new", in: "Contact") { $0.attributes.append(attribute("mail")) },
        Case("an attribute is gone", in: "Contact") { $0.attributes.removeLast() },
        Case("required -> optional", in: "Contact") { $0.attributes[1].isOptional = true },
        Case("optional -> required, with a default", in: "Contact") {
            $0.attributes[2].isOptional = false
            $0.attributes[2].defaultValue = .string("")
        },
        Case("the same where it must be unique", in: "Contact", conditions: ["Contact: objects have the same name"]) {
            $0.attributes[0].isOptional = false
            $0.attributes[0].defaultValue = .string("")
        },
        Case(
            "optional -> required, without one", in: "Contact",
            conditions: ["Contact.name: the attribute is required now"]
        ) { $0.attributes[0].isOptional = false },
        Case("a new one is required, with a default", in: "Contact") {
            $0.attributes.append(attribute("mail", isOptional: false, default: .string("")))
        },
        Case(
            "a new one is required, without one", in: "Contact",
            conditions: ["Contact.mail: the attribute is new and required"]
        ) { $0.attributes.append(attribute("mail", isOptional: false)) },
        Case(
            "another type", in: "Contact",
            obstacles: ["Contact.age: Integer 64 -> Integer 32 cannot be carried over. Keep the type"]
        ) { $0.attributes[1].type = .integer32 },
        Case("a wider type", in: "Book") { $0.attributes[0].type = .integer64 },
        Case("a wider type that is stored in another way", in: "Book") { $0.attributes[0].type = .decimal },
        Case(
            "a wider type that is not always exact", in: "Contact",
            conditions: ["Contact.age: an object has a value that Double cannot hold exactly"]
        ) { $0.attributes[1].type = .double },
        Case("a wider type where it must be unique", in: "Contact", conditions: ["Contact: objects have the same age"])
        {
            $0.attributes[1].type = .decimal
            $0.uniquenessConstraints = [["name"], ["age"]]
        },
        Case("another type and another name", in: "Contact") {
            $0.attributes[1].type = .string
            $0.attributes[1].isOptional = true
            $0.attributes[1].name = "years"
        },
        Case("an attribute is renamed", in: "Contact") {
            $0.attributes[2].name = "alias"
            $0.attributes[2].renamingIdentifier = "nick"
        },
        Case(
            "two attributes are renamed from one", in: "Contact",
            obstacles: ["Contact.alias and Contact.handle have the same renaming identifier"]
        ) {
            $0.attributes[2].name = "alias"
            $0.attributes[2].renamingIdentifier = "nick"
            $0.attributes.append($0.attributes[2])
            $0.attributes[3].name = "handle"
        },
        Case("an attribute becomes transient", in: "Contact") { $0.attributes[2].isTransient = true },
        Case("derived from what is there", in: "Contact") {
            $0.attributes[2].derivationExpression = "canonical:(name)"
            $0.attributes[2].isOptional = true
        },
        Case(
            "derived from what is not in the row", in: "Contact",
            obstacles: ["Contact.nick: the derivation home.name"]
        ) { $0.attributes[2].derivationExpression = "home.name" },
        Case("a new one that is not in the row", in: "Contact") {
            $0.attributes.append(attribute("town"))
            $0.attributes[3].derivationExpression = "home.name"
        },
        Case(
            "no longer optional relationship", in: "Contact",
            conditions: [
                "Contact.home: the relationship leads to at least 1 object now, and some objects have no link."
            ]
        ) { $0.relationships[0].isOptional = false },
        Case(
            "a bounded relationship", in: "Contact",
            conditions: [
                "Contact.friends: the relationship leads to no object, or at least 2 and at most 3 objects now"
            ]
        ) { ($0.relationships[1].minimumCount, $0.relationships[1].maximumCount) = (2, 3) },
        Case(
            "a required relationship is new", in: "Town",
            conditions: ["Town.mayor: the relationship leads to at least 1 object now"]
        ) {
            $0.relationships.append(relationship("mayor", "Contact"))
            $0.relationships[1].isOptional = false
        },
        Case("a relationship is new", in: "Contact") { $0.relationships.append(relationship("boss", "Contact")) },
        Case("a relationship is gone", in: "Contact") { $0.relationships.removeLast() },
        Case("a relationship is renamed", in: "Contact") {
            $0.relationships[1].name = "mates"
            $0.relationships[1].renamingIdentifier = "friends"
        },
        Case("ordered", in: "Contact") { $0.relationships[1].isOrdered = true },
        Case("to-one -> to-many") {
            $0.edit("Contact") { $0.relationships[0].isToMany = true }
        },
        Case(
            "to-many -> to-one", in: "Contact", obstacles: ["Contact.friends: to-many -> to-one cannot be carried over"]
        ) { $0.relationships[1].isToMany = false },
        Case(
            "one-to-many -> one-to-one", in: "Town", obstacles: ["Town.people: to-many -> to-one"],
            conditions: ["Contact.home: the relationship and Town.people are one-to-one now"]
        ) { $0.relationships[0].isToMany = false },
        Case(
            "another inverse, and to-one",
            conditions: ["Contact.home: the relationship and Town.mayor are one-to-one now"]
        ) {
            $0.edit("Contact") { $0.relationships[0].inverseName = "mayor" }
            $0.edit("Town") { $0.relationships = [relationship("mayor", "Contact", "home")] }
        },
        Case("its own inverse, and to-many", in: "Contact") { $0.relationships[1].inverseName = "friends" },
        Case("an inverse is gone") {
            $0.edit("Contact") { $0.relationships[0].inverseName = nil }
            $0.edit("Town") { $0.relationships.removeAll() }
        },
        Case(
            "an inverse is new, and to-one",
            conditions: ["Contact.friendOf: the relationship is to-one, and objects would have more"]
        ) {
            $0.edit("Contact") {
                $0.relationships[1].inverseName = "friendOf"
                $0.relationships.append(relationship("friendOf", "Contact", "friends"))
            }
        },
        Case("another destination", obstacles: ["Contact.home: destination Town -> Animal cannot be"]) {
            $0.edit("Contact") {
                $0.relationships[0].destinationName = "Animal"
                $0.relationships[0].inverseName = nil
            }
            $0.edit("Town") { $0.relationships.removeAll() }
        },
        Case("the destination's parent") {
            $0.entities.append(EntityDescription(name: "Place"))
            $0.edit("Town") {
                $0.parentName = "Place"
                $0.relationships.removeAll()
            }
            $0.edit("Contact") {
                $0.relationships[0].destinationName = "Place"
                $0.relationships[0].inverseName = nil
            }
        },
        Case(
            "an attribute becomes a relationship", in: "Contact", obstacles: ["Contact.nick: attribute -> relationship"]
        ) {
            $0.attributes.removeLast()
            $0.relationships.append(relationship("nick", "Town"))
        },
        Case("an attribute becomes a composite", obstacles: ["Contact.nick: attribute -> composite"]) {
            $0.composites = [CompositeDescription(name: "Nick", attributes: [attribute("first")])]
            $0.edit("Contact") {
                $0.attributes[2].type = .composite
                $0.attributes[2].compositeName = "Nick"
            }
        },
        Case("an entity is new") { $0.entities.append(EntityDescription(name: "Visit")) },
        Case("an entity is gone") {
            $0.entities.removeAll { $0.name == "Town" }
            $0.edit("Contact") { $0.relationships.removeFirst() }
        },
        Case("an entity is renamed") {
            $0.edit("Disc") {
                $0.name = "Record"
                $0.renamingIdentifier = "Disc"
            }
        },
        Case("a parent is new") {
            $0.entities.append(EntityDescription(name: "Base", isAbstract: true))
            $0.edit("Contact") { $0.parentName = "Base" }
        },
        Case("a parent is gone") {
            $0.edit("Book") { $0.parentName = nil }
            $0.edit("Disc") { $0.parentName = nil }
        },
        Case("a child is new") { $0.entities.append(EntityDescription(name: "Film", parentName: "Item")) },
        Case("an attribute moves up") {
            $0.edit("Book") { $0.attributes.removeAll() }
            $0.edit("Disc") { $0.attributes.removeAll() }
            $0.edit("Item") { $0.attributes.append(attribute("pages", .integer32)) }
        },
        Case("an attribute moves down") {
            $0.edit("Item") { $0.attributes.removeAll() }
            $0.edit("Book") { $0.attributes.append(attribute("code")) }
        },
        Case("an entity moves in") { $0.edit("Town") { $0.parentName = "Item" } },
        Case("an entity moves out") { $0.edit("Disc") { $0.parentName = nil } },
        Case(
            "two hierarchies become one",
            obstacles: ["Book: the hierarchies of Animal and Item cannot both become the hierarchy of Item"]
        ) { $0.edit("Animal") { $0.parentName = "Item" } },
        Case("an entity becomes abstract", conditions: ["Item: the entity is abstract now"]) {
            $0.edit("Item") { $0.isAbstract = true }
        },
        Case("a constraint is gone", in: "Contact") { $0.uniquenessConstraints = [] },
        Case("a constraint is new", conditions: ["Town: objects have the same name"]) {
            $0.edit("Town") { $0.uniquenessConstraints = [["name"]] }
        },
        Case("a constraint is wider", in: "Contact") { $0.uniquenessConstraints = [["name", "age"]] },
        Case(
            "a constraint is narrower", in: "Contact", conditions: ["Contact: objects have the same age"]
        ) { $0.uniquenessConstraints = [["age"]] },
        Case(
            "a constraint holds in one more entity",
            conditions: ["Town.age: the attribute is new and required", "Contact: objects have the same name"]
        ) {
            $0.edit("Town") {
                $0.parentName = "Contact"
                $0.attributes.removeAll()
                $0.attributes.append(attribute("size"))
            }
        },
    ]

    @Test(arguments: cases)
    func possibleMigrationsArePlannedAndOthersRefused(_ change: Case) throws {
        try change.model.validate()
        let plan = MigrationPlan(from: MigrationPlanTests.old, to: change.model)
        #expect(plan.obstacles.count == change.obstacles.count, "\(plan.obstacles)")
        for (one, other) in zip(plan.obstacles.sorted(), change.obstacles.sorted()) {
            #expect(one.hasPrefix(other), "\(one)")
            #expect(one.hasSuffix("."))
        }
        let conditions = plan.conditions.filter { !$0.isExpected }
        #expect(conditions.count == change.conditions.count, "\(plan.conditions)")
        for (condition, beginning) in zip(conditions, change.conditions) {
            #expect(condition.problem.hasPrefix(beginning), "\(condition.problem)")
        }
        if change.testDescription == "nothing" { #expect(plan.changes == []) } else { #expect(plan.changes != []) }
    }

    @Test func renamedPropertiesAreReported() {
        var model = MigrationPlanTests.old
        model.edit("Contact") {
            $0.name = "Person"
            $0.renamingIdentifier = "Contact"
            $0.attributes[0].name = "fullName"
            $0.attributes[0].renamingIdentifier = "name"
            $0.uniquenessConstraints = [["fullName"]]
            $0.relationships[1].destinationName = "Person"
            $0.attributes.append(MigrationPlanTests.attribute("mail"))
        }
        model.edit("Town") { $0.relationships[0].destinationName = "Person" }
        let plan = MigrationPlan(from: MigrationPlanTests.old, to: model)
        #expect(
            plan.changes.map(\.description) == [
                "Person: renamed from Contact", "Person.fullName: renamed from name",
                "Person.mail: added (String, optional)",
            ])
        #expect(plan.losses == [])
        #expect(plan.obstacles == [] && plan.conditions == [])
    }

    @Test func linksThatHaveAnInverseAreLostOnce() {
        var model = MigrationPlanTests.old
        model.edit("Contact") { $0.relationships.removeFirst() }
        model.edit("Town") { $0.relationships.removeAll() }
        let plan = MigrationPlan(from: MigrationPlanTests.old, to: model)
        #expect(plan.losses.map { [$0.entityName, $0.propertyName] } == [["Contact", "home"]])
    }

    @Test func aWiderNumberThatIsRequiredNowKeepsItsWideningBesideTheDefault() throws {
        var model = MigrationPlanTests.old
        model.edit("Book") {
            $0.attributes[0] = MigrationPlanTests.attribute(
                "pages", .double, isOptional: false, default: .double(1.5))
        }
        let plan = MigrationPlan(from: MigrationPlanTests.old, to: model)
        let book = try #require(plan.entities.first { $0.newName == "Book" })
        #expect(book.attributes.values.contains(.widenedOrDefault(1, .double)))
        #expect(plan.obstacles == [])
    }

    /// A circle has nothing to begin with; a copy of a copy has what is copied.
    @Test func copiesOfCopiesAreMadeAnewAndCirclesAreNot() throws {
        var model = MigrationPlanTests.old
        model.edit("Animal") {
            for (name, expression) in [("one", "other"), ("other", "one"), ("again", "legs"), ("last", "again")] {
                var attribute = MigrationPlanTests.attribute(name, .integer16)
                attribute.derivationExpression = expression
                $0.attributes.append(attribute)
            }
        }
        let plan = MigrationPlan(from: MigrationPlanTests.old, to: model)
        let animal = try #require(plan.entities.first { $0.newName == "Animal" })
        #expect(animal.attributes == [0: .column(0), 1: .nothing, 2: .nothing, 3: .copy(0), 4: .copy(0)])
    }

    @Test func aRenamedLeafOfACompositeIsFound() throws {
        func model(_ leaf: AttributeDescription, _ attribute: AttributeDescription) -> ManagedObjectModel {
            ManagedObjectModel(
                name: "", entities: [EntityDescription(name: "A", attributes: [attribute])],
                composites: [CompositeDescription(name: "Place", attributes: [leaf])])
        }
        let old = model(
            AttributeDescription(name: "town", type: .string),
            AttributeDescription(name: "home", type: .composite, compositeName: "Place"))
        let new = model(
            AttributeDescription(name: "city", type: .string, renamingIdentifier: "town"),
            AttributeDescription(
                name: "address", type: .composite, compositeName: "Place", renamingIdentifier: "home"))
        let plan = MigrationPlan(from: old, to: new)
        #expect(plan.entities.first?.attributes == [0: .column(0)])
        #expect(plan.obstacles == [])
    }
}

extension ManagedObjectModel {
    fileprivate mutating func edit(_ name: String, _ edit: (inout EntityDescription) -> Void) {
        for index in entities.indices where entities[index].name == name { edit(&entities[index]) }
    }
}
