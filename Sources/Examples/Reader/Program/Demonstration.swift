import Foundation

/// Two readers on one store, and a server that fails now and then. Each program is a separate process.
@MainActor
final class Demonstration {
    private let folder = FileManager.default.temporaryDirectory.appending(component: "reader-\(UUID())")

    /// A reader, and the text before each line of its output.
    private struct Reader {
        let program: ChildProgram
        let mark: String
    }

    func play() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        say("A server of feeds begins.")
        var server = try ChildProgram(["serve"])
        let port = try await line(of: server)
        let first = try await open("first ", port)
        try await run(first, "refresh", "list")

        say("A second reader opens the same store. The lists are fresh, so it requests nothing.")
        let second = try await open("second", port)
        try await run(second, "refresh")

        say("The first reader refreshes all the same. The server answers 304, and the rows stay.")
        try await run(first, "refresh 0")

        say("An article gets a star. The second reader sees the star, and undoes it. The first one redoes it.")
        try await run(first, "star 5")
        try await wait(second)
        try await run(second, "undo")
        try await wait(first)
        try await run(first, "redo", "open 6")
        try await wait(second, count: 2)

        say("The first reader goes offline. Its requests fail, and the rows stay.")
        try await run(first, "offline", "refresh 0", "online")

        try await playFaults(of: &server, at: port, first, second)
        for program in [first.program, second.program, server] { try await program.end() }
        say("The end.")
    }

    private func playFaults(
        of server: inout ChildProgram, at port: String, _ first: Reader, _ second: Reader
    ) async throws {
        say("The server ends. The rows stay, and the lists say that they are not up to date.")
        try await server.end()
        try await run(first, "refresh 0", "list")

        say("The server begins again, but has too many requests: it names the time of the next try.")
        server = try ChildProgram(["serve", port])
        _ = try await line(of: server)
        try await tell(server, "fault / always 429 600")
        try await run(first, "refresh 0")
        say("The second reader requests nothing before that time.")
        try await run(second, "refresh 0.001")

        say("The server is well again, and has a new article. `refresh 0` does not wait for the named time.")
        try await tell(server, "clear", "publish harbour The ferry is on time")
        try await run(first, "refresh 0")
        try await wait(second)
        try await run(second, "list")
    }

    // MARK: Programs

    private func open(_ mark: String, _ port: String) async throws -> Reader {
        let store = folder.appending(component: "feeds.sqlite").path
        let program = try ChildProgram(["open", store, "http://127.0.0.1:\(port)"])
        let reader = Reader(program: program, mark: mark)
        write("\(mark) $ reader open feeds.sqlite")
        try await show(reader)
        return reader
    }

    /// Gives commands to a reader, and shows its output.
    private func run(_ reader: Reader, _ commands: String...) async throws {
        for command in commands {
            write("\(reader.mark) > \(command)")
            try reader.program.send(command)
            try await show(reader)
        }
    }

    /// Shows the output of a reader until it waits for a command.
    private func show(_ reader: Reader) async throws {
        while case .line(let line) = try await reader.program.next() { write("\(reader.mark)   \(line)") }
    }

    /// Waits until a reader reports the changes of the other reader.
    private func wait(_ reader: Reader, count: Int = 1) async throws {
        for _ in 0..<count { write("\(reader.mark)   \(try await line(of: reader.program))") }
    }

    private func line(of program: ChildProgram) async throws -> String {
        while true {
            if case .line(let line) = try await program.next() { return line }
        }
    }

    /// Gives commands to the server.
    private func tell(_ server: ChildProgram, _ commands: String...) async throws {
        for command in commands {
            try server.send(command)
            let answer = try await line(of: server)
            if answer != "done" { write("server   \(answer)") }
        }
    }

    private func say(_ sentence: String) { write("\n\(sentence)") }

    /// Writes a line now, even into a pipe.
    private func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
