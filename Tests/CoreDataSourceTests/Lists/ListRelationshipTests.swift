import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// What a list says of the relationships of its objects.
@MainActor @Suite struct ListRelationshipTests {
    private final class Silent: DataSourceDelegate {
        func didChangeContent(dataKey: String) {}
    }

    @Test func theReasonNamesRelationshipsReadOneByOne() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for number in 0..<20 { try context.letter("\(number)").topic = try context.topic("\(number)") }
            }
            let delegate = Silent()
            try source.register(delegate, dataKey: "letters", ObjectRequest(Letter.self))
            let list = try source.list(ObjectRequest(Letter.self))
            #expect(list.lastUpdateReason.readOneByOne.isEmpty)
            var held: [Letter] = []
            for index in 0..<3 {
                let letter = try #require(try source.main.fetch(Letter.self, limit: 1, offset: index).first)
                #expect(letter.topic?.key == "\(index)")
                held.append(letter)
            }
            #expect(list.lastUpdateReason.readOneByOne == ["topic": 3])
            let reason = try #require(source.lastUpdateReason(dataKey: "letters"))
            #expect(reason.readOneByOne == ["topic": 3] && "\(reason)".contains("read one by one: topic 3 times"))

            let before = container.statementCount
            let all = source.allObjects(dataKey: "letters", as: Letter.self)
            #expect(all.compactMap { $0.topic?.key }.count == 20)
            #expect(container.statementCount - before == 1)
            #expect(list.lastUpdateReason.readOneByOne == ["topic": 3])
            withExtendedLifetime((delegate, held)) {}
        }
    }

    /// As a table view does, cell by cell.
    @Test func relationshipsOfNearbyRowsAreReadTogether() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for number in 0..<200 { try context.letter("\(number)").topic = try context.topic("\(number)") }
            }
            let delegate = Silent()
            try source.register(delegate, dataKey: "letters", ObjectRequest(Letter.self))
            let list = try source.list(ObjectRequest(Letter.self))
            var before = container.statementCount
            for index in 0..<200 {
                let place = IndexPath(item: index, section: 0)
                let letter = try #require(source.object(at: place, dataKey: "letters", as: Letter.self))
                #expect(letter.topic?.key == "\(index)")
            }
            // One for each page.
            #expect(container.statementCount - before == 4)
            before = container.statementCount
            for index in (0..<200).reversed() { #expect(list.object(index)?.topic?.key == "\(index)") }
            #expect(container.statementCount - before <= 4)
            #expect(list.lastUpdateReason.readOneByOne.isEmpty)
            withExtendedLifetime(delegate) {}
        }
    }

    @Test func aListPrefetchesTheRelationshipsOfItsRequest() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for number in 0..<100 { try context.letter("\(number)").topic = try context.topic("\(number)") }
            }
            var request = ObjectRequest(Letter.self)
            request.prefetch = [\Letter.topic]
            let list = try source.list(request)
            _ = list.object(0)
            let before = container.statementCount
            for index in 0..<64 { #expect(list.object(index)?.topic?.key == "\(index)") }
            #expect(container.statementCount - before == 0)
            #expect(list.lastUpdateReason.prefetched == ["topic"])
            let delegate = Silent()
            try source.register(delegate, dataKey: "letters", request)
            try source.register(delegate, dataKey: "plain", ObjectRequest(Letter.self))
            let reason = try #require(source.lastUpdateReason(dataKey: "letters"))
            #expect(reason.prefetched == ["topic"] && "\(reason)".contains(", prefetched: topic"))
            // The lists share their work, but not what is prefetched.
            #expect(container.mainTier.followedQueryCount == 1)
            #expect(source.lastUpdateReason(dataKey: "plain")?.prefetched == [])
            withExtendedLifetime(delegate) {}
            request.prefetch = [\Letter.key]
            expectError(.unknownAttribute) { try source.list(request) }
        }
    }

    /// What a window shows is read page by page, whatever is saved beyond it, and while it is paused.
    @Test(arguments: [false, true]) func aSaveBeyondAWindowCausesNoSingleReads(isPaused: Bool)
        async throws
    {
        try await withGraph { container, source in
            try await source.perform { context in
                for number in 100..<200 { try context.letter("\(number)").topic = try context.topic("\(number)") }
                for number in 300..<500 { _ = try context.letter("\(number)") }
            }
            let delegate = Silent()
            let request = ObjectRequest(Letter.self, order: [.ascending(\.key)], limit: 100)
            try source.register(delegate, dataKey: "letters", request)
            let list = try source.list(request)
            if isPaused {
                source.pausedDataKeys = ["letters"]
                list.isPaused = true
            }
            for key in ["301", isPaused ? "150" : "302"] {
                try await source.perform { try $0.letter(key).subject = "changed" }
            }
            func read(_ object: (Int) -> Letter?) -> Int {
                let before = container.statementCount
                for index in 0..<100 { #expect(object(index)?.topic?.key == "\(100 + index)") }
                return container.statementCount - before
            }
            // A page of objects, and what it leads to.
            #expect(
                read { source.object(at: IndexPath(item: $0, section: 0), dataKey: "letters", as: Letter.self) } <= 4)
            #expect(read { list.object($0) } <= 4)
            let all = source.allObjects(dataKey: "letters", as: Letter.self)
            #expect(read { all[$0] } <= 2)
            withExtendedLifetime(delegate) {}
        }
    }

    /// A cell may have been drawn in between. With a limit, the list is read again; without, only the letters that the save reaches.
    @Test(arguments: [nil, 10]) func aRelatedValueThatChangesAndChangesBackIsReported(limit: Int?) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let topic = try context.topic("t")
                topic.title = "A"
                try context.letter("1").topic = topic
                _ = try context.letter("2")
            }
            let recorder = GroupRecorder()
            var request = ObjectRequest(Letter.self, order: [.ascending(\.topic?.title), .ascending(\.key)])
            request.limit = limit
            try source.register(recorder, dataKey: "letters", request)
            for title in ["B", "A"] { try source.performAndWait { try $0.topic("t").title = title } }
            container.mainTier.merge()
            await container.mainTier.waitForLists()
            #expect(recorder.changes.map { ($0.object as? Letter)?.key } == ["1"] && recorder.types == [[.update]])
            // One save that leaves it as it is reports nothing.
            try source.performAndWait { try $0.topic("t").key = "u" }
            container.mainTier.merge()
            await container.mainTier.waitForLists()
            #expect(recorder.types.count == 1)
        }
    }

    /// The objects of one report, too.
    @Test func relationshipsOfReportedObjectsAreReadTogether() async throws {
        try await withGraph { container, source in
            let delegate = TopicReader()
            try source.register(delegate, dataKey: "letters", ObjectRequest(Letter.self))
            try await source.perform { context in
                for number in 0..<100 { _ = try context.topic("\(number)") }
            }
            try await source.perform(waitFor: .main) { context in
                for topic in try context.fetch(Topic.self) { try context.letter(topic.key).topic = topic }
            }
            // Topics that main has need not be read.
            container.mainTier.forgetObjects()
            let before = delegate.statements
            delegate.count = { container.statementCount }
            try await source.perform(waitFor: .main) { context in
                for letter in try context.fetch(Letter.self) { letter.key += "!" }
            }
            #expect(delegate.topics.count >= 100)
            #expect(delegate.statements - before <= 3)
        }
    }
}

private final class TopicReader: DataSourceDelegate {
    var count: () -> Int = { 0 }
    private(set) var topics: [String] = []
    private(set) var statements = 0

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        let before = count()
        if let letter = object as? Letter, let topic = letter.topic { topics.append(topic.key) }
        statements += count() - before
    }

    func didChangeContent(dataKey: String) {}
}
