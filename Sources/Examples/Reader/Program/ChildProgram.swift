import Foundation

/// This program, run once more with other arguments: a server, or a reader in another terminal.
final class ChildProgram {
    /// A piece of output.
    enum Output: Sendable, Equatable {
        case line(String)
        /// The reader waits for a command.
        case prompt
    }

    private let process = Process()
    private let input = Pipe()
    private var outputs: AsyncStream<Output>.Iterator

    init(_ arguments: [String]) throws {
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        let stream = AsyncStream<Output>.makeStream()
        outputs = stream.stream.makeAsyncIterator()
        try process.run()
        let reader = output.fileHandleForReading
        // Read on a separate thread, because reading blocks the thread.
        Thread.detachNewThread {
            var text: [UInt8] = []
            while true {
                let bytes = reader.availableData
                if bytes.isEmpty { break }
                for byte in bytes {
                    text.append(byte)
                    if byte == UInt8(ascii: "\n") {
                        stream.continuation.yield(.line(String(decoding: text.dropLast(), as: UTF8.self)))
                        text = []
                    } else if text.elementsEqual("> ".utf8) {
                        stream.continuation.yield(.prompt)
                        text = []
                    }
                }
            }
            stream.continuation.finish()
        }
    }

    /// Sends a line to the program.
    func send(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

    /// Waits for the next piece of output.
    ///
    /// - Throws: ``Ended`` if the program has ended.
    func next() async throws -> Output {
        guard let output = await outputs.next(isolation: #isolation) else { throw Ended() }
        return output
    }

    /// The program has ended, although more output was expected.
    struct Ended: Error, CustomStringConvertible {
        var description: String { "A program of the demonstration has ended too soon." }
    }

    /// Closes the program's input, and waits until the program has ended.
    func end() async throws {
        try input.fileHandleForWriting.close()
        while await outputs.next(isolation: #isolation) != nil {}
        process.waitUntilExit()
    }
}
