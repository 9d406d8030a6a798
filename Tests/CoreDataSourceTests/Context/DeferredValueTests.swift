import CoreDataSource
import Foundation
import RowStore
import Testing

/// Large values of attributes with `allowsExternalBinaryDataStorage` (line 95 of `coredata-semantics.md`) stay in the store when
/// objects are fetched for reading, and are read when they are needed.
@MainActor @Suite struct DeferredValueTests {
    private nonisolated static let large = 1 << 20

    /// Expects a number of statements.
    private func expect(
        _ count: Int, _ container: PersistentContainer, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) rethrows {
        let before = container.statementCount
        try body()
        #expect(container.statementCount - before == count, sourceLocation: sourceLocation)
    }

    private func recordings(_ container: PersistentContainer) throws -> [Recording] {
        try container.main.fetch(Recording.self, order: [.ascending(\.title)])
    }

    @Test func noFilesAreMadeForLargeValues() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .recordings(), store: .sqlite(directory.store))
        try await container.dataSource(RecordingDataSource.self).insert([Self.large, 4 * Self.large])
        let files = { try FileManager.default.subpathsOfDirectory(atPath: directory.url.path) }
        #expect(try files().allSatisfy { $0.hasPrefix("store.sqlite") })
        try await container.close()
        #expect(try files().allSatisfy { $0.hasPrefix("store.sqlite") })
        let size = try FileManager.default.attributesOfItem(atPath: directory.store.path)[.size] as? Int
        #expect(try #require(size) > 5 * Self.large)
    }

    // MARK: Fetching

    @Test func aFetchDoesNotReadLargeValues() async throws {
        try await withRecordings(Array(repeating: Self.large, count: 100)) { container, _ in
            let found = try container.main.fetch(Recording.self)
            #expect(found.map(\.title) == (0..<100).map(String.init))
            #expect(found.reduce(0) { $0 + $1.rowByteCount } < 100 * 200)
            let bytes = try await container.read { context in
                try context.fetch(Recording.self).reduce(0) { $0 + $1.rowByteCount }
            }
            #expect(bytes < 100 * 200)
        }
    }

    @Test func relatedObjectsAreReadWithoutLargeValues() async throws {
        try await withRecordings([Self.large, Self.large]) { container, _ in
            let album = try #require(try container.main.first(Album.self))
            #expect(album.recordings.reduce(0) { $0 + $1.rowByteCount } < 400)
            #expect(album.recordings.map { $0.sound?.count } == [Self.large, Self.large])
            let bytes = try await container.read { context in
                var request = ObjectRequest(Album.self)
                request.prefetch = [\.recordings]
                return try context.fetch(request)[0].recordings.reduce(0) { $0 + $1.rowByteCount }
            }
            #expect(bytes < 400)
        }
    }

    @Test func aLargeValueIsReadByOneStatementWhenItIsNeeded() async throws {
        try await withRecordings([Self.large, Self.large]) { container, _ in
            let found = try recordings(container)
            expect(1, container) { #expect(found[0].sound == .large(Self.large)) }
            expect(0, container) { #expect(found[0].sound == .large(Self.large)) }
            #expect(found[1].rowByteCount < 200 && found[0].rowByteCount > Self.large)
            expect(1, container) { #expect(found[1].soundLength == Self.large) }
        }
    }

    /// It is one row, and who asks for it wants it.
    @Test func aLookUpOfOneObjectReadsAllOfIt() async throws {
        try await withRecordings([Self.large, Self.large]) { container, _ in
            let found = try #require(try container.main.first(Recording.self, where: \.title, equals: "0"))
            #expect(found.rowByteCount > Self.large)
            let id = try await container.read { context in
                try #require(try context.fetch(Recording.self, where: \.title == "1").first).objectID
            }
            let other = try #require(try container.main.object(Recording.self, id: id))
            #expect(other.rowByteCount > Self.large)
            expect(0, container) { #expect(other.sound == .large(Self.large, seed: 1)) }
        }
        try await withRecordings([Self.large], .inMemory) { container, _ in
            let whole = try recordings(container)
            #expect(whole.allSatisfy { $0.rowByteCount > Self.large })
        }
    }

    @Test func aFetchKeepsLargeValuesThatWereRead() async throws {
        try await withRecordings([Self.large, Self.large]) { container, source in
            let found = try recordings(container)
            #expect(found[0].sound == .large(Self.large))
            try await source.perform { try $0.fetch(Recording.self)[1].title = "other" }
            #expect(try recordings(container) == found)
            expect(0, container) { #expect(found[0].sound == .large(Self.large)) }
        }
    }

    @Test func smallValuesComeWithTheRow() async throws {
        let most = RowSnapshot.longestInlineValue
        try await withRecordings([nil, 0, 10, most]) { container, _ in
            let found = try recordings(container)
            expect(0, container) {
                #expect(found.map { $0.sound?.count } == [nil, 0, 10, most])
                #expect(found.map(\.cover) == (0..<4).map { Data([$0]) })
            }
        }
    }

    @Test func allLargeValuesOfAnObjectAreReadTogether() async throws {
        try await withRecordings([Self.large]) { container, source in
            let notes = (0..<5000).map { "note \($0)" }
            try await source.perform { context in
                let recording = try context.fetch(Recording.self)[0]
                recording.notes = notes
                recording.cover = .large(Self.large, seed: 9)
            }
            let recording = try #require(try recordings(container).first)
            #expect(recording.rowByteCount < 200)
            expect(1, container) {
                #expect(recording.notes == notes)
                #expect(recording.cover == .large(Self.large, seed: 9))
                #expect(recording.sound == .large(Self.large))
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func bothStoresReadLargeValuesAsWritten(kind: StoreKind) async throws {
        try await withRecordings([nil, 10, Self.large], kind) { container, _ in
            let expected = [nil, Data.large(10, seed: 1), .large(Self.large, seed: 2)]
            #expect(try recordings(container).map(\.sound) == expected)
            let read = try await container.read { try $0.fetch(Recording.self).map(\.sound) }
            #expect(read == expected)
        }
    }

    @Test func generatedClassesReadLargeValuesToo() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .allTypes, store: .sqlite(directory.store), configuration: .uncached)
        try await container.dataSource(PlainDataSource<Special>.self).perform { context in
            let special = try context.insert(Special.self)
            special.tags = ["a"]
            special.attachment = .large(Self.large)
        }
        let special = try #require(try container.main.fetch(Special.self).first)
        expect(1, container) { #expect(special.attachment == .large(Self.large)) }
        try await container.close()
    }

    @Test func descriptionsShowTheSizeOfALargeValueWithoutReadingIt() async throws {
        try await withRecordings([Self.large]) { container, _ in
            let recording = try #require(try recordings(container).first)
            expect(0, container) { #expect("\(recording)".contains("sound (1048576 bytes)")) }
            #expect(recording.changedAttributes.isEmpty)
        }
    }

    @Test func anExplanationNamesWhatWasReadOneByOne() async throws {
        try await withRecordings([Self.large, Self.large, 10]) { container, _ in
            let request = ObjectRequest(Recording.self)
            let found = try container.main.fetch(request)
            _ = found[0].sound
            #expect(try container.main.explain(request).readOneByOne.isEmpty)
            for recording in found { _ = recording.sound }
            let explanation = try container.main.explain(request)
            #expect(explanation.readOneByOne == ["sound": 2])
            #expect(explanation.warnings.contains { $0.contains("Recording.sound") && $0.contains("2 times") })
            #expect(explanation.sql[0].contains("CASE WHEN length(\"sound\") > 16384"))
        }
    }

    // MARK: Queries

    @Test func predicatesOnALargeValueFindTheRightRows() async throws {
        try await withRecordings([nil, 10, Self.large]) { container, _ in
            let main = container.main
            #expect(try main.fetch(Recording.self, where: \.sound == nil).map(\.title) == ["0"])
            #expect(try main.fetch(Recording.self, where: \.sound != nil).map(\.title) == ["1", "2"])
            let found = try main.fetch(Recording.self, where: \.sound == .large(Self.large, seed: 2))
            #expect(found.map(\.title) == ["2"] && found[0].rowByteCount < 200)
            #expect(try main.first(Recording.self, where: \.sound, equals: .large(Self.large, seed: 2)) === found[0])
            #expect(try main.count(Recording.self, where: \.sound == .large(Self.large, seed: 2)) == 1)
        }
    }

    /// The objects are registered before without their large values.
    @Test func predicatesOnObjectsSeeLargeValues() async throws {
        try await withRecordings([10, Self.large, 30_000]) { container, _ in
            let all = try recordings(container)
            let predicate = FetchPredicate<Recording>(#Predicate { $0.soundLength > 20_000 })
            try expect(2, container) {
                let found = try container.main.fetch(Recording.self, where: predicate)
                let first = try container.main.fetch(Recording.self, where: predicate, limit: 1)
                #expect(found == Array(all[1...]) && first == [all[1]])
            }
        }
    }

    @Test func valuesOfManyObjectsAreReadAtOnce() async throws {
        try await withRecordings([nil, 10, Self.large]) { container, _ in
            try expect(2, container) {
                let sounds = try container.main.values(ObjectRequest(Recording.self), \.sound)
                #expect(sounds == [nil, .large(10, seed: 1), .large(Self.large, seed: 2)])
                let (count, longest) = try container.main.aggregate(
                    ObjectRequest(Recording.self), .count(\.sound), .max(\.sound))
                #expect(count == 2 && longest == .large(Self.large, seed: 2))
            }
        }
    }

    @Test func objectsAreSortedAndPagedByLargeValues() async throws {
        try await withRecordings([30_000, Self.large, nil, 20_000]) { container, _ in
            let registered = try recordings(container)
            var request = ObjectRequest(Recording.self, order: [.ascending(\.sound)], limit: 2)
            #expect(try container.main.fetch(request).map(\.title) == ["2", "0"])
            request.after = FetchCursor(registered[0])
            #expect(try container.main.fetch(request).map(\.title) == ["1", "3"])
            let album = try #require(try container.main.first(Album.self))
            #expect(try album.recordings.sorted(by: [.descending(\.sound)]).map(\.title) == ["3", "1", "0", "2"])
        }
    }
}
