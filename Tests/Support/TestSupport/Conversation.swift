package import Foundation

/// A running program that gets input and gives output.
package final class Conversation {
    private let process: Process
    private let input: FileHandle
    private var pieces: AsyncStream<String>.Iterator

    /// - Parameters:
    ///   - output: The program's standard output.
    ///   - separator: The end of each piece of output.
    package init(_ process: Process, input: FileHandle, output: FileHandle, separator: String) {
        self.process = process
        self.input = input
        pieces = Conversation.pieces(of: output, separator).makeAsyncIterator()
    }

    package func send(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

    /// The next piece of output, without its separator; nil after the last piece.
    package func next() async -> String? { await pieces.next(isolation: #isolation) }

    /// The pieces up to the first piece for which `isLast` returns true; all pieces if there is none.
    package func next(until isLast: (String) -> Bool) async -> [String] {
        var output: [String] = []
        while let piece = await pieces.next(isolation: #isolation) {
            output.append(piece)
            if isLast(piece) { break }
        }
        return output
    }

    /// Closes the program's standard input, and returns the exit status.
    package func end() async throws -> Int32 {
        try input.close()
        return await status()
    }

    /// Kills a program that does not end by itself.
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
        // Reading blocks the thread. A terminal ends with an error.
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
    /// Waits for the end of the process, without blocking a thread.
    package func end() async {
        let ended = AsyncStream<Void>.makeStream()
        terminationHandler = { _ in ended.continuation.finish() }
        if !isRunning { ended.continuation.finish() }
        for await _ in ended.stream {}
    }
}
