internal import Foundation

/// An event during a watch.
enum WatchEvent: Sendable, Equatable {
    /// A line of standard input.
    case line(String)
    case inputChanged

    /// Events from standard input and from the file, in the order of their arrival; they end with standard input.
    ///
    /// - Parameter version: The version of the file that was read.
    static func all(watching input: Input, since version: FileVersion?) throws -> AsyncStream<WatchEvent> {
        let events = AsyncStream<WatchEvent>.makeStream()
        let watch = try FileWatch(input, since: version) { events.continuation.yield(.inputChanged) }
        // Waiting for a line blocks its thread.
        Thread.detachNewThread {
            while let line = readLine(), line != "quit" { events.continuation.yield(.line(line)) }
            watch.end()
            events.continuation.finish()
        }
        return events.stream
    }
}
