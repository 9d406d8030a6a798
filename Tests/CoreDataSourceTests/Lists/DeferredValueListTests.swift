import CoreDataSource
import Foundation
import RowStore
import Testing

/// Lists of objects with large values that lie apart.
@MainActor @Suite struct DeferredValueListTests {
    private nonisolated static let large = 1 << 20
    private let request = ObjectRequest(Recording.self, order: [.ascending(\.title)])

    @Test func theRowsOfASnapshotHaveLargeValues() async throws {
        try await withRecordings([Self.large, 10]) { _, source in
            var updates = source.updates(request).makeAsyncIterator()
            let update = try #require(await updates.next())
            #expect(update.snapshot.map(\.sound) == [.large(Self.large), .large(10, seed: 1)])
            let list = try source.list(request)
            #expect(list.snapshot.map(\.soundLength) == [Self.large, 10])
            #expect(list.object(0)?.sound == .large(Self.large))
            try await source.perform { context in
                try context.first(Recording.self, where: \.title, equals: "0")?.sound = .large(Self.large, seed: 3)
            }
            let next = try #require(await updates.next())
            #expect(next.snapshot[0].sound == .large(Self.large, seed: 3))
            #expect(update.snapshot[0].sound == .large(Self.large))
        }
    }

    @Test func aListWithADelegateReadsLargeValuesWhenTheyAreNeeded() async throws {
        try await withRecordings(Array(repeating: Self.large, count: 100)) { container, source in
            let delegate = CallRecorder()
            try source.register(delegate, dataKey: "all", request)
            let objects = source.allObjects(dataKey: "all", as: Recording.self)
            #expect(objects.count == 100 && objects.reduce(0) { $0 + $1.rowByteCount } < 100 * 200)
            let before = container.statementCount
            #expect(objects[7].sound?.count == Self.large)
            #expect(container.statementCount - before == 1)
            try await source.perform { context in
                try context.first(Recording.self, where: \.title, equals: "0")?.sound = .large(50_000)
                try context.delete(Recording.self, where: \.title == "1")
            }
            #expect(delegate.calls == ["delete 1", "update 0"])
            #expect(objects[0].sound == .large(50_000) && objects[1].isDeleted && objects[1].sound == nil)
            withExtendedLifetime(delegate) {}
        }
    }

    @Test func listsByALargeValueAreSortedAndDividedByIt() async throws {
        try await withRecordings([Self.large, 20_000, nil]) { _, source in
            let delegate = CallRecorder()
            let sorted = ObjectRequest(Recording.self, order: [.ascending(\.sound)])
            try source.register(delegate, dataKey: "sorted", sorted)
            try source.register(delegate, dataKey: "sections", sorted, sectionBy: \.sound)
            try source.register(delegate, dataKey: "computed", sorted, sectionBy: \.soundLength)
            let predicate = FetchPredicate<Recording>(#Predicate { $0.soundLength > 20_000 })
            try source.register(delegate, dataKey: "tested", ObjectRequest(Recording.self, where: predicate))
            for dataKey in ["sorted", "sections"] {
                #expect(source.allObjects(dataKey: dataKey, as: Recording.self).map(\.title) == ["2", "0", "1"])
            }
            #expect(source.numberOfSections(dataKey: "sections") == 3)
            #expect(source.sectionInfo(at: 2, dataKey: "computed")?.name == "\(Self.large)")
            #expect(source.allObjects(dataKey: "tested", as: Recording.self).map(\.title) == ["0"])
            withExtendedLifetime(delegate) {}
        }
    }

    /// The sizes are the same, so that they do not tell whether the values are.
    @Test func largeValuesThatAnotherProgramMayHaveReplacedAreReported() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .recordings(), store: .sqlite(directory.store), configuration: .uncached)
        let source = try container.dataSource(RecordingDataSource.self)
        try await source.insert([Self.large, 10])
        let delegate = CallRecorder()
        try source.register(delegate, dataKey: "all", request)
        let objects = source.allObjects(dataKey: "all", as: Recording.self)
        #expect(objects[0].sound == .large(Self.large))
        try RawConnection(directory.store).execute("UPDATE Recording SET sound = zeroblob(1048576) WHERE title = '0'")
        container.stack.root.noticeOutsideWrites()
        container.mainTier.merge()
        await container.mainTier.waitForLists()
        #expect(delegate.calls == ["update 0"])
        #expect(objects[0].sound == Data(count: Self.large))
        try await container.close()
    }
}

/// Notes the changes that a list reports.
private final class CallRecorder: DataSourceDelegate {
    var calls: [String] = []

    func didChangeContent(dataKey: String) {}

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        calls.append("\(type) \((object as? Recording)?.title ?? "")")
    }
}
