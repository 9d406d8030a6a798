import ManagedModel
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// What a history promises when the model has changed several times.
struct HistoryMigrationPromises {
    /// The renaming identifier that a part has in the third version: its name in the version before, or its first name.
    enum Identifier: CaseIterable { case last, first }

    /// A version of a model in which an entity, its sub-entity, an attribute and a relationship are renamed twice. The last renaming
    /// also lets the other one of the two relationships name their links.
    private func model(_ version: Int, _ identifier: Identifier) -> ManagedObjectModel {
        func name(_ names: [String]) -> String { names[version] }
        func earlier(_ names: [String]) -> String? {
            version == 0 ? nil : names[identifier == .last ? version - 1 : 0]
        }
        let (group, team) = (["Group", "Club", "Union"], ["Team", "Crew", "Band"])
        let (title, people) = (["title", "label", "caption"], ["people", "folks", "souls"])
        return ManagedObjectModel(
            name: "Shop",
            entities: [
                EntityDescription(
                    name: name(group),
                    attributes: [
                        AttributeDescription(
                            name: name(title), type: .string, isOptional: true, renamingIdentifier: earlier(title))
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: name(people), destinationName: "Person", inverseName: "groups", isToMany: true,
                            isOptional: true, renamingIdentifier: earlier(people))
                    ], renamingIdentifier: earlier(group)),
                EntityDescription(
                    name: name(team), parentName: name(group), renamingIdentifier: earlier(team)),
                EntityDescription(
                    name: "Person", attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)],
                    relationships: [
                        RelationshipDescription(
                            name: "groups", destinationName: name(group), inverseName: name(people), isToMany: true,
                            isOptional: true)
                    ]),
            ])
    }

    /// The third version, if the second one was skipped. It lists the names of the first one.
    private func skipping(_ old: ManagedObjectModel) -> ManagedObjectModel {
        var model = model(2, .last)
        let properties = ["caption": "title", "souls": "people"]
        model.earlierVersions = [
            EarlierVersion(
                hashes: [old.hash.description], entityNames: ["Union": "Group", "Band": "Team", "Person": "Person"],
                propertyNames: ["Union": properties, "Band": properties])
        ]
        return model
    }

    /// Saves a person, a group, a team, and a link from the group to the person.
    private func save(_ store: any PersistentStore, _ model: ManagedObjectModel, _ version: Int) throws {
        let (layout, key) = (ModelLayout(model), Int64(version * 100 + 1))
        let links = try #require(try pairs(layout))
        let team = try #require(model.entities.first { $0.parentName != nil })
        let entities = [
            try #require(layout.entity(named: "Person")), try group(layout),
            try #require(layout.entity(named: team.name)),
        ]
        for (index, entity) in entities.enumerated() {
            var row = RowSnapshot(columnCount: entity.columns.count)
            row.setText("\(version) \(index)", 0)
            try store.write([.of(entity.index, insert: [StoredRow(key: key + Int64(index), row: row)])])
        }
        var link = RowSnapshot(columnCount: layout.entities[links.layout].columns.count)
        link.setInteger(key + 1, links.own.key)
        link.setInteger(Int64(entities[1].index), try #require(links.own.entity))
        link.setInteger(key, links.other.key)
        try store.write([.of(links.layout, insert: [StoredRow(key: key + 3, row: link)])])
    }

    /// The columns of a link, as seen from a group.
    private func pairs(_ layout: ModelLayout) throws -> PairColumns? {
        guard case .pairs(let pairs)? = try group(layout).relationships.first?.storage else { return nil }
        return pairs
    }

    private func group(_ layout: ModelLayout) throws -> EntityLayout {
        let group = try #require(layout.model.entities.first { $0.parentName == nil && $0.name != "Person" })
        return try #require(layout.entity(named: group.name))
    }

    private func records(
        _ store: any PersistentStore, of names: Set<String>? = nil, _ layout: ModelLayout
    ) throws -> [StoredRecord] {
        let filter = HistoryFilter(entityNames: names).resolved(layout)
        return try #require(store.recordStore).readHistory(after: nil, filter).records
    }

    /// Expects that filters find the records of all versions, and that their values are those of the newest version.
    private func expectAll(
        _ store: any PersistentStore, _ layout: ModelLayout, versions: [(version: Int, first: Int64)],
        migrations: [Int64]
    ) throws {
        func numbers(_ places: [Int64]) -> [Int64] {
            (versions.flatMap { version in places.map { version.first + $0 } } + migrations).sorted()
        }
        func found(_ name: String) throws -> [Int64] { try records(store, of: [name], layout).map(\.number) }
        #expect(try found("Union") == numbers([1, 2]))
        #expect(try found("Band") == numbers([2]))
        #expect(try found("Union.souls") == numbers([3]))
        #expect(try found("Person.groups") == numbers([3]))
        #expect(try found("Person") == numbers([0]))
        let all = try records(store, layout)
        let links = try #require(try pairs(layout))
        let (union, band) = (try #require(layout.entity(named: "Union")), try #require(layout.entity(named: "Band")))
        for (version, first) in versions {
            let changes = try (0...3).map { place in
                try #require(all[Int(first) + place - 1].changes?.entities.first, "\(version) \(place)")
            }
            #expect(changes[1].entity == union.index && changes[2].entity == band.index)
            #expect(changes[1].inserted.map { $0.row.text(0) } == ["\(version) 1"])
            #expect(changes[2].inserted.map { $0.row.text(0) } == ["\(version) 2"])
            #expect(changes[3].entity == links.layout)
            let link = try #require(changes[3].inserted.first).row
            #expect(link.value(links.own.key, .integer) == .integer(Int64(version * 100 + 2)))
            #expect(link.value(try #require(links.own.entity), .integer) == .integer(Int64(union.index)))
            #expect(link.value(links.other.key, .integer) == .integer(Int64(version * 100 + 1)))
        }
    }

    @Test(arguments: MigratedPlace.Kind.all, Identifier.allCases)
    func recordsOfAllVersionsAreFoundByTheNewestNames(kind: MigratedPlace.Kind, identifier: Identifier) throws {
        let place = try MigratedPlace(kind)
        for version in 0...2 {
            let history: KeptHistory = version == 0 ? .kept(for: .seconds(86_400), upTo: 64 << 20) : .unchanged
            let model = model(version, identifier)
            let store = try place.open(model, history: history).store
            try save(store, model, version)
            if version == 2 {
                try expectAll(
                    store, ModelLayout(model), versions: [(0, 1), (1, 6), (2, 11)], migrations: [5, 10])
            }
            store.close()
        }
    }

    /// The store was not opened with the second version.
    @Test(arguments: MigratedPlace.Kind.all)
    func recordsOfASkippedVersionAreFoundByTheNewestNames(kind: MigratedPlace.Kind) throws {
        let place = try MigratedPlace(kind)
        let old = model(0, .last)
        let first = try place.open(old, history: .kept(for: .seconds(86_400), upTo: 64 << 20)).store
        try save(first, old, 0)
        first.close()
        let model = skipping(old)
        let second = try place.open(model).store
        try save(second, model, 2)
        try expectAll(second, ModelLayout(model), versions: [(0, 1), (2, 6)], migrations: [5])
        second.close()
    }

    /// An app has read a record with the first version, and reverts it after the migration.
    @Test func changesThatWereReadBeforeTheMigrationAreTranslated() throws {
        let old = model(0, .last)
        let model = skipping(old)
        let (layout, newLayout) = (ModelLayout(old), ModelLayout(model))
        let (team, band) = (try #require(layout.entity(named: "Team")), try #require(newLayout.entity(named: "Band")))
        var row = RowSnapshot(columnCount: team.columns.count)
        row.setText("a", 0)
        let changes = ChangeSet.of(team.index, insert: [StoredRow(key: 1, row: row)])
        let translated = changes.translated(from: layout, to: newLayout)
        #expect(translated.entities.map(\.entity) == [band.index])
        #expect(translated.entities.first?.inserted.map { $0.row.text(0) } == ["a"])
    }

    #if PostgreSQL
    @Test(.enabled(if: PostgreSQLServer.isInstalled)) func namesWithoutRecordsAreDroppedOnAServer() throws {
        let place = try MigratedPlace(.server)
        for (version, count) in [1, 2, 2].enumerated() {
            let history: KeptHistory = version == 0 ? .kept(for: .seconds(86_400), upTo: 64 << 20) : .unchanged
            let model = model(version, .last)
            let store = try place.open(model, history: history).store
            try save(store, model, version)
            let session = try place.session()
            let tables = try session.run(
                "SELECT quote_ident(schemaname) FROM pg_tables WHERE tablename = '_history_state'")
            let schema = try #require(tables.first?.first ?? nil)
            let found = try session.run(
                "SELECT count(*) FROM \(schema).\"_history_state\" WHERE starts_with(name, 'names ')")
            #expect(tables.count == 1 && found == [["\(count)"]], "\(version)")
            // As if the four records of the first version had become too old.
            if version == 1 { _ = try session.run("DELETE FROM \(schema).\"_history\" WHERE number BETWEEN 1 AND 4") }
            store.close()
        }
    }

    /// Another program has removed a link before the relationship was renamed, while no container had the store open.
    @Test(.enabled(if: PostgreSQLServer.isInstalled)) func aWriteToAServerIsFoundByTheNewestName() throws {
        let place = try MigratedPlace(.server)
        let old = model(0, .last)
        let first = try place.open(old, history: .kept(for: .seconds(86_400), upTo: 64 << 20)).store
        try save(first, old, 0)
        first.close()
        try place.session().run("DELETE FROM \"store 1\".\"_Group_people\"")
        let model = model(1, .last)
        let second = try place.open(model).store
        let records = try records(second, of: ["Club.folks"], ModelLayout(model))
        #expect(records.map(\.kind) == [.local, .outsideWrites, .migration])
        #expect(records.map(\.entityNames) == [["Group.people"], ["Group.people"], []])
        #expect(try self.records(second, of: ["Club"], ModelLayout(model)).map(\.number) == [2, 3, 6])
        second.close()
    }
    #endif
}
