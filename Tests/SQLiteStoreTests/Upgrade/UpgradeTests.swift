import ErrorExpectations
import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// A store that the first format wrote is opened as it is, and has the tables of this one then.
struct UpgradeTests {
    private typealias World = FirstFormatStore

    /// Prepares the world, changes it with SQL, and opens it.
    private func opened(_ sql: String...) throws -> (raw: RawDatabase, contents: StoreContents) {
        let folder = try TemporaryFolder()
        let world = try World.world
        try world.prepare(folder)
        for sql in sql { try RawDatabase(folder.store).run(sql) }
        let store = try SQLiteStore.open(world.options(folder))
        #expect(store.startup.reason == .current)
        store.close()
        try checkIntegrity(folder)
        return (try RawDatabase(folder), try StoreContents(rawFile: folder.store, world.model))
    }

    // MARK: One-to-one

    @Test func linksThatOnlyTheOtherSideHasAreTakenOver() throws {
        let links = try World.world.links
        #expect(try opened("UPDATE Passport SET owner = NULL").contents.links == links)
        #expect(try opened("UPDATE Person SET passport = NULL").contents.links == links)
    }

    @Test func aPartnerOfSeveralObjectsStaysWithTheLowestKey() throws {
        let found = try opened(
            "UPDATE Person SET passport = NULL", "UPDATE Passport SET owner = 10 WHERE _key IN (9, 15)",
            "UPDATE Passport SET owner = NULL WHERE _key NOT IN (9, 15)")
        #expect(found.contents.links["Passport.owner"] == ["Passport 9 > Person 10"])
        #expect(found.contents.links["Person.passport"] == ["Person 10 > Passport 9"])
        #expect(
            try found.raw.run("SELECT count(*) FROM sqlite_schema WHERE name = '_unique \"Passport\" (\"owner\")'")
                == ["1"])
    }

    /// The side that has the links now is believed.
    @Test func linksOfTheOtherSideComeSecond() throws {
        let found = try opened(
            "UPDATE Passport SET owner = NULL WHERE _key <> 15", "UPDATE Passport SET owner = 10 WHERE _key = 15",
            // 10 has one already, 16 is free, and of two that claim 21 the lower key has it.
            "UPDATE Person SET passport = CASE _key WHEN 10 THEN 9 WHEN 16 THEN 27 WHEN 22 THEN 21 WHEN 28 THEN 21 END")
        #expect(
            found.contents.links["Passport.owner"] == [
                "Passport 15 > Person 10", "Passport 21 > Person 22", "Passport 27 > Person 16",
            ])
    }

    private static func toOne(_ name: String, _ destination: String, _ inverse: String?) -> RelationshipDescription {
        RelationshipDescription(name: name, destinationName: destination, inverseName: inverse, isOptional: true)
    }

    private static func name(_ name: String) -> AttributeDescription {
        AttributeDescription(name: name, type: .string, isOptional: true)
    }

    /// A base with a one-to-one relationship, of which the other side has the column now, and two entities under it.
    private static let family = ManagedObjectModel(
        name: "Family",
        entities: [
            EntityDescription(
                name: "Base", isAbstract: true, attributes: [name("first")],
                relationships: [toOne("badge", "Agent", "base")]),
            EntityDescription(
                name: "Agent", attributes: [name("code")], relationships: [toOne("base", "Base", "badge")]),
            EntityDescription(name: "One", parentName: "Base", attributes: [name("second")]),
            EntityDescription(
                name: "Two", parentName: "Base", attributes: [name("second")],
                uniquenessConstraints: [["badge"], ["badge", "second"]]),
        ].sorted { $0.name < $1.name })

    private static let familySQL = [
        #"CREATE TABLE "Agent" ("_key" INTEGER PRIMARY KEY, "base" INTEGER, "base.entity" INTEGER, "code" TEXT)"#,
        #"CREATE TABLE "One" ("_key" INTEGER PRIMARY KEY, "badge" INTEGER, "first" TEXT, "second" TEXT)"#,
        #"CREATE TABLE "Two" ("_key" INTEGER PRIMARY KEY, "badge" INTEGER, "first" TEXT, "second" TEXT)"#,
        // Agent 0, Base 1, One 2, Two 3.
        "INSERT INTO Agent VALUES (1, NULL, NULL, 'a'), (2, 5, 3, 'b'), (3, 5, 3, 'c')",
        "INSERT INTO One VALUES (4, 1, 'one', 'second')",
        "INSERT INTO Two VALUES (5, 2, 'two', 'second'), (6, 1, 'three', 'second')",
    ]

    /// In the first format a column lay between those of the base and those of its children.
    @Test func columnsBehindOneThatIsGoneKeepTheirValues() throws {
        let folder = try TemporaryFolder()
        try makeFirstFormatStore(folder, Self.family, Self.familySQL)
        let raw = try migrate(folder, Self.family, .fail).raw
        #expect(try raw.run("SELECT * FROM One") == ["4", "one", "second"])
        #expect(try raw.run("SELECT * FROM Two ORDER BY 1") == ["5", "two", "second", "6", "three", "second"])
        // Two objects of different entities had the same one.
        #expect(
            try raw.run("SELECT _key, base, [base.entity] FROM Agent ORDER BY 1") == [
                "1", "4", "2", "2", "5", "3", "3", "NULL", "NULL",
            ])
        // A constraint that names what another table has is no constraint of the rest.
        #expect(try raw.run("SELECT name FROM sqlite_schema WHERE name LIKE '\\_unique%' ESCAPE '\\'").count == 1)
    }

    @Test func theSameHoldsForAMigrationFromTheFirstFormat() throws {
        let folder = try TemporaryFolder()
        try makeFirstFormatStore(folder, Self.family, Self.familySQL)
        let model = Self.family.changed { model in
            model.edit("One") {
                $0.attributes[0].name = "third"
                $0.attributes[0].renamingIdentifier = "second"
            }
        }
        let (startup, raw) = try migrate(folder, model)
        #expect(startup.migration?.rowsCarried == 6 && startup.fallback == nil)
        #expect(try raw.run("SELECT _key, first, third FROM One") == ["4", "one", "second"])
        #expect(try raw.run("SELECT _key, base FROM Agent ORDER BY 1") == ["1", "4", "2", "5", "3", "NULL"])
    }

    // MARK: Relationships that are their own inverse

    private static let people = ManagedObjectModel(
        name: "People",
        entities: [
            EntityDescription(
                name: "Person",
                relationships: [
                    toOne("spouse", "Person", "spouse"),
                    RelationshipDescription(
                        name: "friends", destinationName: "Person", inverseName: "friends", isToMany: true,
                        isOrdered: true, isOptional: true),
                ])
        ])

    private func upgradedPeople(_ spouses: String, _ friends: String) throws -> RawDatabase {
        let folder = try TemporaryFolder()
        try makeFirstFormatStore(
            folder, Self.people,
            [
                #"CREATE TABLE "Person" ("_key" INTEGER PRIMARY KEY, "spouse" INTEGER)"#,
                #"CREATE TABLE "_Person_friends" ("source" INTEGER NOT NULL, "destination" INTEGER NOT NULL, "#
                    + #""destination.position" INTEGER, "source.position" INTEGER, "#
                    + #"PRIMARY KEY ("source", "destination")) WITHOUT ROWID"#,
                "INSERT INTO Person VALUES \(spouses)", "INSERT INTO _Person_friends VALUES \(friends)",
            ])
        return try migrate(folder, Self.people, .fail).raw
    }

    /// Each of two has the other: one that is taken is nobody else's, whichever end says so.
    @Test func couplesAreSeenFromBothEnds() throws {
        // 1 and 2 agree; 3 has 4, who says nothing; 5 has 6, 6 has 7; 8 has himself; 9 has 8.
        let raw = try upgradedPeople(
            "(1, 2), (2, 1), (3, 4), (4, NULL), (5, 6), (6, 7), (7, NULL), (8, 8), (9, 8)", "(1, 1, 0, 0)")
        #expect(
            try raw.run("SELECT coalesce(spouse, 0) FROM Person ORDER BY _key") == [
                "2", "1", "4", "3", "6", "5", "0", "8", "0",
            ])
    }

    @Test func friendsAreSeenFromBothEndsInTheirOrder() throws {
        let raw = try upgradedPeople(
            "(1, NULL), (2, NULL), (3, NULL)", "(1, 2, 5, 7), (2, 1, 9, NULL), (1, 3, 4, 6), (2, 2, 1, 1)")
        #expect(
            try raw.run(
                "SELECT _source, _destination, [_destination.position], [_source.position] FROM _Person_friends "
                    + "ORDER BY 1, 2")
                == ["1", "2", "5", "9", "1", "3", "4", "6", "2", "1", "9", "5", "2", "2", "1", "1", "3", "1", "6", "4"])
        // The keys are those of no other row, and the next ones are behind them.
        #expect(
            try raw.run(
                "SELECT count(DISTINCT _key), min(_key) > 3, max(_key) < (SELECT value FROM _metadata WHERE "
                    + "name = 'firstFreeKey') FROM _Person_friends") == ["5", "1", "1"])
    }

    // MARK: What is not about links

    @Test func aModelMayHaveMoreEntitiesThanAMigrationTakes() throws {
        let pair = [
            EntityDescription(name: "One", relationships: [Self.toOne("two", "Two", "one")]),
            EntityDescription(name: "Two", relationships: [Self.toOne("one", "One", "two")]),
        ]
        let others = (1000..<1450).map { EntityDescription(name: "E\($0)") }
        let folder = try TemporaryFolder()
        try makeFirstFormatStore(
            folder, ManagedObjectModel(name: "Large", entities: pair + others),
            others.map { "CREATE TABLE \"\($0.name)\" (\"_key\" INTEGER PRIMARY KEY)" } + [
                "CREATE TABLE \"One\" (\"_key\" INTEGER PRIMARY KEY, \"two\" INTEGER)",
                "CREATE TABLE \"Two\" (\"_key\" INTEGER PRIMARY KEY, \"one\" INTEGER)",
                "INSERT INTO One VALUES (1, 2)", "INSERT INTO Two VALUES (2, 1)", "INSERT INTO E1449 VALUES (3)",
            ])
        let raw = try migrate(folder, ManagedObjectModel(name: "Large", entities: pair + others), .fail).raw
        #expect(try raw.run("SELECT two FROM One UNION ALL SELECT _key FROM E1449") == ["2", "3"])
    }

    @Test func theViewsOfOtherProgramsStay() throws {
        let raw = try opened("CREATE VIEW names AS SELECT name FROM Person WHERE passport IS NOT NULL OR 1").raw
        #expect(try raw.run("SELECT count(*) FROM sqlite_schema WHERE type = 'view'") == ["1"])
    }

    @Test(arguments: [
        "DROP TABLE _Dog_likes", "ALTER TABLE Person ADD COLUMN extra",
        "CREATE TRIGGER t AFTER INSERT ON Dog BEGIN DELETE FROM Visit; END",
    ])
    func aStoreWithOtherTablesIsDamagedAndStaysAsItIs(change: String) throws {
        for policy in [ResetPolicy.fail, .discard, .migrate, .changedEntities] {
            let folder = try TemporaryFolder()
            let world = try World.world
            try world.prepare(folder)
            try RawDatabase(folder.store).run(change)
            let before = folder.contents()
            #expect(code { try SQLiteStore.open(world.options(folder, policy: policy)).close() } == .storeCorrupt)
            #expect(folder.contents() == before, "\(policy)")
        }
    }

    @Test func aStoreWithDamagedPagesIsNotReset() throws {
        for table in ["Person", "_Person_visits"] {
            let folder = try TemporaryFolder()
            let world = try World.world
            try world.prepare(folder)
            try damage(table, of: folder)
            let before = folder.contents()
            #expect(code { try SQLiteStore.open(world.options(folder, policy: .discard)).close() } == .storeCorrupt)
            // Only the empty log is gone.
            #expect(folder.contents()["test.store"] == before["test.store"], "\(table)")
        }
    }

    @Test func aReadOnlyOpeningCannotUpgradeAStore() throws {
        let folder = try TemporaryFolder()
        let world = try World.world
        _ = try world.fixture.copyStore(to: folder.url)
        try FileManager.default.moveItem(
            at: folder.url.appending(component: StoreFixture.storeName), to: folder.store)
        let before = folder.contents()
        var options = world.options(folder)
        options.isReadOnly = true
        let error = expectError(.storeReadOnly) { try SQLiteStore.open(options).close() }
        #expect(error?.message.contains("An earlier release wrote") == true)
        #expect(error?.message.contains("Open the store for writing once") == true)
        #expect(folder.contents() == before && folder.names == ["test.store"])
        try SQLiteStore.open(world.options(folder)).close()
        try SQLiteStore.open(options).close()
    }

    @Test func inspectingAStoreOfTheFirstFormatChangesNothing() throws {
        let folder = try TemporaryFolder()
        let world = try World.world
        try world.prepare(folder)
        let before = folder.contents()
        #expect(try SQLiteStore.forecast(world.options(folder)).reason == .current)
        #expect(try SQLiteStore.migrationForecast(world.options(folder, policy: .migrate)) == nil)
        #expect(folder.contents() == before)
        try RawDatabase(folder.store).run("ALTER TABLE Person ADD COLUMN extra")
        #expect(code { _ = try SQLiteStore.forecast(world.options(folder)) } == .storeCorrupt)
    }

    @Test func aBackupOfTheFirstFormatIsRestored() throws {
        let folder = try TemporaryFolder()
        let world = try World.world
        try world.prepare(folder)
        try RawDatabase(folder.store).run("PRAGMA wal_checkpoint(TRUNCATE)")
        let place = try TemporaryFolder()
        _ = try SQLiteStore.restore(folder.store, to: place.store, isReplacing: false)
        #expect(try RawDatabase(place.store).format == 1)
        try world.expectWhole(place, "restored")
    }

    // MARK: Other models

    @Test func onlyTheChangedEntitiesOfTheFirstFormatAreReset() throws {
        let folder = try TemporaryFolder()
        let world = try World.world
        try world.prepare(folder)
        let model = world.model.changed { $0.edit("Dog") { $0.attributes.append(Self.name("race")) } }
        let startup = try migrate(folder, model, .changedEntities).startup
        #expect(startup.entitiesReset == ["Dog"] && startup.rowsDropped == 7)
        let found = try StoreContents(rawFile: folder.store, model)
        #expect(found.rows["Person"]?.count == 6)
        var links = world.links
        links["Dog.likes"] = []
        #expect(found.links == links)
    }

    @Test func theKeyOfADataSourceDropsRowsOfTheFirstFormat() throws {
        let folder = try TemporaryFolder()
        let world = try World.world
        try world.prepare(folder)
        let startup = try migrate(folder, world.model, .discard, keys: ["Visit": "7"]).startup
        #expect(startup.entitiesReset == ["Visit"] && startup.rowsDropped == 6)
        var links = world.links
        links["Person.visits"] = []
        #expect(try StoreContents(rawFile: folder.store, world.model).links == links)
    }

    @Test func aStoreOfTheFirstFormatIsMigrated() throws {
        let folder = try TemporaryFolder()
        let world = try World.world
        try world.prepare(folder)
        try RawDatabase(folder.store).run("UPDATE Passport SET owner = NULL")
        let model = world.model.changed { model in
            model.edit("Visit") { $0.attributes.append(Self.name("place")) }
            model.edit("Passport") { $0.attributes.append(Self.name("photo")) }
        }
        let startup = try migrate(folder, model).startup
        #expect(startup.migration?.rowsCarried == 37 && startup.rowsDropped == 0 && startup.fallback == nil)
        #expect(try StoreContents(rawFile: folder.store, model).links == world.links)
    }

    /// Without its model it cannot be upgraded; a model that is damaged is an error, for links would be lost.
    @Test func aDamagedModelInAStoreOfTheFirstFormatIsAnError() throws {
        let folder = try TemporaryFolder()
        let world = try World.world
        try world.prepare(folder)
        try RawDatabase(folder.store).run("UPDATE _metadata SET value = 'damaged' WHERE name = 'model'")
        let before = folder.contents()
        let model = world.model.changed { $0.edit("Dog") { $0.attributes.append(Self.name("race")) } }
        #expect(
            code { try SQLiteStore.open(.of(model, folder, .changedEntities)).close() } == .storeCorrupt)
        #expect(folder.contents() == before)
        // The model of the app is enough where it is the same.
        try world.expectWhole(folder, "with another text")
    }
}
