import FeedServer
import Foundation
import TestSupport
import Testing

/// The program: the demonstration, a server, and readers in terminals of their own.
struct ProgramTests {
    private static let program = PackageFiles.products.appending(component: "reader")

    /// Starts the program with pipes.
    private func start(_ arguments: [String]) throws -> Conversation {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = Self.program
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        return Conversation(
            process, input: input.fileHandleForWriting, output: output.fileHandleForReading, separator: "\n")
    }

    @Test func theDemonstrationShowsEveryState() async throws {
        let run = try await Subprocess(Self.program.path, [])
        #expect(run.status == 0 && run.errors == "")
        // On a busy machine there may be minutes between two steps.
        let output = run.output.replacing(#/updated \d+ minutes? ago/#, with: "updated just now")
        let lines = output.split(separator: "\n").map(String.init)
        let expected = [
            "first      Feeds: never updated", "first      4 lists are up to date.",
            "first      The bread oven: 23 articles, updated just now",
            "first       1 ●   Loaf 23: oats", "second     0 lists are up to date.",
            "first      ● ★ A crane for the east pier",
            "second     * ● ★ A crane for the east pier, by another reader",
            "second     Undone: star of \"A crane for the east pier\"",
            "first      * ●   A crane for the east pier, by another reader",
            "first      Redone: star of \"A crane for the east pier\"",
            "second     +   ●   The ferry is on time, by another reader",
        ]
        for line in expected {
            let words = line.split(separator: " ")
            #expect(lines.contains { $0.split(separator: " ") == words }, "\(line)\n\(run.output)")
        }
        #expect(lines.contains { $0.hasSuffix("Feeds: updated just now, refreshing") }, "\(run.output)")
        #expect(lines.contains { $0.hasSuffix("The network is cut off.") })
        #expect(output.contains("updated just now, refresh failed: offline"))
        #expect(output.contains("updated just now, refresh failed: no connection to the server"))
        // Afterwards, the second reader may list a feed before it has heard of the last answer.
        let refused = lines.prefix { !$0.hasPrefix("The server is well again") }
        let postponed = refused.filter { $0.contains("the server answered 429, next try in ") }
        // Four lists, of each reader.
        #expect(postponed.count == 8, "\(run.output)")
        #expect(lines.last == "The end.")
    }

    @Test func theServerEndsWithItsInput() async throws {
        let server = try start(["serve"])
        let port = await server.next().flatMap(UInt16.init)
        #expect(port != nil)
        try server.send("fault /feeds 1 nothing")
        #expect(await server.next()?.hasPrefix("A fault is one of") == true)
        try server.send("fault /feeds 1 reset")
        #expect(await server.next() == "done")
        #expect(try await server.end() == 0)
    }

    @Test func twoProcessesAskForOneListAtTheSameTime() async throws {
        let directory = try TemporaryDirectory()
        let server = try FeedServer(.sample())
        let store = directory.url.appending(component: "feeds.sqlite").path
        let readers = try [0, 1].map { _ in try start(["open", store, server.url.absoluteString]) }
        for reader in readers { #expect(await reader.next() == "Feeds: never updated") }
        try server.site.perform("fault /feeds 1 hold 3600")
        for reader in readers { try reader.send("refresh") }
        // Nobody requests articles before the feeds. The second reader waits for the answer of the first.
        // On a thread of its own: a task of this process may stand still for longer than a reader waits for an answer.
        let released = AsyncStream<Void>.makeStream()
        Thread.detachNewThread { [site = server.site] in
            while site.records.isEmpty { usleep(5_000) }
            try? site.perform("release")
            released.continuation.finish()
        }
        for await _ in released.stream {}
        for reader in readers {
            _ = await reader.next { $0.hasSuffix("lists are up to date.") }
            try reader.send("list")
            let lines = await reader.next { $0.hasPrefix("The night sky") }
            #expect(lines.contains { $0.hasPrefix("Harbour news: 4 articles, updated ") }, "\(lines)")
        }
        #expect(server.site.records.count { $0.path == "/feeds" } == 1)
        for reader in readers { #expect(try await reader.end() == 0) }
        server.close()
    }

    @Test(arguments: [["read"], ["open", "a"], ["open", "a", "no URL"], ["serve", "70000"], ["demo", "1"]])
    func wrongArgumentsAreRefused(arguments: [String]) async throws {
        let run = try await Subprocess(Self.program.path, arguments)
        #expect(run.status == 2 && run.output.hasPrefix("Usage: reader"))
    }

    @Test func aPortThatIsInUseIsAnError() async throws {
        let server = try FeedServer(.sample())
        let run = try await Subprocess(Self.program.path, ["serve", "\(server.port)"])
        #expect(run.status == 1 && run.errors.hasPrefix("reader: "))
        server.close()
    }
}
