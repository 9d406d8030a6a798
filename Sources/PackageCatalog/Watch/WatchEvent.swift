internal import Foundation

/// What a watch is told while it runs.
enum WatchEvent: Sendable, Equatable {
    /// A line of standard input.
    case line(String)
    case inputChanged

    /// Events from standard input and from the file, as they come; they end with standard input.
    ///
    /// - Parameter version: Of the file as it was read.
    static func all(watching input: Input, since version: FileVersion?) throws -> AsyncStream<WatchEvent> {
        let events = AsyncStream<WatchEvent>.makeStream()
        let watch = try FileWatch(input, since: version) { events.continuation.yield(.inputChanged) }
        // Waiting for a line holds up its thread.
        Thread.detachNewThread {
            while let line = readLine(), line != "quit" { events.continuation.yield(.line(line)) }
            watch.end()
            events.continuation.finish()
        }
        return events.stream
    }
}
