import ErrorExpectations
import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import Testing

/// Only what changed is reset.
struct EntityResetTests {
    /// People live in a town, towns have twins, people have friends; a shape is a circle or a square.
    private static let model = ManagedObjectModel(
        name: "World",
        entities: [
            EntityDescription(
                name: "Person", attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)],
                relationships: [relationship("home", "Town"), relationship("friends", "Person", isToMany: true)],
                uniquenessConstraints: [["name"]]),
            EntityDescription(
                name: "Town", attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)],
                relationships: [relationship("twins", "Town", isToMany: true)]),
            EntityDescription(
                name: "Visit", attributes: [AttributeDescription(name: "day", type: .integer64, isOptional: true)],
                relationships: [relationship("guests", "Person", isToMany: true)]),
        ])

    private func options(
        _ folder: TemporaryFolder, _ model: ManagedObjectModel, keys: [String: String] = [:]
    ) -> SQLiteStore.Options {
        SQLiteStore.Options(
            url: folder.store, layout: ModelLayout(model),
            identity: StoreIdentity(
                modelHash: model.hash.description, entityHashes: model.entityHashes.mapValues(\.description),
                databaseKey: "", entityKeys: keys), resetPolicy: .changedEntities)
    }

    private func fill(_ folder: TemporaryFolder) throws {
        try SQLiteStore.open(options(folder, EntityResetTests.model)).close()
        let raw = try RawDatabase(folder.store)
        for sql in [
            "INSERT INTO Town (_key, name) VALUES (1, 'Xiaopei'), (2, 'Jingzhou')",
            "INSERT INTO Person (_key, name, home) VALUES (3, 'Liu Bei', 1), (4, 'Guan Yu', 2), (5, 'Zhang Fei', NULL)",
            "INSERT INTO Visit (_key, day) VALUES (6, 1)",
            "INSERT INTO _Person_friends (_key, _source, _destination) VALUES (7, 3, 4), (8, 4, 5)",
            "INSERT INTO _Town_twins (_key, _source, _destination) VALUES (9, 1, 2)",
            "INSERT INTO _Visit_guests (_key, _source, _destination) VALUES (10, 6, 3)",
        ] { try raw.run(sql) }
        try raw.run("UPDATE _metadata SET value = 500 WHERE name = 'firstFreeKey'")
    }

    /// Opens with the change, and expects a store that the next start takes for current.
    private func reopen(
        _ folder: TemporaryFolder, keys: [String: String] = [:], _ change: (inout ManagedObjectModel) -> Void
    ) throws -> (startup: StoreStartup, raw: RawDatabase) {
        var model = EntityResetTests.model
        change(&model)
        let store = try SQLiteStore.open(options(folder, model, keys: keys))
        #expect(store.firstFreeKey >= 500)
        store.close()
        let again = try SQLiteStore.open(options(folder, model, keys: keys))
        #expect(again.startup.reason == .current)
        again.close()
        try checkIntegrity(folder)
        return (store.startup, try RawDatabase(folder.store))
    }

    @Test func theRowsOfOtherEntitiesAndTheirLinksStay() throws {
        let folder = try TemporaryFolder()
        try fill(folder)
        let (startup, raw) = try reopen(folder) {
            $0.entities[1].attributes.append(AttributeDescription(name: "size", type: .integer64, isOptional: true))
        }
        #expect(startup.reason == .modelChanged(entities: ["Town"]))
        #expect(startup.entitiesReset == ["Town"])
        #expect(startup.rowsDropped == 2)
        #expect(startup.fallback == nil)
        #expect(startup.dropped.objects == ["Town": 2] && startup.dropped.links == ["Person.home": 2])
        #expect(try raw.run("SELECT count(*) FROM Town") == ["0"])
        #expect(try raw.run("SELECT count(*) FROM _Town_twins") == ["0"])
        #expect(try raw.run("SELECT name FROM Person ORDER BY _key") == ["Liu Bei", "Guan Yu", "Zhang Fei"])
        #expect(try raw.run("SELECT count(*) FROM _Person_friends") == ["2"])
        #expect(try raw.run("SELECT count(*) FROM _Visit_guests") == ["1"])
        // They lived in towns that are gone.
        #expect(try raw.run("SELECT count(home) FROM Person") == ["0"])
    }

    @Test func theKeyOfADataSourceDropsItsRowsOnly() throws {
        let folder = try TemporaryFolder()
        try fill(folder)
        let (startup, raw) = try reopen(folder, keys: ["Person": "7"]) { _ in }
        #expect(startup.reason == .sourceKeysChanged(entities: ["Person"]))
        #expect(startup.entitiesReset == ["Person"])
        #expect(startup.rowsDropped == 3)
        #expect(startup.dropped.objects == ["Person": 3] && startup.dropped.links == ["Visit.guests": 1])
        for (table, count) in [
            ("Person", "0"), ("_Person_friends", "0"), ("_Visit_guests", "0"), ("Town", "2"), ("_Town_twins", "1"),
            ("Visit", "1"),
        ] { #expect(try raw.run("SELECT count(*) FROM \(table)") == [count], "\(table)") }
    }

    @Test func anEntityThatIsNewOrGoneTouchesNoOther() throws {
        let folder = try TemporaryFolder()
        try fill(folder)
        let (startup, raw) = try reopen(folder) {
            $0.entities.removeAll { $0.name == "Visit" }
            $0.entities.insert(EntityDescription(name: "Animal"), at: 0)
        }
        #expect(startup.reason == .modelChanged(entities: ["Animal", "Visit"]))
        #expect(startup.entitiesReset == ["Animal", "Visit"])
        #expect(startup.rowsDropped == 1)
        #expect(try raw.run("SELECT count(home) FROM Person") == ["2"])
        #expect(try raw.run("SELECT count(*) FROM _Town_twins") == ["1"])
        #expect(try raw.run("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%Visit%'") == ["0"])
    }

    /// A town gets a sub-entity: people's links must say of which entity their home is, so their table is another one.
    @Test func aTableGetsOtherColumnsAndItsRowsStay() throws {
        let folder = try TemporaryFolder()
        try fill(folder)
        let (startup, raw) = try reopen(folder) {
            $0.entities.insert(EntityDescription(name: "Capital", parentName: "Town"), at: 0)
        }
        #expect(startup.reason == .modelChanged(entities: ["Capital"]))
        #expect(startup.entitiesReset == ["Capital"] && startup.rowsDropped == 0)
        #expect(startup.dropped == StoreStartup.Dropped())
        #expect(try raw.run("SELECT count(*) FROM Town") == ["2"])
        // Capital 0, Person 1, Town 2, Visit 3.
        #expect(
            try raw.run("SELECT home, [home.entity] FROM Person ORDER BY _key") == ["1", "2", "2", "2", "NULL", "NULL"])
        for (table, count) in [("_Person_friends", "2"), ("_Town_twins", "1"), ("_Visit_guests", "1")] {
            #expect(try raw.run("SELECT count(*) FROM \(table)") == [count], "\(table)")
        }
    }

    /// Rows hold the numbers of entities, and a new entity moves those behind it.
    @Test func linksThatNameEntitiesByNumberFollowANewNumbering() throws {
        let folder = try TemporaryFolder()
        var model = EntityResetTests.model
        model.entities.insert(EntityDescription(name: "Capital", parentName: "Town"), at: 0)
        try SQLiteStore.open(options(folder, model)).close()
        try RawDatabase(folder.store).run("INSERT INTO Capital (_key) VALUES (9)")
        try RawDatabase(folder.store).run("INSERT INTO Person (_key, home, [home.entity]) VALUES (1, 9, 0)")
        model.entities.insert(EntityDescription(name: "Animal"), at: 0)
        let store = try SQLiteStore.open(options(folder, model))
        #expect(store.startup.entitiesReset == ["Animal"] && store.startup.rowsDropped == 0)
        store.close()
        #expect(try RawDatabase(folder.store).run("SELECT home, [home.entity] FROM Person") == ["9", "1"])
    }

    /// Towns get an order of their people, and visits become one per town: the other side's rows have other columns then.
    @Test func rowsStayWhereOnlyTheOtherSideOfARelationshipChanged() throws {
        var model = EntityResetTests.model
        model.entities[0].relationships = [relationship("home", "Town", "people")]
        model.entities[1].relationships = [
            relationship("people", "Person", "home", isToMany: true),
            relationship("visits", "Visit", "town", isToMany: true),
        ]
        model.entities[2].relationships = [relationship("town", "Town", "visits")]
        let folder = try TemporaryFolder()
        try SQLiteStore.open(options(folder, model)).close()
        let raw = try RawDatabase(folder.store)
        for sql in [
            "INSERT INTO Town (_key, name) VALUES (1, 'Xiaopei')",
            "INSERT INTO Person (_key, name, home) VALUES (2, 'Liu Bei', 1), (3, 'Guan Yu', NULL)",
            "INSERT INTO Visit (_key, day, town) VALUES (4, 7, 1), (5, 8, 1)",
        ] { try raw.run(sql) }
        model.entities[1].relationships[0].isOrdered = true
        model.entities[1].relationships[1].isToMany = false
        let store = try SQLiteStore.open(options(folder, model))
        #expect(store.startup.entitiesReset == ["Town"] && store.startup.rowsDropped == 1)
        store.close()
        #expect(
            try raw.run("SELECT name, home, [home.position] FROM Person ORDER BY _key") == [
                "Liu Bei", "NULL", "NULL", "Guan Yu", "NULL", "NULL",
            ])
        #expect(try raw.run("SELECT * FROM Visit") == ["4", "7", "5", "8"])
        try checkIntegrity(folder)
    }

    /// Links of the rows that stay are not dropped with those of another entity of the family, and places go with links.
    @Test func linksInAFamilyStayWhereBothEndsDo() throws {
        let people = RelationshipDescription(
            name: "people", destinationName: "Person", inverseName: "home", isToMany: true, isOrdered: true,
            isOptional: true)
        let model = ManagedObjectModel(
            name: "",
            entities: [
                EntityDescription(name: "Capital", parentName: "Town"),
                EntityDescription(
                    name: "Person",
                    relationships: [
                        relationship("home", "Town", "people"), relationship("seen", "Town", isToMany: true),
                    ]), EntityDescription(name: "Town", relationships: [people]),
                // Its name is that of the links' table.
                EntityDescription(name: "_person_seen"),
            ])
        let folder = try TemporaryFolder()
        try SQLiteStore.open(options(folder, model)).close()
        func run(_ sql: String) throws -> [String] { try RawDatabase(folder.store).run(sql) }
        for sql in [
            "INSERT INTO Capital (_key) VALUES (1)", "INSERT INTO Town (_key) VALUES (2)",
            "INSERT INTO Person (_key, home, [home.entity], [home.position]) VALUES (3, 1, 0, 8), (4, 2, 2, 9)",
            "INSERT INTO _person_seen_ (_key, _source, _destination, [_destination.entity]) "
                + "VALUES (5, 3, 1, 0), (6, 3, 2, 2), (7, 4, 1, 0)", "INSERT INTO _person_seen VALUES (8)",
        ] { _ = try run(sql) }
        let store = try SQLiteStore.open(options(folder, model, keys: ["Capital": "7"]))
        #expect(store.startup.entitiesReset == ["Capital"] && store.startup.rowsDropped == 1)
        #expect(store.startup.dropped.links == ["Person.home": 1, "Person.seen": 2])
        store.close()
        #expect(
            try run("SELECT _key, home, [home.entity], [home.position] FROM Person ORDER BY 1") == [
                "3", "NULL", "NULL", "NULL", "4", "2", "2", "9",
            ])
        #expect(try run("SELECT _source, _destination FROM _Person_seen_") == ["3", "2"])
        #expect(try run("SELECT _key FROM _person_seen") == ["8"])
        try checkIntegrity(folder)
        // Objects are counted, and links are not.
        #expect(
            try SQLiteStore.forecast(options(folder, model, keys: ["Capital": "7"]), countsRows: true).rowsDropped == 4)
    }

    /// What has the old name of another element by a renaming identifier takes nothing from one that has not changed.
    @Test func unchangedEntitiesAreMatchedByName() throws {
        let folder = try TemporaryFolder()
        try fill(folder)
        let (startup, raw) = try reopen(folder) { model in
            model.entities.append(EntityDescription(name: "Guest", renamingIdentifier: "Person"))
            model.entities.append(EntityDescription(name: "Zoo", relationships: [relationship("keeper", "Person")]))
        }
        #expect(startup.entitiesReset == ["Guest", "Zoo"] && startup.rowsDropped == 0)
        #expect(try raw.run("SELECT count(*) FROM Person") == ["3"])
        #expect(try raw.run("SELECT count(*) FROM _Person_friends") == ["2"])
    }

    /// Obstacles and requirements of what is dropped anyway keep nothing else from staying.
    @Test func aDroppedEntityPreventsNothing() throws {
        var model = EntityResetTests.model
        model.entities[0].relationships[0].isOptional = false
        let folder = try TemporaryFolder()
        try SQLiteStore.open(options(folder, model)).close()
        let raw = try RawDatabase(folder.store)
        for sql in [
            "INSERT INTO Town (_key, name) VALUES (1, 'Xiaopei')", "INSERT INTO Person (_key, home) VALUES (2, 1)",
            "INSERT INTO Visit (_key, day) VALUES (3, 1)",
            "INSERT INTO _Visit_guests (_key, _source, _destination) VALUES (4, 3, 2)",
        ] { try raw.run(sql) }
        model.entities[1].relationships[0].isToMany = false
        model.entities[2].relationships[0].isToMany = false
        model.entities[2].attributes[0].type = .uuid
        let store = try SQLiteStore.open(options(folder, model))
        #expect(store.startup.entitiesReset == ["Town", "Visit"] && store.startup.fallback == nil)
        #expect(store.startup.dropped.objects == ["Town": 1, "Visit": 1])
        store.close()
        #expect(try raw.run("SELECT home FROM Person") == ["NULL"])
        try checkIntegrity(folder)
    }

    /// A column that the model does not know is none of its changes.
    @Test func aTableThatWasAlteredByHandIsNotDropped() throws {
        let folder = try TemporaryFolder()
        try fill(folder)
        try RawDatabase(folder.store).run("ALTER TABLE Town ADD mine INTEGER")
        expectError(.storeCorrupt) {
            try SQLiteStore.open(options(folder, EntityResetTests.model, keys: ["Person": "7"]))
        }
        #expect(try RawDatabase(folder.store).run("SELECT count(*) FROM Town") == ["2"])
    }

    @Test func theIndexesAndViewsOfOtherProgramsStay() throws {
        let folder = try TemporaryFolder()
        try fill(folder)
        let raw = try RawDatabase(folder.store)
        for sql in [
            "CREATE INDEX mine ON Person (home)", "CREATE INDEX gone ON Town (name)",
            "CREATE VIEW homes AS SELECT home FROM Person", "CREATE VIEW old AS SELECT name FROM Town",
        ] { try raw.run(sql) }
        _ = try reopen(folder) {
            $0.entities[1].attributes = [AttributeDescription(name: "size", type: .integer64, isOptional: true)]
        }
        #expect(
            try raw.run("SELECT name FROM sqlite_schema WHERE name IN ('mine', 'gone', 'homes', 'old') ORDER BY 1")
                == ["homes", "mine", "old"])
        #expect(try raw.run("SELECT count(*) FROM homes") == ["3"])
    }

    @Test func aChangeOfEveryEntityDropsTheWholeStore() throws {
        let folder = try TemporaryFolder()
        try fill(folder)
        let store = try SQLiteStore.open(
            options(folder, ManagedObjectModel(name: "New", entities: [EntityDescription(name: "Animal")])))
        #expect(store.startup.entitiesReset == nil)
        #expect(store.startup.fallback != nil)
        #expect(store.startup.rowsDropped == 6)
        #expect(store.firstFreeKey == 1)
        store.close()
        try checkIntegrity(folder)
    }
}
