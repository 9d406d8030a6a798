import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// What is carried over, to the last byte.
struct MigrationTests {
    private static func attribute(
        _ name: String, _ type: AttributeType, isOptional: Bool = true, default value: AttributeValue? = nil
    ) -> AttributeDescription {
        AttributeDescription(name: name, type: type, isOptional: isOptional, defaultValue: value)
    }

    private static let types: [AttributeType] = [
        .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .string, .decimal, .uri, .binary, .uuid,
        .transformable,
    ]

    private static let model = ManagedObjectModel(
        name: "Types",
        entities: [
            EntityDescription(
                name: "Thing",
                attributes: types.map { attribute("the \($0.rawValue)", $0) } + [
                    AttributeDescription(name: "place", type: .composite, isOptional: true, compositeName: "Place"),
                    attribute("gone", .string),
                ])
        ],
        composites: [
            CompositeDescription(
                name: "Place", attributes: [attribute("latitude", .double), attribute("town", .string)])
        ])

    /// Nothing, the least, the most, and what is odd.
    private static let samples: [ColumnStorage: [RowValue]] = [
        .integer: [.null, .integer(.min), .integer(.max), .integer(0), .integer(1)],
        .real: [.null, .real(-.infinity), .real(.infinity), .real(-0.0), .real(.leastNonzeroMagnitude)],
        .text: [.null, .text(""), .text("a\0b\u{301}"), .text("1E-20"), .text(String(repeating: "é", count: 300_000))],
        .blob: [
            .null, .blob([]), .blob([0]), .blob(Array(repeating: 7, count: 16)),
            .blob(Array(repeating: 9, count: 1 << 20)),
        ],
    ]

    /// All attributes by name, of all rows.
    private func values(_ store: SQLiteStore, _ model: ManagedObjectModel) throws -> [[String: RowValue]] {
        let layout = ModelLayout(model).entities[0]
        return try store.rows(RowQuery(entity: 0, sort: [])).sorted { $0.key < $1.key }.map { row in
            Dictionary(
                uniqueKeysWithValues: layout.columns.enumerated().map { ($1.name, row.row.value($0, $1.storage)) })
        }
    }

    private func fill(_ store: SQLiteStore, _ model: ManagedObjectModel) throws {
        let layout = ModelLayout(model).entities[0]
        let rows = (0..<5).map { number in
            var row = RowSnapshot(columnCount: layout.columns.count)
            for (index, column) in layout.columns.enumerated() {
                row.setValue(MigrationTests.samples[column.storage]?[number] ?? .null, index)
            }
            return StoredRow(key: store.firstFreeKey + Int64(number), row: row)
        }
        try store.write([.of(0, insert: rows)])
    }

    @Test func everyTypeIsCarriedOverAsItIs() throws {
        let folder = try TemporaryFolder()
        let old = MigrationTests.model
        let store = try SQLiteStore.open(.of(old, folder))
        try fill(store, old)
        let before = try values(store, old)
        let keys = try store.keys(RowQuery(entity: 0)).sorted()
        let (storeID, firstFreeKey) = (store.storeID, store.firstFreeKey)
        store.close()
        let new = old.changed {
            $0.composites[0].attributes[1].name = "city"
            $0.composites[0].attributes[1].renamingIdentifier = "town"
            $0.edit("Thing") { thing in
                thing.name = "Object"
                thing.renamingIdentifier = "Thing"
                thing.attributes.removeLast()
                thing.attributes.reverse()
                for index in thing.attributes.indices where index.isMultiple(of: 2) {
                    thing.attributes[index].renamingIdentifier = thing.attributes[index].name
                    thing.attributes[index].name += " new"
                }
                thing.attributes.insert(MigrationTests.attribute("a new one", .string), at: 3)
            }
        }
        let opened = try SQLiteStore.open(.of(new, folder))
        #expect(opened.startup.migration?.rowsCarried == 5)
        #expect(opened.startup.rowsDropped == 0 && !opened.startup.isReset && opened.startup.fallback == nil)
        #expect(opened.startup.reason == .modelChanged(entities: ["Object", "Thing"]))
        #expect(opened.storeID == storeID && opened.firstFreeKey == firstFreeKey)
        #expect(try opened.keys(RowQuery(entity: 0)).sorted() == keys)
        let after = try values(opened, new)
        opened.close()
        for (one, other) in zip(before, after) {
            for type in MigrationTests.types {
                let name = "the \(type.rawValue)"
                #expect((other[name] ?? other[name + " new"]) == one[name], "\(name)")
            }
            #expect((other["place.latitude"] ?? other["place new.latitude"]) == one["place.latitude"])
            #expect((other["place.city"] ?? other["place new.city"]) == one["place.town"])
            #expect(other["a new one"] == .null)
        }
        try migrate(folder, new)
    }

    @Test func aDefaultValueOfEveryTypeIsFilledIn() throws {
        let folder = try TemporaryFolder()
        let uuid = UUID()
        let defaults: [(AttributeType, AttributeValue, RowValue)] = [
            (.integer16, .integer(-3), .integer(-3)), (.boolean, .boolean(true), .integer(1)),
            (.double, .double(1.5), .real(1.5)), (.date, .date(7), .real(7)),
            (.string, .string("it's\0"), .text("it's\0")),
            (.decimal, .decimal(Decimal(string: "0.1") ?? 0), .text("0.1")),
            (.uuid, .uuid(uuid), .blob(withUnsafeBytes(of: uuid.uuid) { Array($0) })),
        ]
        let old = ManagedObjectModel(
            name: "",
            entities: [
                EntityDescription(
                    name: "Thing", attributes: defaults.map { MigrationTests.attribute($0.0.rawValue, $0.0) })
            ])
        try makeStore(folder, old, ["INSERT INTO Thing (_key, String) VALUES (1, 'kept'), (2, NULL)"])
        let new = old.changed {
            $0.edit("Thing") { thing in
                thing.attributes = defaults.flatMap { type, value, _ in
                    [
                        MigrationTests.attribute(type.rawValue, type, isOptional: false, default: value),
                        MigrationTests.attribute("new \(type.rawValue)", type, isOptional: false, default: value),
                    ]
                }
            }
        }
        let store = try SQLiteStore.open(.of(new, folder))
        #expect(store.startup.migration?.rowsCarried == 2)
        let rows = try values(store, new)
        for (type, _, value) in defaults {
            for row in rows { #expect(row["new \(type.rawValue)"] == value) }
            #expect(rows[1][type.rawValue] == value)
        }
        #expect(rows[0]["String"] == .text("kept"))
        store.close()
    }

    @Test func derivedAttributesAreComputed() throws {
        let folder = try TemporaryFolder()
        let old = ManagedObjectModel(
            name: "",
            entities: [EntityDescription(name: "Thing", attributes: [MigrationTests.attribute("name", .string)])])
        try makeStore(folder, old, ["INSERT INTO Thing (_key, name) VALUES (1, 'Émile'), (2, NULL)"])
        let new = old.changed {
            $0.edit("Thing") { thing in
                thing.attributes[0].name = "title"
                thing.attributes[0].renamingIdentifier = "name"
                for (name, expression) in [
                    ("plain", "canonical:(title)"), ("loud", "uppercase:(title)"), ("low", "lowercase:(title)"),
                    ("same", "title"), ("linked", "other.title"),
                ] {
                    thing.attributes.append(
                        AttributeDescription(
                            name: name, type: .string, isOptional: true, derivationExpression: expression))
                }
                thing.relationships.append(
                    RelationshipDescription(name: "other", destinationName: "Thing", isOptional: true))
                thing.attributes.append(
                    AttributeDescription(name: "saved", type: .date, isOptional: true, derivationExpression: "now()"))
            }
        }
        let raw = try migrate(folder, new).raw
        #expect(
            try raw.run("SELECT title, plain, loud, low, same, linked FROM Thing ORDER BY _key")
                == [
                    "Émile", "emile", "ÉMILE", "émile", "Émile", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL",
                ])
        #expect(try raw.run("SELECT count(*) FROM Thing WHERE saved > 700000000") == ["2"])
    }

    /// A default for what has become required, and another source by a renaming identifier.
    @Test func derivedValuesFollowAMigratedSource() throws {
        let folder = try TemporaryFolder()
        func derived(_ name: String, _ expression: String) -> AttributeDescription {
            AttributeDescription(name: name, type: .string, isOptional: true, derivationExpression: expression)
        }
        let old = ManagedObjectModel(
            name: "",
            entities: [
                EntityDescription(
                    name: "Thing",
                    attributes: [
                        MigrationTests.attribute("label", .string), MigrationTests.attribute("other", .string),
                        derived("copy", "label"), derived("lower", "lowercase:(label)"), derived("again", "copy"),
                    ])
            ])
        try makeStore(
            folder, old,
            [
                "INSERT INTO Thing (_key, label, other, copy, lower, again) VALUES (1, NULL, 'X', NULL, NULL, NULL), "
                    + "(2, 'A', 'Y', 'A', 'a', 'A')"
            ])
        let required = old.changed {
            $0.edit("Thing") { thing in
                thing.attributes[0].isOptional = false
                thing.attributes[0].defaultValue = .string("DISPLAY")
            }
        }
        #expect(
            try migrate(folder, required).raw.run("SELECT label, copy, lower, again FROM Thing ORDER BY _key")
                == ["DISPLAY", "DISPLAY", "display", "DISPLAY", "A", "A", "a", "A"])
        // The label goes, and what was `other` gets its name.
        let renamed = required.changed {
            $0.edit("Thing") { thing in
                thing.attributes[0].renamingIdentifier = "other"
                thing.attributes.remove(at: 1)
            }
        }
        #expect(
            try migrate(folder, renamed).raw.run("SELECT label, copy, lower, again FROM Thing ORDER BY _key")
                == ["X", "X", "x", "X", "Y", "Y", "y", "Y"])
        // The same without a requirement that changes the values, too.
        let copied = try TemporaryFolder()
        try makeStore(
            copied, old,
            ["INSERT INTO Thing (_key, label, other, copy, lower, again) VALUES (2, 'A', 'Y', 'A', 'a', 'A')"])
        let optional = old.changed {
            $0.edit("Thing") { thing in
                thing.attributes[0].renamingIdentifier = "other"
                thing.attributes.remove(at: 1)
            }
        }
        #expect(
            try migrate(copied, optional).raw.run("SELECT label, copy, lower, again FROM Thing") == [
                "Y", "Y", "y", "Y",
            ])
    }

    /// Their persisted shape is the same, so that nobody can tell the two models from each other by their hashes.
    @Test func namesThatAreExchangedMigrateNothingWithoutAHashModifier() throws {
        let old = ManagedObjectModel(
            name: "",
            entities: [
                EntityDescription(
                    name: "Thing",
                    attributes: [MigrationTests.attribute("first", .string), MigrationTests.attribute("last", .string)])
            ])
        let exchanged = old.changed {
            $0.edit("Thing") { thing in
                thing.attributes[0].renamingIdentifier = "last"
                thing.attributes[1].renamingIdentifier = "first"
            }
        }
        let modified = exchanged.changed { $0.edit("Thing") { $0.attributes[0].versionHashModifier = "2" } }
        let folder = try TemporaryFolder()
        try makeStore(folder, old, ["INSERT INTO Thing (_key, first, last) VALUES (1, 'a', 'b')"])
        #expect(exchanged.hash == old.hash && modified.hash != old.hash)
        let (startup, raw) = try migrate(folder, exchanged, .migrate(otherwise: .fail))
        #expect(startup.reason == .current && startup.migration == nil)
        #expect(try raw.run("SELECT first, last FROM Thing") == ["a", "b"])

        let other = try TemporaryFolder()
        try makeStore(other, old, ["INSERT INTO Thing (_key, first, last) VALUES (1, 'a', 'b')"])
        let (migrated, followed) = try migrate(other, modified, .migrate(otherwise: .fail))
        #expect(migrated.migration?.rowsCarried == 1)
        #expect(try followed.run("SELECT first, last FROM Thing") == ["b", "a"])
    }

    @Test func aDefaultOfAFloatIsAFloat() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder, MigrationTests.model, ["INSERT INTO Thing (_key) VALUES (1)"])
        let new = MigrationTests.model.changed {
            $0.edit("Thing") { thing in
                var attribute = MigrationTests.attribute("ratio", .float)
                (attribute.isOptional, attribute.defaultValue) = (false, .double(0.1))
                thing.attributes.append(attribute)
            }
        }
        let raw = try migrate(folder, new).raw
        #expect(try raw.run("SELECT count(*) FROM Thing WHERE ratio = \(Double(Float(0.1)))") == ["1"])
    }

    /// An entity that did not change keeps its table, whatever else does.
    @Test func tablesThatDoNotChangeAreNotTouched() throws {
        let folder = try TemporaryFolder()
        let old = MigrationTests.model.changed { $0.entities.append(EntityDescription(name: "Other")) }
        try makeStore(folder, old, ["INSERT INTO Thing (_key) VALUES (1)", "INSERT INTO Other (_key) VALUES (2)"])
        let page = try RawDatabase(folder.store).run("SELECT rootpage FROM sqlite_schema WHERE name = 'Thing'")
        let new = old.changed {
            $0.edit("Other") { $0.attributes.append(MigrationTests.attribute("size", .integer64)) }
        }
        let (startup, raw) = try migrate(folder, new)
        #expect(startup.migration?.rowsCarried == 2)
        #expect(startup.migration?.changes == ["Other.size: added (Integer 64, optional)"])
        #expect(try raw.run("SELECT rootpage FROM sqlite_schema WHERE name = 'Thing'") == page)
    }

    @Test func theRowsOfAnEntityThatIsGoneAreCounted() throws {
        let folder = try TemporaryFolder()
        let old = MigrationTests.model.changed { $0.entities.append(EntityDescription(name: "Other")) }
        try makeStore(
            folder, old, ["INSERT INTO Thing (_key) VALUES (1)", "INSERT INTO Other (_key) VALUES (2), (3)"])
        let startup = try migrate(folder, MigrationTests.model).startup
        #expect(startup.migration?.rowsCarried == 1)
        #expect(startup.migration?.removedEntities == ["Other"])
        #expect(startup.migration?.losses == ["Other: the objects"])
        #expect(startup.rowsDropped == 2 && startup.isReset)
    }

    /// All names are quoted, and none of ours can clash with a model's.
    @Test func hostileNamesAreCarriedOver() throws {
        let folder = try TemporaryFolder()
        let names = [
            "select", "a\"b", "a'b", "_old 0", "_links 0", "Name", "name", "source", "destination", "?1", "$x",
            "_source", "_destination", "_linked", "_select_all",
        ]
        let old = ManagedObjectModel(
            name: "",
            entities: names.map { name in
                EntityDescription(
                    name: name, attributes: names.map { MigrationTests.attribute($0, .string) },
                    relationships: [
                        RelationshipDescription(name: "to", destinationName: name, isOptional: true),
                        RelationshipDescription(name: "all", destinationName: name, isToMany: true, isOptional: true),
                    ])
            })
        let store = try SQLiteStore.open(.of(old, folder))
        for entity in ModelLayout(old).entities where entity.links == nil {
            var row = RowSnapshot(columnCount: names.count + 1)
            for column in names.indices { row.setText("\(column)", column) }
            row.setInteger(Int64(entity.index) + 1, names.count)
            try store.write([.of(entity.index, insert: [StoredRow(key: Int64(entity.index) + 1, row: row)])])
        }
        store.close()
        let new = old.changed { model in
            for index in model.entities.indices {
                model.entities[index].attributes.append(MigrationTests.attribute("%", .string))
                model.entities[index].relationships[0].isOptional = false
            }
        }
        let opened = try SQLiteStore.open(.of(new, folder))
        #expect(opened.startup.migration?.rowsCarried == names.count)
        for entity in 0..<names.count {
            let row = try #require(try opened.row(Int64(entity) + 1, entity: entity))
            for column in names.indices { #expect(row.text(column) == "\(column)") }
            #expect(row.integer(names.count + 1) == Int64(entity) + 1)
        }
        opened.close()
        try checkIntegrity(folder)
    }
}
