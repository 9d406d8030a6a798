import Foundation
import Synchronization

/// What a child said of its saves: an append-only list that the parent keeps beside the store, so that what the child did to
/// the store cannot have touched it.
final class Acknowledgements: Sendable {
    struct Snapshot: Sendable {
        var isOpen = false
        /// The last operation of each task that was acknowledged at all, and as stored.
        var shown: [Int64]
        var stored: [Int64]
        var count = 0
        var failures: [String] = []
    }

    private let known: Mutex<Snapshot>
    private let file: FileHandle

    /// - Parameter done: How many operations of each task the store had before.
    init(_ file: URL, done: [Int64]) throws {
        known = Mutex(Snapshot(shown: done, stored: done))
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        self.file = try FileHandle(forWritingTo: file)
        try self.file.seekToEnd()
    }

    deinit { try? file.close() }

    var value: Snapshot { known.withLock { $0 } }

    func note(_ line: Substring) {
        try? file.write(contentsOf: Data((line + "\n").utf8))
        let words = line.split(separator: " ")
        known.withLock { known in
            guard words.count >= 3, let task = Int(words[1]), let number = Int64(words[2]) else {
                if words.first == "open" { known.isOpen = true } else { known.failures.append(String(line)) }
                return
            }
            switch words[0] {
            case "store":
                known.stored[task] = number
                known.shown[task] = number
                known.count += 1
            case "main":
                known.shown[task] = number
                known.count += 1
            default: known.failures.append(String(line))
            }
        }
    }
}
