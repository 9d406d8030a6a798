import Synchronization

/// What a list shows.
@MainActor
final class FollowedList {
    private let latest = SharedRecords()

    init(_ recordSource: any RecordSource) {
        let latest = latest
        Task.detached { await recordSource.follow { latest.set($0) } }
    }

    var shown: [RecordData] { latest.get() }
}

private final class SharedRecords: Sendable {
    private let state = Mutex<[RecordData]>([])

    func set(_ records: [RecordData]) { state.withLock { $0 = records } }
    func get() -> [RecordData] { state.withLock { $0 } }
}
