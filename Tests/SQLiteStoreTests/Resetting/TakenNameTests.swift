import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import Testing

/// An entity goes, and another one gets its name. Neither the rows nor the key of the first one become those of the second.
struct TakenNameTests {
    private static func entity(_ name: String, from identifier: String? = nil) -> EntityDescription {
        EntityDescription(
            name: name, attributes: [AttributeDescription(name: "text", type: .string, isOptional: true)],
            renamingIdentifier: identifier)
    }

    private static let old = ManagedObjectModel(name: "Papers", entities: [entity("Bill"), entity("Note")])
    /// The bills are gone, and the notes are called bills.
    private static let new = ManagedObjectModel(name: "Papers", entities: [entity("Bill", from: "Note")])

    /// A store of one bill and two notes.
    private func folder(_ keys: [String: String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try SQLiteStore.open(.of(Self.old, folder, keys: keys)).close()
        let raw = try RawDatabase(folder.store)
        try raw.run("INSERT INTO Bill (_key, text) VALUES (1, 'bill')")
        try raw.run("INSERT INTO Note (_key, text) VALUES (2, 'a'), (3, 'b')")
        return folder
    }

    @Test(arguments: [["Bill": "1"], ["Note": "1"], ["Bill": "1", "Note": "2"], [:]])
    func aReusedNameDoesNotGetTheOldKey(keys: [String: String]) throws {
        let folder = try folder(keys)
        let (startup, raw) = try migrate(folder, Self.new, .migrate(otherwise: .fail))
        #expect(startup.migration?.rowsCarried == 2 && startup.reason.entitiesWithChangedKey == [])
        #expect(startup.dropped.objects == ["Bill": 1])
        #expect(try raw.run("SELECT text FROM Bill ORDER BY 1") == ["a", "b"])
        // It has the key of the notes, and no other one.
        let key = keys["Note"]
        #expect(
            try migrate(folder, Self.new, .migrate, keys: key.map { ["Bill": $0] } ?? [:]).startup.reason == .current)
        #expect(try migrate(folder, Self.new, .migrate, keys: ["Bill": "9"]).startup.rowsDropped == 2)
    }

    @Test func anotherKeyOfWhatGotTheNameDropsItsRows() throws {
        let (startup, raw) = try migrate(folder(["Bill": "2", "Note": "1"]), Self.new, .migrate, keys: ["Bill": "2"])
        #expect(startup.reason.entitiesWithChangedKey == ["Bill"])
        #expect(startup.migration?.rowsCarried == 0 && startup.rowsDropped == 3)
        #expect(try raw.run("SELECT count(*) FROM Bill") == ["0"])
    }

    /// That policy keeps what has the same name and shape. Nobody gets rows of another key by that.
    @Test func rowsThatKeepTheirNameKeepTheirKey() throws {
        for (keys, given, count) in [
            (["Bill": "1"], [:], "0"), (["Bill": "1"], ["Bill": "2"], "0"), (["Bill": "1"], ["Bill": "1"], "0"),
            ([:], ["Bill": "1"], "0"), ([:], [:], "1"),
        ] as [([String: String], [String: String], String)] {
            let other = ManagedObjectModel(
                name: "Papers", entities: [Self.entity("Bill", from: "Note"), Self.entity("Zoo")])
            let (startup, raw) = try migrate(folder(keys), other, .changedEntities, keys: given)
            #expect(try raw.run("SELECT count(*) FROM Bill") == [count], "\(keys) \(given)")
            #expect(startup.rowsDropped == (count == "0" ? 3 : 2), "\(keys) \(given)")
        }
    }
}
