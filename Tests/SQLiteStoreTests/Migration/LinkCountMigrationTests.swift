import ErrorExpectations
import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import Testing

/// What a new model demands of the number of links must be true of the links that are carried over.
struct LinkCountMigrationTests {
    /// Notes in folders, of which the trash is one; each with a sheet, with tags, and with its peers.
    private static func model(_ demand: Demand? = nil) -> ManagedObjectModel {
        func link(_ kind: Demand, _ destination: String, _ inverse: Demand, isToMany: Bool = false)
            -> RelationshipDescription
        {
            var link = relationship(kind.rawValue, destination, inverse.rawValue, isToMany: isToMany)
            if kind == demand {
                if kind == .tags { link.maximumCount = 2 } else { link.isOptional = false }
            }
            return link
        }
        return ManagedObjectModel(
            name: "Notes",
            entities: [
                EntityDescription(name: "Folder", relationships: [link(.notes, "Note", .folder, isToMany: true)]),
                EntityDescription(
                    name: "Note",
                    relationships: [
                        link(.folder, "Folder", .notes), link(.peers, "Note", .peers, isToMany: true),
                        link(.sheet, "Sheet", .note), link(.tags, "Tag", .tagged, isToMany: true),
                    ]),
                EntityDescription(name: "Sheet", relationships: [link(.note, "Note", .sheet)]),
                EntityDescription(name: "Tag", relationships: [link(.tagged, "Note", .tags, isToMany: true)]),
                EntityDescription(name: "Trash", parentName: "Folder"),
            ])
    }

    // Folder 0, Note 1, Sheet 2, Tag 3, Trash 4.
    private static let rows = [
        "INSERT INTO Folder (_key) VALUES (1)", "INSERT INTO Trash (_key) VALUES (2)",
        "INSERT INTO Sheet (_key) VALUES (3), (4)", "INSERT INTO Tag (_key) VALUES (5), (6), (7)",
        "INSERT INTO Note (_key, folder, [folder.entity], sheet) VALUES (8, 1, 0, 3), (9, 2, 4, 4)",
        "INSERT INTO _Note_tags (_key, _source, _destination) VALUES (20, 8, 5), (21, 8, 6), (22, 9, 7)",
        "INSERT INTO _Note_peers (_key, _source, _destination) VALUES (24, 8, 9)",
    ]

    enum Demand: String, CaseIterable, Sendable {
        case folder, notes, tags, tagged, sheet, note, peers

        fileprivate var isOfMany: Bool { [.notes, .tags, .tagged, .peers].contains(self) }

        /// Leaves one object with no link, or with one too many.
        fileprivate var violation: String {
            switch self {
            case .folder: "UPDATE Note SET folder = NULL, [folder.entity] = NULL WHERE _key = 9"
            case .notes: "UPDATE Note SET folder = 1, [folder.entity] = 0"
            case .tags: "INSERT INTO _Note_tags (_key, _source, _destination) VALUES (25, 8, 7)"
            case .tagged: "DELETE FROM _Note_tags WHERE _destination = 6"
            case .sheet: "UPDATE Note SET sheet = NULL WHERE _key = 8"
            case .note: "INSERT INTO Sheet (_key) VALUES (10)"
            case .peers: "INSERT INTO Note (_key, folder, [folder.entity], sheet) VALUES (11, 1, 0, NULL)"
            }
        }
    }

    @Test(arguments: Demand.allCases) func objectsWithTooFewOrTooManyLinksAreNamed(_ demand: Demand) throws {
        let model = LinkCountMigrationTests.model(demand)
        let fitting = try TemporaryFolder()
        try makeStore(fitting, LinkCountMigrationTests.model(), LinkCountMigrationTests.rows)
        let whole = try #require(try migrate(fitting, model).startup.migration)
        #expect(whole.rowsCarried == 9 && whole.unmetRequirements == [])

        let folder = try TemporaryFolder()
        try makeStore(folder, LinkCountMigrationTests.model(), LinkCountMigrationTests.rows + [demand.violation])
        if demand.isOfMany {
            // A to-many relationship is not refused, for a new one has no objects yet.
            let report = try #require(try migrate(folder, model).startup.migration)
            #expect(report.unmetRequirements.count == 1)
            #expect(report.unmetRequirements[0].contains(".\(demand.rawValue): the relationship leads to at "))
            return
        }
        let before = folder.contents()
        let error = expectError(.modelChanged) {
            try SQLiteStore.open(.of(model, folder, .migrate(otherwise: .fail)))
        }
        #expect(error?.cause?.contains(".\(demand.rawValue): the relationship leads to at ") == true)
        #expect(folder.contents() == before)
    }

    @Test func aRequiredLinkToARemovedEntityIsNamed() throws {
        let old = LinkCountMigrationTests.model(.folder)
        let folder = try TemporaryFolder()
        try makeStore(folder, old, LinkCountMigrationTests.rows)
        let new = old.changed { $0.entities.removeAll { $0.name == "Trash" } }
        let startup = try migrate(folder, new).startup
        #expect(startup.migration == nil)
        #expect(startup.fallback?.contains("Note.folder: the relationship leads to at least 1") == true)
    }

    @Test func aNewRequiredRelationshipIsForEntitiesWithoutObjects() throws {
        let new = LinkCountMigrationTests.model().changed {
            $0.edit("Tag") {
                $0.relationships.append(
                    RelationshipDescription(
                        name: "origin", destinationName: "Folder", isToMany: false, isOptional: false))
            }
        }
        for (sql, isPossible) in [("DELETE FROM Tag", true), ("DELETE FROM Note", false)] {
            let folder = try TemporaryFolder()
            try makeStore(folder, LinkCountMigrationTests.model(), LinkCountMigrationTests.rows + [sql])
            #expect((try migrate(folder, new).startup.migration != nil) == isPossible)
        }
    }

    /// An unchanged requirement of rows that nobody changed is not asked about, whatever else a key drops.
    @Test func aKeyDropsWhatRequiredRelationshipsLeadTo() throws {
        let old = LinkCountMigrationTests.model(.folder)
        let folder = try TemporaryFolder()
        try makeStore(folder, old, LinkCountMigrationTests.rows)
        let new = old.changed {
            $0.edit("Tag") { $0.attributes.append(AttributeDescription(name: "x", type: .date, isOptional: true)) }
        }
        let startup = try migrate(folder, new, keys: ["Trash": "7"]).startup
        #expect(startup.migration != nil && startup.entitiesReset == ["Trash"])
    }
}
