package import Foundation

/// A program that is spoken to while it runs. Whoever listens waits for what it says.
package final class Conversation {
    private let process: Process
    private let input: FileHandle
    private var pieces: AsyncStream<String>.Iterator

    /// - Parameters:
    ///   - output: Where the program's standard output can be read.
    ///   - separator: What ends a piece of it.
    package init(_ process: Process, input: FileHandle, output: FileHandle, separator: String) {
        self.process = process
        self.input = input
        pieces = Conversation.pieces(of: output, separator).makeAsyncIterator()
    }

    package func say(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

    /// The next piece of output, without its separator; nil after the last.
    package func next() async -> String? { await pieces.next(isolation: #isolation) }

    /// The pieces up to the first for which the test holds; all if there is none.
    package func next(until isLast: (String) -> Bool) async -> [String] {
        var output: [String] = []
        while let piece = await pieces.next(isolation: #isolation) {
            output.append(piece)
            if isLast(piece) { break }
        }
        return output
    }

    /// Ends the program's standard input, and returns its status.
    package func end() async throws -> Int32 {
        try input.close()
        return await status()
    }

    /// Ends a program that runs until it is stopped.
    package func terminate() async {
        // A program that a test starts may have all other signals blocked.
        kill(process.processIdentifier, SIGKILL)
        await process.end()
    }

    package func status() async -> Int32 {
        await process.end()
        return process.terminationStatus
    }

    private static func pieces(of output: FileHandle, _ separator: String) -> AsyncStream<String> {
        let pieces = AsyncStream<String>.makeStream()
        // Reading holds up its thread. A terminal ends with an error.
        Thread.detachNewThread {
            var text: [UInt8] = []
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(output.fileDescriptor, &bytes, bytes.count)
                if count <= 0 { break }
                for byte in bytes[..<count] {
                    text.append(byte)
                    guard text.suffix(separator.utf8.count).elementsEqual(separator.utf8) else { continue }
                    pieces.continuation.yield(String(decoding: text.dropLast(separator.utf8.count), as: UTF8.self))
                    text = []
                }
            }
            pieces.continuation.finish()
        }
        return pieces.stream
    }
}

extension Process {
    /// Waits for the end of the process, without holding up a thread.
    package func end() async {
        let ended = AsyncStream<Void>.makeStream()
        terminationHandler = { _ in ended.continuation.finish() }
        if !isRunning { ended.continuation.finish() }
        for await _ in ended.stream {}
    }
}
