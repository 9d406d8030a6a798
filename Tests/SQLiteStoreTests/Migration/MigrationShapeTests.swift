import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import Testing

/// A relationship that gets another shape keeps its links, or the migration says why not.
struct MigrationShapeTests {
    private typealias Shape = MigrationShapeTests

    /// People and cards, with these relationships between them.
    private static func model(
        person: [RelationshipDescription] = [], card: [RelationshipDescription] = []
    ) -> ManagedObjectModel {
        ManagedObjectModel(
            name: "",
            entities: [
                EntityDescription(name: "Card", relationships: card),
                EntityDescription(name: "Person", relationships: person),
            ])
    }

    private static let cards = "INSERT INTO Card (_key) VALUES (1), (2), (3)"
    private static let people = "INSERT INTO Person (_key) VALUES (4), (5)"

    private static let oneToOne = model(
        person: [relationship("card", "Card", "owner")], card: [relationship("owner", "Person", "card")])
    private static let oneToMany = model(
        person: [relationship("cards", "Card", "owner", isToMany: true, from: "card")],
        card: [relationship("owner", "Person", "cards")])
    /// Its to-many side is no predecessor of the to-one side.
    private static let otherOneToMany = model(
        person: [relationship("cards", "Card", "owner", isToMany: true)],
        card: [relationship("owner", "Person", "cards")])
    private static let manyToMany = model(
        person: [relationship("cards", "Card", "owners", isToMany: true)],
        card: [relationship("owners", "Person", "cards", isToMany: true, isOrdered: true)])

    /// Makes a store for the old model and opens it with the new one.
    private func migrated(
        _ old: ManagedObjectModel, _ sql: [String], to new: ManagedObjectModel
    ) throws -> (startup: StoreStartup, raw: RawDatabase) {
        let folder = try TemporaryFolder()
        try makeStore(folder, old, sql)
        return try migrate(folder, new)
    }

    private func uniqueIndexes(_ raw: RawDatabase) throws -> [String] {
        try raw.run("SELECT name FROM sqlite_schema WHERE name LIKE '\\_unique%' ESCAPE '\\' ORDER BY 1")
    }

    // MARK: One-to-one

    @Test func oneToOneBecomesOneToMany() throws {
        let (startup, raw) = try migrated(
            Shape.oneToOne, [Shape.people, "INSERT INTO Card VALUES (1, 5), (2, NULL), (3, 4)"], to: Shape.oneToMany)
        #expect(startup.fallback == nil)
        #expect(try raw.run("SELECT owner FROM Card ORDER BY _key") == ["5", "NULL", "4"])
        #expect(try uniqueIndexes(raw) == [])
        try raw.run("UPDATE Card SET owner = 5")
    }

    @Test func toManyDoesNotBecomeToOne() throws {
        let startup = try migrated(
            Shape.oneToMany, [Shape.cards],
            to: Shape.model(
                person: [relationship("card", "Card", "owner", from: "cards")],
                card: [relationship("owner", "Person", "card")])
        ).startup
        #expect(startup.fallback?.hasPrefix("Person.card: to-many -> to-one cannot be carried over.") == true)
    }

    @Test func aNewToOneInverseGetsTheLinksAndAUniqueIndex() throws {
        let (startup, raw) = try migrated(
            Shape.otherOneToMany, [Shape.people, "INSERT INTO Card VALUES (1, 5), (2, NULL), (3, 4)"],
            to: Shape.oneToOne)
        #expect(startup.fallback == nil)
        #expect(try raw.run("SELECT owner FROM Card ORDER BY _key") == ["5", "NULL", "4"])
        #expect(try uniqueIndexes(raw) == ["_unique \"Card\" (\"owner\")"])
    }

    @Test func aNewToOneInverseCannotHaveTwo() throws {
        for old in [Shape.otherOneToMany, Shape.model(card: [relationship("owner", "Person")])] {
            let (startup, _) = try migrated(
                old, [Shape.people, "INSERT INTO Card VALUES (1, 5), (2, NULL), (3, 5)"], to: Shape.oneToOne)
            #expect(
                startup.fallback
                    == "Card.owner: the relationship and Person.card are one-to-one now, and several objects would be linked "
                    + "to the same object. Make card to-many.")
            #expect(startup.rowsDropped == 5)
        }
    }

    /// By its new name the other side comes first.
    @Test func theColumnMovesToTheOtherSideWithANewName() throws {
        let new = ManagedObjectModel(
            name: "",
            entities: [
                EntityDescription(name: "Person", relationships: [relationship("card", "Ticket", "owner")]),
                EntityDescription(
                    name: "Ticket", relationships: [relationship("owner", "Person", "card")],
                    renamingIdentifier: "Card"),
            ])
        let (startup, raw) = try migrated(
            Shape.oneToOne, [Shape.people, "INSERT INTO Card VALUES (1, 5), (2, NULL), (3, 4)"], to: new)
        #expect(startup.fallback == nil)
        #expect(try raw.run("SELECT _key, card FROM Person ORDER BY 1") == ["4", "3", "5", "1"])
        #expect(try raw.run("SELECT * FROM Ticket ORDER BY 1") == ["1", "2", "3"])
        #expect(try uniqueIndexes(raw) == ["_unique \"Person\" (\"card\")"])
    }

    @Test func twoRelationshipsDoNotBecomeOne() throws {
        let old = Shape.model(
            person: [relationship("card", "Card")], card: [relationship("owner", "Person")])
        let startup = try migrated(old, [Shape.cards], to: Shape.oneToOne).startup
        #expect(startup.fallback?.contains("had separate links, which cannot be matched.") == true)
        #expect(startup.rowsDropped == 3)
    }

    @Test func theRestOfAOneToOneRelationshipKeepsItsLinks() throws {
        let rows = [Shape.people, "INSERT INTO Card VALUES (1, 5), (2, NULL), (3, 4)"]
        let left = try migrated(
            Shape.oneToOne, rows, to: Shape.model(card: [relationship("owner", "Person")])
        ).raw
        #expect(try left.run("SELECT owner FROM Card ORDER BY _key") == ["5", "NULL", "4"])
        #expect(try uniqueIndexes(left) == [])
        // The side that had no column gets one.
        let right = try migrated(
            Shape.oneToOne, rows, to: Shape.model(person: [relationship("card", "Card")])
        ).raw
        #expect(try right.run("SELECT card FROM Person ORDER BY _key") == ["3", "1"])
        let pairs = try migrated(Shape.oneToOne, rows, to: Shape.manyToManyFromOneToOne).raw
        #expect(try pairs.run("SELECT _source, _destination FROM _Card_owners ORDER BY 1") == ["1", "5", "3", "4"])
    }

    private static let manyToManyFromOneToOne = model(
        person: [relationship("cards", "Card", "owners", isToMany: true, from: "card")],
        card: [relationship("owners", "Person", "cards", isToMany: true, from: "owner")])

    // MARK: To-many

    @Test func toOneWithoutInverseBecomesToMany() throws {
        let (startup, raw) = try migrated(
            Shape.model(card: [relationship("owner", "Person")]),
            [Shape.people, "INSERT INTO Card VALUES (1, 5), (2, NULL), (3, 5)"],
            to: Shape.model(card: [relationship("owners", "Person", isToMany: true, from: "owner")]))
        #expect(startup.fallback == nil)
        #expect(try raw.run("SELECT _source, _destination FROM _Card_owners ORDER BY 1") == ["1", "5", "3", "5"])
        // Keys of their own, and the next ones behind them.
        #expect(
            try raw.run(
                "SELECT min(_key) > 5, max(_key) < (SELECT value FROM _metadata WHERE name = 'firstFreeKey') "
                    + "FROM _Card_owners") == ["1", "1"])
    }

    @Test func manyToManyLosesItsInverse() throws {
        let rows = [
            Shape.cards, Shape.people,
            "INSERT INTO _Card_owners (_key, _source, _destination, [_destination.position]) "
                + "VALUES (6, 1, 4, 3), (7, 1, 5, 1), (8, 2, 4, 0)",
        ]
        let owners = relationship("owners", "Person", isToMany: true, isOrdered: true)
        let cards = relationship("cards", "Card", isToMany: true)
        let (startup, raw) = try migrated(
            Shape.manyToMany, rows, to: Shape.model(person: [cards], card: [owners]))
        #expect(startup.fallback == nil)
        #expect(
            try raw.run("SELECT _source, _destination, [_destination.position] FROM _Card_owners ORDER BY 1, 3")
                == ["1", "5", "1", "1", "4", "3", "2", "4", "0"])
        #expect(
            try raw.run("SELECT _source, _destination FROM _Person_cards ORDER BY 1, 2") == [
                "4", "1", "4", "2", "5", "1",
            ])
        #expect(
            try raw.run("SELECT count(*) FROM (SELECT _key FROM _Card_owners UNION SELECT _key FROM _Person_cards)")
                == ["6"])
        let one = try migrated(Shape.manyToMany, rows, to: Shape.model(person: [cards])).raw
        #expect(try one.run("SELECT count(*) FROM _Person_cards") == ["3"])
    }

    @Test func placesFollowOneToManyIntoPairsAndBack() throws {
        func ordered(_ inverse: Bool) -> ManagedObjectModel {
            Shape.model(
                person: [relationship("cards", "Card", inverse ? "owner" : nil, isToMany: true, isOrdered: true)],
                card: inverse ? [relationship("owner", "Person", "cards")] : [])
        }
        let folder = try TemporaryFolder()
        try makeStore(
            folder, ordered(true),
            [Shape.people, "INSERT INTO Card (_key, owner, [owner.position]) VALUES (1, 4, 8), (2, 5, 2), (3, 4, 0)"])
        #expect(
            try migrate(folder, ordered(false)).raw.run(
                "SELECT _source, _destination, [_destination.position] FROM _Person_cards ORDER BY 1, 3") == [
                    "4", "3", "0", "4", "1", "8", "5", "2", "2",
                ])
        let (startup, raw) = try migrate(folder, ordered(true))
        #expect(startup.fallback == nil)
        #expect(
            try raw.run("SELECT owner, [owner.position] FROM Card ORDER BY _key") == ["4", "8", "5", "2", "4", "0"])
        // A change to something else takes them along.
        let wider = ordered(true).changed { model in
            model.edit("Card") {
                $0.attributes.append(AttributeDescription(name: "code", type: .string, isOptional: true))
            }
        }
        #expect(
            try migrate(folder, wider).raw.run("SELECT owner, [owner.position] FROM Card ORDER BY _key") == [
                "4", "8", "5", "2", "4", "0",
            ])
    }

    // MARK: Its own inverse

    private static func couples(_ inverse: String?) -> ManagedObjectModel {
        model(person: [relationship("spouse", "Person", inverse)])
    }

    @Test func aRelationshipThatBecomesItsOwnInverseIsSeenFromBothEnds() throws {
        let (startup, raw) = try migrated(
            Shape.couples(nil), ["INSERT INTO Person VALUES (1, 2), (2, NULL), (3, 4), (4, 3), (5, 5)"],
            to: Shape.couples("spouse"))
        #expect(startup.fallback == nil)
        #expect(try raw.run("SELECT spouse FROM Person ORDER BY _key") == ["2", "1", "4", "3", "5"])
        #expect(try uniqueIndexes(raw) == ["_unique \"Person\" (\"spouse\")"])
        let again = try migrated(
            Shape.couples("spouse"), ["INSERT INTO Person VALUES (1, 2), (2, 1)"], to: Shape.couples(nil)
        ).raw
        #expect(try again.run("SELECT spouse FROM Person ORDER BY _key") == ["2", "1"])
    }

    @Test(arguments: ["(1, 2), (2, 3), (3, NULL)", "(1, 2), (2, NULL), (3, 2)", "(1, 1), (2, 1)"])
    func nobodyGetsTwoSpouses(rows: String) throws {
        let (startup, _) = try migrated(
            Shape.couples(nil), ["INSERT INTO Person VALUES \(rows)"], to: Shape.couples("spouse"))
        #expect(
            startup.fallback?.hasPrefix("Person.spouse: the relationship and Person.spouse are one-to-one now") == true)
    }

    @Test func friendsBecomeMutual() throws {
        func friends(_ inverse: String?) -> ManagedObjectModel {
            Shape.model(person: [relationship("friends", "Person", inverse, isToMany: true)])
        }
        let folder = try TemporaryFolder()
        try makeStore(
            folder, friends(nil),
            [Shape.people, "INSERT INTO _Person_friends (_key, _source, _destination) VALUES (6, 4, 5), (7, 5, 5)"])
        let (startup, raw) = try migrate(folder, friends("friends"))
        #expect(startup.fallback == nil)
        #expect(
            try raw.run("SELECT _source, _destination FROM _Person_friends ORDER BY 1, 2") == [
                "4", "5", "5", "4", "5", "5",
            ])
    }
}
