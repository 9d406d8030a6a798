import CoreDataSource
import RowStore
import Testing

/// Main keeps what relationships lead to. None of that is shown once a newer save has been met.
@MainActor
struct LinksDuringReadTests {
    /// Gives the body a letter without attachments, which main knows, and an attachment.
    private func withLetter(
        _ body: @MainActor (PersistentContainer, FaultyStore, GraphDataSource, Letter) async throws -> Void
    ) async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            _ = try context.letter("l")
            _ = try context.attachment("a")
        }
        let letter = try source.main.knownLetter("l")
        #expect(letter.attachments.count == 0)
        try await body(container, store, source, letter)
        try await container.close()
    }

    /// What is read has met the save. A list does not report it any more.
    @Test(arguments: [false, true]) func aReadDuringASaveOfLinksShowsTheLinks(isFetch: Bool) async throws {
        try await withLetter { container, store, source, letter in
            let read = store.holdNextRead()
            let saving = Task.detached {
                for await _ in read.arrived {}
                // Main waits for the read meanwhile.
                defer { read.release() }
                try await source.perform { try $0.knownLetter("l").attachments = [try $0.attachment("a")] }
            }
            let recorder = GroupRecorder()
            let drawn: [Int]
            if isFetch {
                drawn = try source.main.fetch(Letter.self).map(\.attachments.count)
            } else {
                try source.register(recorder, dataKey: "list", ObjectRequest(Letter.self))
                drawn = source.allObjects(dataKey: "list", as: Letter.self).map(\.attachments.count)
            }
            try await saving.value
            container.mainTier.merge()
            await container.mainTier.waitForLists()
            #expect(drawn == [1] || recorder.types == [[.update]])
            #expect(letter.attachments.count == 1)
        }
    }

    /// Only the second one changes links.
    @Test func linksAreShownIfSeveralSavesAreMergedAtOnce() async throws {
        try await withLetter { _, _, source, letter in
            let done = Gate()
            let saving = Task.detached {
                defer { done.open() }
                try await source.perform { try $0.knownLetter("l").subject = "first" }
                try await source.perform { try $0.knownLetter("l").attachments = [try $0.attachment("a")] }
                try await source.perform { try $0.knownLetter("l").subject = "third" }
            }
            // Main merges nothing meanwhile.
            block(until: done)
            #expect(try source.main.knownLetter("l") === letter)
            #expect(letter.subject == "third" && letter.attachments.count == 1)
            try await saving.value
        }
    }

    /// The links are read as of the newest save, of which main has merged nothing yet.
    @Test func aLinkedObjectIsAsNewAsItsLink() async throws {
        try await withLetter { _, _, source, letter in
            try await source.perform { _ = try $0.topic("t") }
            let topic = try source.main.knownTopic("t")
            #expect(letter.topic == nil)
            let done = Gate()
            let saving = Task.detached {
                defer { done.open() }
                try await source.perform { context in
                    let letter = try context.knownLetter("l")
                    (letter.subject, letter.topic) = ("new", try context.knownTopic("t"))
                }
            }
            // Main merges nothing meanwhile.
            block(until: done)
            #expect(topic.letters.map(\.subject) == ["new"])
            #expect(topic.letters.contains(letter) && letter.topic === topic)
            try await saving.value
        }
    }

    private func block(until gate: Gate) { gate.wait() }
}
