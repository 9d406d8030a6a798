import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// What becomes of large values that lie apart while others edit, delete, export or cannot read them.
@MainActor @Suite struct DeferredValueFollowsTests {
    private nonisolated static let large = 1 << 20

    private func first(_ container: PersistentContainer) throws -> Recording {
        try #require(try container.main.fetch(Recording.self, order: [.ascending(\.title)]).first)
    }

    // MARK: Saves

    @Test func anEditOfAnotherAttributeKeepsALargeValue() async throws {
        let directory = try TemporaryDirectory()
        var container = try await PersistentContainer(model: .recordings(), store: .sqlite(directory.store))
        var source = try container.dataSource(RecordingDataSource.self)
        try await source.insert([Self.large])
        try await container.close()
        container = try await PersistentContainer(model: .recordings(), store: .sqlite(directory.store))
        source = try container.dataSource(RecordingDataSource.self)
        let recording = try first(container)
        try await source.perform { try $0.fetch(Recording.self)[0].title = "new" }
        #expect(recording.title == "new" && recording.sound == .large(Self.large))
        try await container.close()
        container = try await PersistentContainer(model: .recordings(), store: .sqlite(directory.store))
        #expect(try first(container).title == "new")
        #expect(try first(container).sound == .large(Self.large))
        try await container.close()
    }

    @Test func mainReadsTheNewestVersionOfALargeValue() async throws {
        try await withRecordings([Self.large]) { container, source in
            let recording = try first(container)
            try await source.perform { try $0.fetch(Recording.self)[0].sound = .large(50_000, seed: 5) }
            #expect(recording.sound == .large(50_000, seed: 5))
            try await source.perform { try $0.fetch(Recording.self)[0].sound = Data([1]) }
            #expect(recording.sound == Data([1]))
        }
    }

    @Test func aLargeValueThatIsRemovedMeanwhileIsNilOnMain() async throws {
        try await withRecordings([Self.large]) { container, source in
            let recording = try first(container)
            try await source.perform { try $0.fetch(Recording.self)[0].sound = nil }
            #expect(recording.sound == nil)
        }
    }

    /// A save that main has not merged yet.
    @Test func aSaveThatMainHasNotMergedIsSeenWithALargeValue() async throws {
        try await withRecordings([Self.large]) { container, source in
            let recording = try first(container)
            let replaced = Task.detached {
                try await source.perform { context in
                    let recording = try context.fetch(Recording.self)[0]
                    (recording.sound, recording.title) = (.large(60_000, seed: 6), "new")
                }
            }
            _ = try await replaced.value
            #expect(recording.sound == .large(60_000, seed: 6) && recording.title == "new")
        }
    }

    @Test func theLargeValuesOfADeletedObjectAreGone() async throws {
        try await withRecordings([Self.large, Self.large]) { container, source in
            try await source.perform { try $0.fetch(Recording.self)[0].cover = .large(Self.large) }
            let found = try container.main.fetch(Recording.self)
            #expect(found[1].sound == .large(Self.large, seed: 1))
            try await source.delete(Recording.self, where: nil)
            #expect(found[0].isDeleted && found[0].sound == nil && found[0].cover == Data() && found[0].title == "0")
            #expect(found[1].isDeleted && found[1].sound == .large(Self.large, seed: 1))
        }
    }

    @Test func aLargeValueOfAnotherProgramIsRead() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .recordings(), store: .sqlite(directory.store), configuration: .uncached)
        try await container.dataSource(RecordingDataSource.self).insert([Self.large, Self.large])
        let found = try container.main.fetch(Recording.self)
        #expect(found[0].sound == .large(Self.large))
        try RawConnection(directory.store).execute("UPDATE Recording SET sound = zeroblob(1048576)")
        container.stack.root.noticeOutsideWrites()
        let zeros = Data(count: Self.large)
        #expect(try container.main.fetch(Recording.self).map(\.sound) == [zeros, zeros])
        #expect(found.map(\.sound) == [zeros, zeros])
        try await container.close()
    }

    @Test func aBatchHasWholeRows() async throws {
        try await withRecordings([Self.large]) { _, source in
            let sizes = try await source.perform { context in
                let recording = try context.fetch(Recording.self)[0]
                return [recording.rowByteCount, recording.sound?.count ?? 0]
            }
            #expect(sizes[0] > Self.large && sizes[1] == Self.large)
        }
    }

    // MARK: Drafts

    @Test func aDraftHasAndKeepsLargeValues() async throws {
        try await withRecordings([Self.large]) { container, source in
            let draft = try source.draft(of: first(container))
            #expect(draft.object.sound == .large(Self.large))
            draft.object.title = "new"
            #expect(draft.object.changedAttributes == ["title"])
            try await draft.save()
            let recording = try first(container)
            #expect(recording.title == "new" && recording.sound == .large(Self.large))
        }
    }

    @Test func aDraftSeesThatOthersHaveReplacedALargeValue() async throws {
        try await withRecordings([Self.large]) { container, source in
            let draft = try source.draft(of: first(container))
            draft.object.sound = .large(Self.large, seed: 1)
            #expect(try draft.conflicts().isEmpty)
            try await source.perform { try $0.fetch(Recording.self)[0].sound = .large(Self.large, seed: 2) }
            #expect(try draft.conflicts().map(\.propertyName) == ["sound"])
            try await draft.save(resolving: .keepMine)
            #expect(try first(container).sound == .large(Self.large, seed: 1))
        }
    }

    // MARK: Export

    @Test func anExportContainsLargeValues() async throws {
        try await withRecordings([Self.large, 10]) { container, _ in
            let wanted = Data.large(Self.large).base64EncodedString()
            let registered = try container.main.fetch(Recording.self)
            let graph = try container.main.exportGraph(of: [Recording.self, Album.self])
            #expect(String(decoding: graph.json, as: UTF8.self).contains(wanted))
            let read = try await container.read { context in
                _ = try context.fetch(Recording.self)
                return try context.exportGraph(of: [Recording.self, Album.self])
            }
            #expect(read == graph && registered.allSatisfy { $0.rowByteCount < 200 })
        }
    }

    // MARK: Failures

    @Test func aReadOfALargeValueThatFailsOnMainIsReported() async throws {
        let directory = try TemporaryDirectory()
        let (container, store) = try faultyRecordings(directory)
        try await container.dataSource(RecordingDataSource.self).insert([Self.large])
        let recording = try first(container)
        var failures = container.failures.makeAsyncIterator()
        store.failReads(with: noRoom)
        #expect(recording.sound == nil && recording.title == "0")
        let failure = await failures.next()
        #expect(failure?.kind == .store && failure?.error.code == .diskFull)
        expectThrows(DataSourceError.self) {
            try container.dataSource(RecordingDataSource.self).draft(of: recording)
        }
        store.failReads(with: nil)
        #expect(recording.sound == .large(Self.large))
        try await container.close()
    }

    /// A read has one transaction, in which no statement is made to fail, so the file is damaged where the value is.
    @Test func aReadThrowsIfALargeValueCannotBeRead() async throws {
        let directory = try TemporaryDirectory()
        var container = try await PersistentContainer(model: .recordings(), store: .sqlite(directory.store))
        try await container.dataSource(RecordingDataSource.self).insert([Self.large])
        try await container.close()
        let file = try FileHandle(forUpdating: directory.store)
        try file.seek(toOffset: file.seekToEnd() - 100 * 4096)
        file.write(Data(repeating: 0xA5, count: 50 * 4096))
        try file.close()
        container = try await PersistentContainer(model: .recordings(), store: .sqlite(directory.store))
        #expect(try await container.read { try $0.fetch(Recording.self).map(\.title) } == ["0"])
        await expectError(.storeCorrupt) {
            try await container.read { try $0.fetch(Recording.self).map(\.sound) }
        }
        try await container.close()
    }

    // MARK: Existing stores

    @Test func anExistingStoreDefersLargeValuesOnceTheModelSaysSo() async throws {
        let directory = try TemporaryDirectory()
        for isExternal in [false, true, false] {
            let container = try await PersistentContainer(
                model: .recordings(isExternal: isExternal), store: .sqlite(directory.store),
                configuration: .init(resetPolicy: .fail, registeredObjectByteLimit: 0))
            let source = try container.dataSource(RecordingDataSource.self)
            if try container.main.count(Recording.self) == 0 { try await source.insert([Self.large]) }
            let recording = try first(container)
            #expect(container.startup.reason == .current || !isExternal)
            #expect((recording.rowByteCount < 200) == isExternal)
            #expect(recording.sound == .large(Self.large))
            try await container.close()
        }
        try expectIntact(directory.store)
    }
}
