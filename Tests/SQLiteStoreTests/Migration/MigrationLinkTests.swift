import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import Testing

/// The columns and pairs of relationships lead to the same objects afterwards.
struct MigrationLinkTests {
    private static func entity(
        _ name: String, parent: String? = nil, _ relationships: [RelationshipDescription] = []
    ) -> EntityDescription {
        EntityDescription(
            name: name, parentName: parent,
            attributes: parent == nil ? [AttributeDescription(name: "name", type: .string, isOptional: true)] : [],
            relationships: relationships)
    }

    /// People live in a town or a capital, know people, and are guests of visits in an order.
    private static let model = ManagedObjectModel(
        name: "World",
        entities: [
            entity(
                "Person",
                [
                    relationship("home", "Town", "people"), relationship("friends", "Person", isToMany: true),
                    relationship("visits", "Visit", "guests", isToMany: true),
                ]),
            entity("Town", [relationship("people", "Person", "home", isToMany: true)]),
            entity("Capital", parent: "Town"),
            entity("Visit", [relationship("guests", "Person", "visits", isToMany: true, isOrdered: true)]),
            entity("Dog", [relationship("likes", "Town", isToMany: true)]),
        ])

    // Capital 0, Dog 1, Person 2, Town 3, Visit 4.
    private static let rows = [
        "INSERT INTO Capital (_key, name) VALUES (1, 'Luoyang')",
        "INSERT INTO Town (_key, name) VALUES (2, 'Xiaopei')",
        "INSERT INTO Person (_key, name, home, [home.entity]) VALUES (3, 'Liu Bei', 2, 3), (4, 'Cao Cao', 1, 0), "
            + "(5, 'Zhang Fei', NULL, NULL)",
        "INSERT INTO _Person_friends (_key, _source, _destination) VALUES (20, 3, 5), (21, 5, 3), (22, 4, 4)",
        "INSERT INTO Visit (_key) VALUES (6), (7)",
        "INSERT INTO _Person_visits (_key, _source, _destination, [_source.position]) VALUES (23, 3, 6, 1), "
            + "(24, 5, 6, 0), (25, 4, 7, 0)",
        "INSERT INTO Dog (_key) VALUES (8)",
        "INSERT INTO _Dog_likes (_key, _source, _destination, [_destination.entity]) VALUES (26, 8, 1, 0), (27, 8, 2, 3)",
    ]

    private func migrated(
        keys: [String: String] = [:], _ change: (inout ManagedObjectModel) -> Void
    ) throws -> (startup: StoreStartup, raw: RawDatabase) {
        let folder = try TemporaryFolder()
        try makeStore(folder, MigrationLinkTests.model, MigrationLinkTests.rows)
        let (startup, raw) = try migrate(folder, MigrationLinkTests.model.changed(change), keys: keys)
        #expect(startup.fallback == nil)
        return (startup, raw)
    }

    private typealias Link = MigrationLinkTests

    @Test func theNumbersOfEntitiesFollowTheNewModel() throws {
        let raw = try migrated { $0.entities.append(Link.entity("Animal")) }.raw
        #expect(
            try raw.run("SELECT home, [home.entity] FROM Person ORDER BY _key") == ["2", "4", "1", "1", "NULL", "NULL"])
        #expect(
            try raw.run("SELECT _destination, [_destination.entity] FROM _Dog_likes ORDER BY 1") == [
                "1", "1", "2", "4",
            ])
        #expect(
            try raw.run("SELECT _source, _destination FROM _Person_friends ORDER BY 1") == [
                "3", "5", "4", "4", "5", "3",
            ])
    }

    @Test func linksToWhatIsGoneAreGone() throws {
        let (startup, raw) = try migrated { $0.entities.removeAll { $0.name == "Capital" } }
        #expect(startup.rowsDropped == 1)
        #expect(try raw.run("SELECT home FROM Person ORDER BY _key") == ["2", "NULL", "NULL"])
        #expect(try raw.run("SELECT _destination FROM _Dog_likes") == ["2"])
    }

    @Test func renamedEntitiesAndRelationshipsKeepTheirLinks() throws {
        let (startup, raw) = try migrated {
            $0.edit("Person") {
                $0.name = "Zed"
                $0.renamingIdentifier = "Person"
                $0.relationships = [
                    relationship("town", "Place", "people", from: "home"),
                    relationship("mates", "Zed", isToMany: true, from: "friends"),
                    relationship("visits", "Visit", "visitors", isToMany: true),
                ]
            }
            $0.edit("Town") {
                $0.name = "Place"
                $0.renamingIdentifier = "Town"
                $0.relationships[0].destinationName = "Zed"
                $0.relationships[0].inverseName = "town"
            }
            $0.edit("Capital") { $0.parentName = "Place" }
            $0.edit("Dog") { $0.relationships[0].destinationName = "Place" }
            $0.edit("Visit") {
                $0.relationships = [
                    relationship("visitors", "Zed", "visits", isToMany: true, isOrdered: true, from: "guests")
                ]
            }
        }
        #expect(startup.migration?.rowsCarried == 8)
        // Capital 0, Dog 1, Place 2, Visit 3, Zed 4; the pairs of a visit stand the other way round.
        #expect(
            try raw.run("SELECT town, [town.entity] FROM Zed ORDER BY _key") == ["2", "2", "1", "0", "NULL", "NULL"])
        #expect(
            try raw.run("SELECT _source, _destination FROM _Zed_mates ORDER BY 1") == ["3", "5", "4", "4", "5", "3"])
        #expect(
            try raw.run("SELECT _source, _destination, [_destination.position] FROM _Visit_visitors ORDER BY 1, 3")
                == ["6", "5", "0", "6", "3", "1", "7", "4", "0"])
        #expect(try raw.run("SELECT [_destination.entity] FROM _Dog_likes ORDER BY _destination") == ["0", "2"])
    }

    @Test func aToOneRelationshipBecomesToMany() throws {
        let raw = try migrated {
            $0.edit("Person") {
                $0.relationships[0] = relationship("homes", "Town", "people", isToMany: true, from: "home")
            }
            $0.edit("Town") { $0.relationships[0].inverseName = "homes" }
        }.raw
        #expect(
            try raw.run("SELECT _source, _destination, [_destination.entity] FROM _Person_homes ORDER BY 1")
                == ["3", "2", "3", "4", "1", "0"])
    }

    @Test func withoutItsInverseAToManyRelationshipHasPairs() throws {
        let raw = try migrated {
            $0.edit("Person") { $0.relationships.removeFirst() }
            $0.edit("Town") { $0.relationships[0].inverseName = nil }
        }.raw
        #expect(
            try raw.run("SELECT _source, [_source.entity], _destination FROM _Town_people ORDER BY 1")
                == ["1", "0", "4", "2", "3", "3"])
    }

    @Test func aNewInverseGetsTheLinks() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder, Link.model, Link.rows)
        let new = Link.model.changed {
            $0.edit("Dog") { $0.relationships = [relationship("likes", "Town", "liker", isToMany: true)] }
            $0.edit("Town") { $0.relationships.append(relationship("liker", "Dog", "likes")) }
        }
        let (startup, raw) = try migrate(folder, new)
        #expect(startup.migration?.rowsCarried == 8)
        #expect(try raw.run("SELECT liker FROM Town UNION ALL SELECT liker FROM Capital") == ["8", "8"])
        // Back again: what a column has becomes pairs.
        #expect(
            try migrate(folder, Link.model).raw
                .run("SELECT _source, _destination, [_destination.entity] FROM _Dog_likes ORDER BY 2")
                == ["8", "1", "0", "8", "2", "3"])
    }

    @Test func aNewToOneInverseCannotHoldTwo() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder, Link.model, Link.rows + ["INSERT INTO Dog (_key) VALUES (9)"])
        try RawDatabase(folder.store).run("INSERT INTO _Dog_likes VALUES (28, 2, 3, 9)")
        let new = Link.model.changed {
            $0.edit("Dog") { $0.relationships = [relationship("likes", "Town", "liker", isToMany: true)] }
            $0.edit("Town") { $0.relationships.append(relationship("liker", "Dog", "likes")) }
        }
        let startup = try migrate(folder, new).startup
        #expect(
            startup.fallback?.hasPrefix(
                "Town.liker: the relationship is to-one, and objects would have more than one link")
                == true)
        #expect(startup.rowsDropped == 9 && startup.migration == nil)
    }

    @Test func orderIsKeptWhereItWas() throws {
        let raw = try migrated {
            $0.edit("Person") { $0.relationships[1].isOrdered = true }
            $0.edit("Visit") { $0.attributes.append(AttributeDescription(name: "day", type: .date, isOptional: true)) }
        }.raw
        #expect(try raw.run("SELECT count(*) FROM _Person_friends WHERE [_destination.position] IS NULL") == ["3"])
        #expect(
            try raw.run("SELECT _source FROM _Person_visits WHERE _destination = 6 ORDER BY [_source.position]") == [
                "5", "3",
            ])
    }

    @Test func orderCanBeGivenUp() throws {
        let raw = try migrated { $0.edit("Visit") { $0.relationships[0].isOrdered = false } }.raw
        #expect(
            try raw.run("SELECT _source, _destination FROM _Person_visits ORDER BY 1") == [
                "3", "6", "4", "7", "5", "6",
            ])
    }

    /// Two entities get a parent, and their relationships become one of its.
    @Test func relationshipsMoveUpIntoOne() throws {
        func model(_ isUp: Bool) -> ManagedObjectModel {
            let links = [relationship("at", "Place"), relationship("near", "Place", isToMany: true)]
            let attribute = AttributeDescription(name: "size", type: .integer64, isOptional: true)
            return ManagedObjectModel(
                name: "",
                entities: [
                    EntityDescription(
                        name: "Base", attributes: isUp ? [attribute] : [], relationships: isUp ? links : []),
                    EntityDescription(
                        name: "One", parentName: "Base", attributes: isUp ? [] : [attribute],
                        relationships: isUp ? [] : links),
                    EntityDescription(
                        name: "Two", parentName: "Base", attributes: isUp ? [] : [attribute],
                        relationships: isUp ? [] : links),
                    EntityDescription(name: "Place"),
                ])
        }
        let folder = try TemporaryFolder()
        try makeStore(
            folder, model(false),
            [
                "INSERT INTO Place (_key) VALUES (1), (2)", "INSERT INTO One (_key, at, size) VALUES (3, 1, 30)",
                "INSERT INTO Two (_key, at, size) VALUES (4, 2, 40)",
                "INSERT INTO _One_near (_key, _source, _destination) VALUES (10, 3, 1), (11, 3, 2)",
                "INSERT INTO _Two_near (_key, _source, _destination) VALUES (12, 4, 2)",
            ])
        let raw = try migrate(folder, model(true)).raw
        #expect(try raw.run("SELECT at, size FROM One UNION ALL SELECT at, size FROM Two") == ["1", "30", "2", "40"])
        // Base 0, One 1, Place 2, Two 3.
        #expect(
            try raw.run("SELECT _source, [_source.entity], _destination FROM _Base_near ORDER BY 1, 3")
                == ["3", "1", "1", "3", "1", "2", "4", "3", "2"])
        // And down again.
        let after = try migrate(folder, model(false)).raw
        #expect(
            try after.run(
                "SELECT _source, _destination FROM _One_near UNION ALL SELECT _source, _destination FROM _Two_near")
                == [
                    "3", "1", "3", "2", "4", "2",
                ])
    }

    /// Another key of a data source is about its rows; the rest is carried over.
    @Test func theKeyOfADataSourceDropsItsRows() throws {
        let (startup, raw) = try migrated(keys: ["Capital": "7"]) {
            $0.edit("Person") {
                $0.attributes.append(AttributeDescription(name: "age", type: .integer64, isOptional: true))
            }
        }
        #expect(startup.migration?.rowsCarried == 7)
        #expect(startup.rowsDropped == 1)
        #expect(startup.entitiesReset == ["Capital"])
        #expect(try raw.run("SELECT home FROM Person ORDER BY _key") == ["2", "NULL", "NULL"])
        #expect(try raw.run("SELECT _destination FROM _Dog_likes") == ["2"])
        #expect(try raw.run("SELECT count(*) FROM Capital") == ["0"])
    }

    @Test func anEntityCanMoveOutOfItsHierarchy() throws {
        let raw = try migrated {
            $0.edit("Capital") {
                $0.parentName = nil
                $0.attributes = [AttributeDescription(name: "name", type: .string, isOptional: true)]
            }
        }.raw
        #expect(try raw.run("SELECT name FROM Capital") == ["Luoyang"])
        // A home is a town, and a capital is none any more.
        #expect(try raw.run("SELECT home FROM Person ORDER BY _key") == ["2", "NULL", "NULL"])
    }

    /// What a key drops is no obstacle for what is left.
    @Test func noLinkIsLeftWhereAKeyDropsTheOnlyDestination() throws {
        let (startup, raw) = try migrated(keys: ["Town": "7"]) {
            $0.edit("Capital") {
                $0.parentName = nil
                $0.attributes = [AttributeDescription(name: "name", type: .string, isOptional: true)]
            }
        }
        #expect(startup.migration != nil && startup.entitiesReset == ["Town"])
        #expect(try raw.run("SELECT name FROM Capital") == ["Luoyang"])
        #expect(try raw.run("SELECT home FROM Person ORDER BY _key") == ["NULL", "NULL", "NULL"])
    }
}
