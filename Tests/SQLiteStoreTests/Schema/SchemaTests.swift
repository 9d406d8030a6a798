import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct SchemaTests {
    private func attribute(_ name: String, isIndexed: Bool = false) -> AttributeDescription {
        AttributeDescription(name: name, type: .string, isOptional: true, isIndexed: isIndexed)
    }

    private func layout(_ entities: EntityDescription...) -> ModelLayout {
        ModelLayout(ManagedObjectModel(name: "Schema", entities: entities))
    }

    /// What SQLite knows of the store's own tables or indexes.
    private func names(_ type: String, _ folder: TemporaryFolder) throws -> Set<String> {
        Set(
            try RawDatabase(folder.store).run(
                "SELECT name FROM sqlite_schema WHERE type = '\(type)' AND name NOT LIKE 'sqlite_%'"))
    }

    @Test func hostileNamesRoundTrip() throws {
        let names = [
            "select", "a b", "a\"b", "a'b;--", "_key", "_KEY", "_key_", "Name", "name", "NAME", "rowid", "oid",
            "emoji 👩‍👩‍👧‍👦", "é", "sqlite_x", "[x]", "`", "?1", ":a", "a.b", String(repeating: "x", count: 1000),
        ]
        let entityNames = names + ["_metadata", "_Metadata", "sqlite_schema", "SQLITE_y", "pragma_table_info"]
        let entities = entityNames.map { name in
            EntityDescription(
                name: name, attributes: names.map { attribute($0, isIndexed: true) },
                indexes: [FetchIndexDescription(name: name, elements: names.map { .init(property: $0) })],
                uniquenessConstraints: [["select"], ["a\"b", "name"]])
        }
        let layout = ModelLayout(ManagedObjectModel(name: "Hostile", entities: entities))
        let folder = try TemporaryFolder()
        try roundTrip(.test(folder, layout))
        try checkIntegrity(folder)
    }

    @Test func namesThatCannotBeAreRefused() throws {
        let folder = try TemporaryFolder()
        let nul = layout(EntityDescription(name: "A", attributes: [attribute("a\0b")]))
        let wide = layout(EntityDescription(name: "A", attributes: (0..<2000).map { attribute("c\($0)") }))
        for layout in [nul, wide, layout(EntityDescription(name: "A\0"))] {
            #expect(code { _ = try SQLiteStore.open(.test(folder, layout)) } == .unreadableModel)
        }
        #expect(folder.names.isEmpty)
        let widest = layout(EntityDescription(name: "A", attributes: (0..<1999).map { attribute("c\($0)") }))
        let store = try SQLiteStore.open(.test(folder, widest))
        var row = RowSnapshot(columnCount: 1999)
        row.setText("last", 1998)
        try store.write([.of(0, insert: [StoredRow(key: 1, row: row)])])
        #expect(try store.row(1)?.text(1998) == "last")
        store.close()
    }

    /// The hash does not cover the order of properties, so tables must be the same in any.
    @Test func theOrderOfPropertiesDoesNotMatter() throws {
        let folder = try TemporaryFolder()
        let attributes = ["b", "B", "a", "b_", "c"].map { attribute($0) }
        let first = layout(EntityDescription(name: "A", attributes: attributes))
        let second = layout(EntityDescription(name: "A", attributes: attributes.reversed()))
        let store = try SQLiteStore.open(.test(folder, first))
        var row = RowSnapshot(columnCount: 5)
        for column in 0..<5 { row.setText(first.entities[0].columns[column].name, column) }
        try store.write([.of(0, insert: [StoredRow(key: 1, row: row)])])
        store.close()
        let again = try SQLiteStore.open(.test(folder, second))
        #expect(again.startup.reason == .current)
        let found = try #require(try again.row(1))
        for column in 0..<5 { #expect(found.text(column) == second.entities[0].columns[column].name) }
        again.close()
    }

    @Test func indexesFollowTheModel() throws {
        let folder = try TemporaryFolder()
        func model(_ elements: [FetchIndexDescription.Element], isIndexed: Bool) -> ModelLayout {
            layout(
                EntityDescription(
                    name: "A", attributes: [attribute("x", isIndexed: isIndexed), attribute("y"), attribute("z")],
                    indexes: [FetchIndexDescription(name: "byXY", elements: elements)],
                    uniquenessConstraints: [["z"]]))
        }
        try SQLiteStore.open(.test(folder, model([.init(property: "x")], isIndexed: true))).close()
        let unique = "_unique \"A\" (\"z\")"
        #expect(try names("index", folder) == [unique, "_index \"A\" (\"x\")"])
        try RawDatabase(folder.store).run("CREATE INDEX mine ON A (x, y)")
        let changed: [FetchIndexDescription.Element] = [
            .init(property: "y", isAscending: false), .init(property: "x"),
        ]
        try SQLiteStore.open(.test(folder, model(changed, isIndexed: false))).close()
        #expect(try names("index", folder) == [unique, "_index \"A\" (\"y\" DESC, \"x\")", "mine"])
        try checkIntegrity(folder)
    }

    @Test func relationshipsAreLaidOut() throws {
        let folder = try TemporaryFolder()
        let model = layout(
            EntityDescription(
                name: "Post",
                relationships: [
                    RelationshipDescription(name: "author", destinationName: "User", inverseName: "posts"),
                    RelationshipDescription(
                        name: "tags", destinationName: "Tag", inverseName: "posts", isToMany: true, isOrdered: true),
                    RelationshipDescription(name: "links", destinationName: "Post", isToMany: true),
                ]),
            EntityDescription(
                name: "Tag",
                relationships: [
                    RelationshipDescription(name: "posts", destinationName: "Post", inverseName: "tags", isToMany: true)
                ]),
            EntityDescription(
                name: "User",
                relationships: [
                    RelationshipDescription(
                        name: "posts", destinationName: "Post", inverseName: "author", isToMany: true),
                    RelationshipDescription(
                        name: "friends", destinationName: "User", inverseName: "friends", isToMany: true),
                ]))
        try SQLiteStore.open(.test(folder, model)).close()
        #expect(
            try names("table", folder) == [
                "_metadata", "Post", "Tag", "User", "_Post_tags", "_Post_links", "_User_friends",
            ])
        #expect(try names("index", folder).contains("_index \"Post\" (\"author\")"))
        try SQLiteStore.open(.test(folder, model)).close()
        try checkIntegrity(folder)
    }

    @Test func aTableIsNamedAsTheModelSpellsIt() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        let row = TestModel.row(.integer(5), .real(0.5), .text("t"))
        try store.write([.of(insert: [StoredRow(key: 1, row: row)])])
        store.close()
        #expect(
            try RawDatabase(folder.store).run(
                "SELECT _key, integer, real, text, typeof(integer), typeof(real), typeof(blob) FROM Item")
                == ["1", "5", "0.5", "t", "integer", "real", "null"])
    }
}
