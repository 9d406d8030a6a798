import CoreDataSource
import Testing

/// Work that was handed out.
struct HandedWork: Equatable {
    let work: ListWork
    let onMain: Bool

    /// The task, and its saves: `merge [1, 2]`.
    var name: String {
        switch work.task {
        case .merge(let saves): "merge \(saves.map(\.number))"
        case .follow(let saves, _): "follow \(saves.map(\.number))"
        case .reportChanged(let rows, _): "reportChanged \(rows.keys.sorted())"
        case .read: "read"
        case .readMore: "readMore"
        case .appendTail(_, _, let saves): "appendTail \(saves.map(\.number))"
        }
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name && lhs.onMain == rhs.onMain }
}

extension ListSchedule {
    /// Sends a notice, which does nothing at once.
    mutating func record(_ notice: Event) {
        guard case .none = handle(notice) else {
            Issue.record("a notice made something happen")
            return
        }
    }

    /// The work that begins now.
    mutating func turn(isEverySaveWanted: Bool = false) -> HandedWork? {
        handle(.beginWork(isEverySaveWanted: isEverySaveWanted)).handed
    }

    /// Ends the work.
    ///
    /// - Returns: Nil if nothing happens then.
    mutating func end(_ outcome: ListWork.Outcome) -> Action? {
        let action = handle(.workEnded(outcome))
        if case .none = action { return nil }
        return action
    }
}

extension ListSchedule.Action {
    var handed: HandedWork? {
        if case .run(let work, let onMain) = self { HandedWork(work: work, onMain: onMain) } else { nil }
    }

    var report: ListReport? { if case .notify(let report) = self { report } else { nil } }

    var failure: DataSourceError? { if case .fail(let error) = self { error } else { nil } }
}
