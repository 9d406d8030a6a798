internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W33: what a container with 10 lists of 1,000 contacts each costs while nothing happens: how often the threads of the process wake
    /// up in a minute, and the memory that is in RAM; instead of raw: the same process before it opens the container.
    func idling(_ id: String, isShared: Bool) async throws -> [Outcome] {
        let url = newFile()
        let filled = try await ContactStore(url, .normal)
        try await filled.source.add(ContactList(0..<10_000).values)
        try await filled.container.close()
        let alone = try await wakeUps()
        let before = raw_resident()
        let ours = try await ContactStore(url, .normal, sharing: isShared ? .processes : .exclusive)
        let delegates = try await showLists(ours)
        let beside = try await wakeUps()
        let bytes = max(0, raw_resident() - before)
        let reports = await reportCount(delegates)
        try expect(reports == 0, "\(reports) reports although nothing happened")
        try await ours.container.close()
        remove(url)
        var memory = Outcome("\(id)-bytes", n: 10_000, aim: "", ours: [], raw: [])
        memory.bytes = (bytes, before)
        var wakes = Outcome(id, n: 10_000, aim: isShared ? "" : "1.0", ours: [], raw: [])
        wakes.wakeUps = (beside, alone)
        return [wakes, memory]
    }

    @MainActor
    private func showLists(_ ours: ContactStore) throws -> [CountingDelegate] {
        try (0..<10).map { number in
            let delegate = CountingDelegate()
            let (low, high) = (Double(number) * 100, Double(number + 1) * 100)
            try ours.source.register(
                delegate, dataKey: "list \(number)",
                ObjectRequest(
                    ContactEntity.self, where: \.score >= low && \.score < high, order: [.ascending(\.name)]))
            return delegate
        }
    }

    @MainActor
    private func reportCount(_ delegates: [CountingDelegate]) -> Int { delegates.reduce(0) { $0 + $1.reports } }

    /// How often threads of this process wake up in a minute. Each time that a thread has waited counts. This function waits once itself.
    private func wakeUps() async throws -> Int {
        let seconds: UInt64 = options.isQuick ? 10 : 60
        // What was begun before ends meanwhile.
        try await Task.sleep(for: .seconds(5))
        let before = raw_waits()
        try await Task.sleep(for: .seconds(seconds))
        return Int((raw_waits() - before) * 60 / seconds)
    }
}
