import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// A release adds attributes whose initial values are evaluated for each new object.
@MainActor
struct InitialValueMigrationTests {
    /// Makes a store of the first release with three notes, of which one has labels.
    private func makeNotes(_ place: ReleasePlace, count: Int = 3) async throws {
        let container = try await place.open(FirstNotes.model)
        try await container.dataSource(FirstNotes.Source.self).perform { context in
            for number in 0..<count {
                let note = try context.insert(FirstNotes.Note.self)
                note.text = "note \(number)"
                if number == 0 { note.marks = ["red"] }
            }
        }
        try await container.close()
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func existingObjectsGetTheInitialValuesOfTheClass(kind: ReleasePlace.Kind) async throws {
        let place = try ReleasePlace(kind)
        try await makeNotes(place)
        let start = Date()
        let container = try await place.open(SecondNotes.model, .migrate(otherwise: .fail))
        #expect(container.startup.migration?.rowsCarried == 3)
        let notes = try container.main.fetch(SecondNotes.Note.self, order: [.ascending(\.text)])
        #expect(notes.map(\.labels) == [[], [], []])
        #expect(notes.map(\.marks) == [["red"], ["none"], ["none"]])
        #expect(notes.map(\.size.width) == [3, 3, 3] && notes.map(\.place.name) == Array(repeating: "home", count: 3))
        #expect(notes.map(\.token) == [nil, nil, nil])
        #expect(notes.allSatisfy { $0.changedAt >= start && $0.changedAt == notes[0].changedAt })
        // The store has the values: they are not only read instead of a missing value.
        #expect(try container.main.count(SecondNotes.Note.self, where: \.changedAt >= start) == 3)
        #expect(try container.main.count(SecondNotes.Note.self, where: \.place.name == "home") == 3)
        try await container.dataSource(SecondNotes.Source.self).perform { context in
            for note in try context.fetch(SecondNotes.Note.self) { note.text += "!" }
        }
        try await container.close()
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func aValueThatDiffersInEachObjectPreventsTheMigration(kind: ReleasePlace.Kind) async throws {
        let place = try ReleasePlace(kind)
        try await makeNotes(place)
        let error = await expectError(.modelChanged) {
            try await place.open(TokenNotes.model, .migrate(otherwise: .fail))
        }
        let advice =
            "Note.token: the attribute is new and required, but its initial value is another value in each new object, so "
            + "the existing objects cannot all get one value. Make the attribute optional, or give it a literal as its default value."
        #expect(error?.cause?.contains(advice) == true, "\(error?.cause ?? "")")
        let required =
            "Note.marks: the attribute is required now, but some objects have no value, and its initial value is another"
        #expect(error?.cause?.contains(required) == true, "\(error?.cause ?? "")")
        // Nothing has changed.
        let container = try await place.open(FirstNotes.model, .fail)
        #expect(try container.main.count(FirstNotes.Note.self) == 3)
        try await container.close()
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func withoutObjectsThereIsNothingToValue(kind: ReleasePlace.Kind) async throws {
        let place = try ReleasePlace(kind)
        try await makeNotes(place, count: 0)
        let container = try await place.open(TokenNotes.model, .migrate(otherwise: .fail))
        #expect(container.startup.migration?.rowsCarried == 0)
        try await container.close()
    }

    /// The record of a deletion has no values of attributes that a later release has added.
    @Test(arguments: ReleasePlace.Kind.all)
    func aDeletionFromBeforeTheMigrationCanBeUndone(kind: ReleasePlace.Kind) async throws {
        let place = try ReleasePlace(kind)
        try await makeNotes(place)
        let history = KeptHistory.kept(for: .seconds(3600), upTo: 1 << 20)
        let first = try await place.open(FirstNotes.model, history: history)
        try await first.withAuthor("user") {
            _ = try await first.dataSource(FirstNotes.Source.self).delete(
                FirstNotes.Note.self, where: \.text == "note 1")
        }
        try await first.close()
        let second = try await place.open(SecondNotes.model, .migrate(otherwise: .fail), history: history)
        _ = try second.dataSource(SecondNotes.Source.self)
        let report = try await second.undo(author: "user")
        #expect(report?.save.inserted == 1)
        let note = try second.main.first(SecondNotes.Note.self, where: \.text, equals: "note 1")
        #expect(note?.labels == [] && note?.marks == ["none"] && note?.size.width == 3)
        #expect(try second.main.count(SecondNotes.Note.self) == 3)
        try await second.close()
    }
}

private enum FirstNotes {
    @StoredEntity("Note") final class Note: ManagedObject {
        @Stored(unique: true) var text: String = ""
        @Stored(.codable) var marks: [String]?
    }

    static let model = ManagedObjectModel("Notes") { Note.self }

    final class Source: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Note.self] }
    }
}

private enum SecondNotes {
    struct Size: Codable, Sendable {
        var width = 3
        var tags: [String: Int] = ["b": 2, "a": 1]
    }

    @StoredComposite("Place") struct Place {
        var name: String = Place.home
        static let home = "home"
    }

    @StoredEntity("Note") final class Note: ManagedObject {
        @Stored(unique: true) var text: String = ""
        @Stored(.codable) var marks: [String] = ["none"]
        @Stored(.codable) var labels: [String] = []
        @Stored(.codable) var size: Size = Size()
        @Stored(.composite) var place: Place
        var changedAt: Date = Date()
        var token: UUID? = UUID()
    }

    static let model = ManagedObjectModel("Notes") { Note.self }

    final class Source: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Note.self] }
    }
}

private enum TokenNotes {
    @StoredEntity("Note") final class Note: ManagedObject {
        @Stored(unique: true) var text: String = ""
        @Stored(.codable) var marks: [String] = [UUID().uuidString]
        var token: UUID = UUID()
    }

    static let model = ManagedObjectModel("Notes") { Note.self }
}

/// The class that the article about migrations shows.
private enum ArticleNotes {
    @StoredEntity("Note") final class Note: ManagedObject {
        var text: String = ""
        // An existing note has no labels, and was changed when it was migrated.
        @Stored(.codable) var labels: [String] = []
        var changedAt: Date = Date()
        // An existing note has nil, until the app sets another value.
        var token: UUID? = UUID()
    }
}
