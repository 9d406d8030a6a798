import CoreDataSource
import Foundation
import ModelReader
import RowStore
import TestSupport
import Testing

/// Where links are, for facts that decide what can be linked. The tables are other ones than Core Data's.
extension SemanticsCase {
    static let storage: [SemanticsCase] = [
        SemanticsCase(
            144, "an entity with uniqueness constraints may be the destination of a mandatory inverse, with a warning"
        ) { container, source in
            // Core Data refuses it, because it merges conflicts. Here a conflict is an error, so both rules hold.
            try await source.perform { try $0.passport("1").holder = $0.person("p") }
            try await source.expectRefusal(.uniquenessViolated, "Person", "key") { context in
                let second = try context.insert(Person.self)
                second.key = "p"
                try context.passport("2").holder = second
            }
            #expect(try container.main.fetch(Passport.self).map { $0.holder?.key } == ["p"])
            let bundle = PackageFiles.tests.appending(path: "Fixtures/Graph.xcdatamodeld")
            let warnings = try ModelReader.read(bundle).diagnostics
            #expect(warnings.contains { "\($0)".contains("is to-one and mandatory: Person.passport") })
        },
        SemanticsCase(516, "objects of an ordered one-to-many relationship have places with gaps, in their own rows") {
            container, source in
            try await source.perform { context in
                try context.letter("a").attachments = ["1", "2", "3"].map(context.attachment)
            }
            let before = try container.places("Attachment", "letter.position")
            #expect(before.count == 3 && zip(before, before.dropFirst()).allSatisfy { $1 - $0 > 1 })
            let report = try await source.perform { context in
                try context.letter("a").attachments.insert(context.attachment("new"), at: 1)
                return try context.count(Attachment.self)
            }
            let after = try container.places("Attachment", "letter.position")
            #expect(report == 4 && Array(after.prefix(3)) == before)
            #expect(before[0] < after[3] && after[3] < before[1])
            #expect(try container.main.first(Letter.self)?.attachments.map(\.key) == ["1", "new", "2", "3"])
        },
        SemanticsCase(517, "a many-to-many link is one row for both of its sides, whichever side makes it") {
            container, source in
            try await source.perform { context in
                try context.letter("a").labels.insert(context.label("l"))
                try context.label("l").letters.append(context.letter("b"))
            }
            try await source.perform { context in
                try context.label("l").letters = [context.letter("b"), context.letter("a")]
                try context.letter("b").labels.insert(context.label("l"))
            }
            #expect(try container.linkCount(Letter.self, "labels") == 2)
            #expect(try container.linkCount(Label.self, "letters") == 2)
            #expect(try container.main.first(Label.self)?.letters.map(\.key) == ["b", "a"])
        },
        SemanticsCase(518, "a to-many relationship without an inverse has rows of its own, so many may lead to one") {
            container, source in
            try await source.perform { context in
                for name in ["f", "g"] { try context.folder(name).letters.insert(context.letter("a")) }
            }
            #expect(try container.linkCount(Folder.self, "letters") == 2)
            #expect(try container.main.fetch(Folder.self).map { $0.letters.map(\.key) } == [["a"], ["a"]])
        },
    ]
}

extension PersistentContainer {
    /// The numbers in a column of an entity, in the order of the objects' creation.
    fileprivate func places(_ entity: String, _ column: String) throws -> [Int64] {
        let layout = try #require(stack.layout.entity(named: entity))
        let place = try #require(layout.column(named: column))
        return try stack.root.rows.rows(.init(entity: layout.index), layout).rows.map { $0.row.integer(place) }
    }

    /// How many rows a relationship has that has rows of its own; -1 for another one.
    fileprivate func linkCount(_ type: ManagedObject.Type, _ relationship: String) throws -> Int {
        let layout = try #require(stack.layout.entity(named: type.entityName))
        let index = try #require(layout.relationship(named: relationship))
        guard case .pairs(let pairs) = layout.relationships[index].storage else { return -1 }
        let links = stack.layout.entities[pairs.layout]
        return try stack.root.rows.rows(.init(entity: links.index), links).rows.count
    }
}
