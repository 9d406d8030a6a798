import CoreDataSource
import Foundation

/// What was not as it should be.
struct UnexpectedValue: Error, CustomStringConvertible {
    var description: String
}

func expect<Value: Equatable>(_ what: String, _ value: Value, _ expected: Value) throws {
    if value != expected { throw UnexpectedValue(description: "\(what): \(value), not \(expected)") }
}

func notes(_ range: Range<Int>, text: String = "note") -> [NoteData] {
    range.map { number in
        NoteData(
            id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))), text: "\(text) \(number)",
            createdAt: Date(timeIntervalSinceReferenceDate: Double(number) + 0.25), tagName: number == 0 ? nil : "work")
    }
}

/// Adds, syncs and deletes, and looks at what each did.
func fill(_ container: PersistentContainer) async throws -> [NoteData] {
    let source = try await container.dataSource(NoteDataSource.self)
    try expect("first start", container.startup.reason, .firstLaunch)
    try expect("add", try await source.add(notes(0..<10)), SaveReport(inserted: 10))

    var list = notes(0..<9) + notes(20..<22)
    list[3].text = "edited"
    let sync = try await source.sync(list, entity: Note.self)
    try expect("sync", [sync.inserted, sync.updated, sync.unchanged, sync.deleted], [2, 1, 8, 1])

    try expect("delete", try await source.delete(notes(0..<2)), SaveReport(deleted: 2))
    let tags = try await container.dataSource(TagDataSource.self)
    try expect("tags", try await tags.add([TagData(name: "work", isPinned: true), TagData(name: "home")]).inserted, 2)
    return Array(list.dropFirst(2))
}

/// Looks, at the next start, at everything that was stored.
@MainActor
func check(_ container: PersistentContainer, _ expected: [NoteData]) throws {
    try expect("second start", container.startup.reason, .current)
    let source = try container.dataSource(NoteDataSource.self)
    try expect("notes", try source.all(), expected)
    try expect("tagged", try source.fetch(Note.self, where: \.tagName == "work").count, expected.count)
    let titles = try container.dataSource(TagDataSource.self).fetch(Tag.self, order: [SortDescriptor(\.name)]).map(
        \.title)
    try expect("tags", titles, ["home", "* work"])
}

func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(component: "ConsumerApp-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = StoreLocation.sqlite(folder.appending(component: "Notes.sqlite"))

    let first = try await PersistentContainer(name: "Notes", databaseKey: "1", configuration: .init(directory: folder))
    let expected = try await fill(first)
    try await first.close()

    let second = try await PersistentContainer(model: .notes, store: store, databaseKey: "1")
    try await check(second, expected)
    try await second.close()
    print("consumer-app: \(expected.count) notes and 2 tags were there at the second start")
}

do {
    try await run()
} catch {
    FileHandle.standardError.write(Data("consumer-app: \(error)\n".utf8))
    exit(1)
}
