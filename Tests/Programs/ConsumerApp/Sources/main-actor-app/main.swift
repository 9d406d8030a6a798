import CoreDataSource
import Foundation

/// What was not as it should be.
nonisolated struct UnexpectedValue: Error, CustomStringConvertible {
    var description: String
}

func expect<Value: Equatable>(_ what: String, _ value: Value, _ expected: Value) throws {
    if value != expected { throw UnexpectedValue(description: "\(what): \(value), not \(expected)") }
}

func run() async throws {
    let container = try await PersistentContainer(model: .notes, store: .inMemory)
    let tags = try container.dataSource(TagDataSource.self)
    let notes = try container.dataSource(NoteDataSource.self)
    let list = try TagList(tags)

    try expect("tags", try await tags.add([TagData(name: "work", isPinned: true), TagData(name: "home")]).inserted, 2)
    // A fetch brings main and its lists up to the save.
    try expect("fetch", try tags.fetch(Tag.self).count, 2)
    try expect("list", list.titles, ["home", "* work"])

    let data = [NoteData(id: UUID(), text: "work"), NoteData(id: UUID(), text: "play")]
    try expect("notes", try await notes.add(data), SaveReport(inserted: 2))
    try notes.show()
    try expect("shown", notes.shown, 2)
    let request = ObjectRequest<Note>(where: \.tagName == "work")
    try expect("texts", try await notes.fetch(as: NoteText.self, request).map(\.text), ["work"])
    let count = try await notes.perform { context in
        for note in try context.fetch(Note.self) { note.text += "!" }
        return try context.count(Note.self)
    }
    try expect("count", count, 2)
    let read = try await container.read { context in try context.values(ObjectRequest<Note>(), \.text) }
    try expect("read", Set(read), ["work!", "play!"])
    try expect("sync", try await tags.sync([TagData(name: "new")], entity: Tag.self).deleted, 2)
    try await container.close()
    print("main-actor-app: two data sources and a list work in a target that is main's")
}

do {
    try await run()
} catch {
    FileHandle.standardError.write(Data("main-actor-app: \(error)\n".utf8))
    exit(1)
}
