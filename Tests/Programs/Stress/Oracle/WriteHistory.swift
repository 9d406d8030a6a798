import Foundation

/// What somebody wrote to one record, and when: at some moment between the two.
struct WriteEvent: Sendable {
    enum Effect: Sendable {
        /// The record is there, with these values.
        case put(revision: Int64, text: String?)
        case setRevision(Int64)
        case setText(String?)
        case delete
    }

    var table: Int
    var key: String
    var effect: Effect
    var isOutside: Bool
    /// In nanoseconds, on a clock that all processes share.
    var start: UInt64
    var end: UInt64

    static func now() -> UInt64 { nanoseconds() }
}

private func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

extension WriteEvent {
    /// As a line of a child, and back.
    var line: String {
        let effect =
            switch effect {
            case .put(let revision, let text): "put \(revision) \(text ?? "nil")"
            case .setRevision(let revision): "revision \(revision)"
            case .setText(let text): "text \(text ?? "nil")"
            case .delete: "delete"
            }
        return "wrote \(start) \(end) \(table) \(key) \(effect)"
    }

    init?(line: Substring) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count >= 6, words[0] == "wrote", let start = UInt64(words[1]), let end = UInt64(words[2]),
            let table = Int(words[3])
        else { return nil }
        func text(_ word: String) -> String? { word == "nil" ? nil : word }
        let effect: Effect
        switch (words[5], words.count) {
        case ("put", 8): effect = .put(revision: Int64(words[6]) ?? 0, text: text(words[7]))
        case ("revision", 7): effect = .setRevision(Int64(words[6]) ?? 0)
        case ("text", 7): effect = .setText(text(words[6]))
        case ("delete", 6): effect = .delete
        default: return nil
        }
        self.init(table: table, key: words[4], effect: effect, isOutside: true, start: start, end: end)
    }
}

/// Everything that was written to a store, by the app and from outside.
struct WriteHistory {
    private var events: [String: [WriteEvent]] = [:]

    /// How long a write from outside may go unnoticed.
    static let grace: UInt64 = 1_000_000_000
    /// How long after it a save may be refused for it.
    private static let refusalGrace = grace * 3 / 2

    mutating func add(_ event: WriteEvent) {
        events["\(event.table) \(event.key)", default: []].append(event)
    }

    /// Forgets what is no longer needed: what was written before the last put of the same record had begun.
    ///
    /// Without it each round would take longer than the one before. A write from outside is kept as long as a save that begins
    /// later can be refused for it.
    mutating func forget() {
        let recent = WriteEvent.now() - WriteHistory.refusalGrace
        for (name, events) in events {
            let puts = events.filter { if case .put = $0.effect { true } else { false } }
            let lastPut = puts.map(\.start).max() ?? 0
            self.events[name] = events.filter { $0.end >= lastPut || $0.isOutside && $0.end >= recent }
        }
    }

    /// Whether the records can be what is left: each value was written by somebody, and nobody wrote it after that.
    ///
    /// - Returns: What cannot be.
    func contradictions(_ table: Int, _ records: [RecordData]) -> [String] {
        let found = Dictionary(records.map { ($0.key, $0) }) { first, _ in first }
        var result = found.count == records.count ? [] : ["two records have one key"]
        for (name, events) in events {
            guard let event = events.first, event.table == table else { continue }
            if let text = contradiction(events, found[event.key]) { result.append("record \(name) \(text)") }
        }
        return result
    }

    private func contradiction(_ events: [WriteEvent], _ found: RecordData?) -> String? {
        let presence = last(events) {
            switch $0 {
            case .put: true
            case .delete: false
            case .setRevision, .setText: nil as Bool?
            }
        }
        guard let found else {
            return presence.isEmpty || presence.contains(false) ? nil : "is gone, and nobody deleted it last"
        }
        guard presence.contains(true) else { return "is there, and nobody inserted it last" }
        let revisions = last(events) {
            switch $0 {
            case .put(let revision, _), .setRevision(let revision): revision
            case .delete, .setText: nil as Int64?
            }
        }
        guard revisions.contains(found.revision) else {
            return "has the revision \(found.revision), and the last ones are \(revisions)"
        }
        let texts = last(events) {
            switch $0 {
            case .put(_, let text), .setText(let text): .some(text)
            case .delete, .setRevision: nil as String??
            }
        }
        return texts.contains(found.text)
            ? nil : "has the text \(found.text ?? "nil"), and the last ones are \(texts.map { $0 ?? "nil" })"
    }

    /// What was written last, as far as that can be known: nothing else began after it had ended.
    private func last<Value>(_ events: [WriteEvent], _ value: (WriteEvent.Effect) -> Value?) -> [Value] {
        let writers = events.compactMap { event in value(event.effect).map { (event, $0) } }
        return writers.filter { one, _ in
            !writers.contains { other, _ in other.start > one.end + grace(other, after: one) }
        }.map(\.1)
    }

    /// A deletion by the app passes over what it has not noticed yet.
    private func grace(_ event: WriteEvent, after other: WriteEvent) -> UInt64 {
        if case .delete = event.effect, !event.isOutside, other.isOutside { return WriteHistory.grace }
        return 0
    }

    /// Whether somebody wrote to the table from outside, from a while before the time until its end.
    func wasWrittenOutside(_ table: Int, from start: UInt64, to end: UInt64) -> Bool {
        events.values.joined().contains {
            $0.isOutside && $0.table == table && $0.start <= end && $0.end + WriteHistory.refusalGrace >= start
        }
    }
}
