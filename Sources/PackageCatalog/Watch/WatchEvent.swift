internal import Foundation

/// What a watch is told while it runs.
enum WatchEvent: Sendable, Equatable {
    /// A line of standard input.
    case line(String)
    case inputChanged

    /// Events from standard input and from the file, as they come; they end with standard input.
    ///
    /// - Parameter version: Of the file as it was read.
    static func all(watching input: Input, since version: FileVersion?) -> AsyncStream<WatchEvent> {
        let events = AsyncStream<WatchEvent>.makeStream()
        let polling = Task {
            var version = version
            // Replacing a file, as editors and apt do, is what file events miss.
            while (try? await Task.sleep(for: .milliseconds(200))) != nil {
                let now = FileVersion(input)
                if let now, now != version { events.continuation.yield(.inputChanged) }
                version = now ?? version
            }
        }
        // Waiting for a line holds up its thread.
        Thread.detachNewThread {
            while let line = readLine(), line != "quit" { events.continuation.yield(.line(line)) }
            polling.cancel()
            events.continuation.finish()
        }
        return events.stream
    }
}

/// What is different when a file was written again or replaced.
struct FileVersion: Equatable, Sendable {
    private let modified: Date?
    private let number: Int?
    private let size: Int?

    /// Nil for what is not there.
    init?(_ input: Input) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: input.name) else { return nil }
        modified = attributes[.modificationDate] as? Date
        number = (attributes[.systemFileNumber] as? NSNumber)?.intValue
        size = (attributes[.size] as? NSNumber)?.intValue
    }
}
