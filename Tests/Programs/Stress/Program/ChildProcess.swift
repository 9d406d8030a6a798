import Foundation
import Synchronization

/// Another process of this program, and the lines that it prints.
final class ChildProcess: Sendable {
    enum End: Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    private let process: Mutex<Process>
    private let ended = AsyncStream<End>.makeStream()
    private let drained = AsyncStream<Void>.makeStream()
    private let input: FileHandle

    /// - Parameter onLine: Called on a thread of its own, in the order of the lines, and with nil after the last one. All
    ///   have come when ``end()`` returns.
    init(_ arguments: [String], onLine: @escaping @Sendable (Substring?) -> Void) throws {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["--child"] + arguments
        let output = Pipe()
        let input = Pipe()
        process.standardOutput = output
        process.standardInput = input
        self.input = input.fileHandleForWriting
        let ended = ended.continuation
        process.terminationHandler = { process in
            ended.yield(
                process.terminationReason == .uncaughtSignal
                    ? .signal(process.terminationStatus) : .exit(process.terminationStatus))
            ended.finish()
        }
        try process.run()
        let descriptor = dup(output.fileHandleForReading.fileDescriptor)
        self.process = Mutex(process)
        let drained = drained.continuation
        Thread {
            readLines(descriptor, onLine)
            onLine(nil)
            close(descriptor)
            drained.finish()
        }.start()
    }

    /// The line of a child that an error ends: `failed ERROR`.
    static func line(for error: any Error) -> String { "failed \("\(error)".replacing("\n", with: " "))" }

    func send(signal: Int32) {
        process.withLock { process in
            if process.isRunning { kill(process.processIdentifier, signal) }
        }
    }

    /// Writes a line to its standard input. Does nothing if it has ended.
    func send(line: String) {
        try? input.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Waits until it has ended and all its lines were read.
    func end() async -> End {
        var result = End.exit(-1)
        for await end in ended.stream { result = end }
        for await _ in drained.stream {}
        return result
    }
}

private func readLines(_ descriptor: Int32, _ onLine: (Substring) -> Void) {
    var pending: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return }
        pending += buffer[..<count]
        // What a killed process wrote of its last line is no line.
        var lines = pending.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        pending = Array(lines.popLast() ?? [])
        for line in lines { onLine(Substring(String(decoding: line, as: UTF8.self))) }
    }
}

/// Prints a line at once and as a whole, whichever thread it comes from.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
