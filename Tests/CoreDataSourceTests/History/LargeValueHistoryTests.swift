import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Records of objects with large values, which lie apart from their rows (`allowsExternalBinaryDataStorage`).
@MainActor
struct LargeValueHistoryTests {
    private nonisolated static let large = 3 * RowSnapshot.longestInlineValue
    private let old = Data.large(Self.large)
    private let new = Data.large(Self.large, seed: 7)

    /// Opens a store with a recording whose cover and sound are large.
    private func withRecording(
        _ place: HistoryPlace, history: KeptHistory = .ample,
        _ body: @MainActor (PersistentContainer, RecordingDataSource, URL) async throws -> Void
    ) async throws {
        try await place.withContainer(.keeping(history, author: "editor"), model: .recordings()) { container, url in
            let source = try container.dataSource(RecordingDataSource.self)
            try await source.insert([Self.large])
            try await edit(source) { $0.cover = .large(Self.large) }
            try await body(container, source, url)
        }
    }

    private func edit(
        _ source: RecordingDataSource, _ body: @escaping @Sendable (Recording) throws -> Void
    ) async throws {
        try await source.perform { context in
            try body(try #require(try context.fetch(Recording.self, where: \.title == "0").first))
        }
    }

    private func recording(_ container: PersistentContainer) throws -> Recording {
        try #require(try container.main.first(Recording.self))
    }

    @Test(arguments: HistoryPlace.all)
    func aDeletedObjectComesBackWithItsLargeValues(place: HistoryPlace) async throws {
        try await withRecording(place) { container, source, _ in
            try await source.perform { context in
                context.delete(try #require(try context.fetch(Recording.self).first))
            }
            let record = try #require(try await container.records().last)
            let change = try #require(try record.changes(of: Recording.self).first)
            #expect(change.kind == .delete && change.old?.sound == old && change.old?.cover == old)
            #expect(change.omittedProperties.isEmpty)
            #expect(try await container.revert(record).save.inserted == 1)
            let found = try recording(container)
            #expect(found.sound == old && found.cover == old && found.title == "0")
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aChangedLargeValueIsUndoneAndRedone(place: HistoryPlace) async throws {
        try await withRecording(place) { container, source, _ in
            try await edit(source) { [new] in ($0.sound, $0.cover) = (new, new) }
            let record = try #require(try await container.records().last)
            let change = try #require(try record.changes(of: Recording.self).first)
            #expect(change.changedProperties == ["cover", "sound"] && change.omittedProperties.isEmpty)
            #expect(change.old?.sound == old && change.new?.sound == new)
            #expect(change.old?.cover == old && change.new?.cover == new)
            try await container.undo(author: "editor")
            #expect(try recording(container).sound == old)
            #expect(try recording(container).cover == old)
            try await container.redo(author: "editor")
            #expect(try recording(container).sound == new)
            #expect(try recording(container).cover == new)
            // A value that becomes nil, or that another save has changed since.
            try await edit(source) { $0.sound = nil }
            let removal = try #require(try await container.records().last)
            #expect(try await container.revert(removal).save == SaveReport(updated: 1))
            #expect(try recording(container).sound == new)
        }
    }

    /// The record names what it leaves out. A revert keeps the newest value of it.
    @Test(arguments: HistoryPlace.lasting)
    func unchangedLargeValuesAreLeftOut(place: HistoryPlace) async throws {
        try await withRecording(place) { container, source, url in
            try await edit(source) { $0.title = "other" }
            try await container.close()
            let again = try await place.open(url, model: .recordings())
            let later = try again.dataSource(RecordingDataSource.self)
            let record = try #require(try await again.records().last)
            let change = try #require(try record.changes(of: Recording.self).first)
            #expect(change.changedProperties == ["title"] && change.omittedProperties == ["cover", "sound"])
            for row in [change.old, change.new] { #expect(row?.sound == nil && row?.cover == Data()) }
            #expect(change.old?.title == "0" && change.new?.title == "other")
            if place.isFile {
                let sizes = try RawConnection(url).column("SELECT size < 1000 FROM _history WHERE key >> 20 = 3")
                #expect(sizes == ["1"])
            }
            try await later.perform { [new] in try $0.fetch(Recording.self).first?.sound = new }
            #expect(try await again.revert(record).save == SaveReport(updated: 1))
            let found = try recording(again)
            #expect(found.title == "0" && found.sound == new && found.cover == old)
            try await again.close()
        }
    }

    /// The values that the record leaves out do not make the save too large for the history.
    @Test(arguments: HistoryPlace.lasting.filter { $0 != .custom })
    func valuesThatAreLeftOutDoNotCount(place: HistoryPlace) async throws {
        let history = KeptHistory.kept(for: .seconds(86_400), upTo: 3 * Self.large)
        try await withRecording(place, history: history) { container, source, _ in
            try await edit(source) { $0.title = "other" }
            try await container.undo(author: "editor")
            #expect(try recording(container).title == "0")
            try await edit(source) { ($0.sound, $0.cover) = (Data(), Data()) }
            #expect(try await container.records().last?.hasValues == false)
        }
    }

    /// A store in memory shares the rows of the save, so nothing is missing.
    @Test func aRecordInMemoryHasAllValues() async throws {
        try await withRecording(.memory) { container, source, _ in
            try await edit(source) { $0.title = "other" }
            let record = try #require(try await container.records().last)
            let change = try #require(try record.changes(of: Recording.self).first)
            #expect(change.omittedProperties.isEmpty && change.new?.sound == old && change.new?.cover == old)
            try await container.revert(record)
            #expect(try recording(container).title == "0")
            #expect(try recording(container).sound == old)
        }
    }
}
