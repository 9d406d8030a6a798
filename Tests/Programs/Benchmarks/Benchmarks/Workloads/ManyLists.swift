internal import CoreDataSource
internal import Foundation

extension Bench {
    /// W31: main's time for a save of one contact while that many lists of 20 contacts are shown, of which one changes; instead of
    /// raw: the same with one list.
    func followingManyLists(_ id: String, lists: Int, aim: String) async throws -> Outcome {
        let (many, one) = (try await renameTimes(lists: lists), try await renameTimes(lists: 1))
        let ours = Sample(nanoseconds: many.median, latencies: many)
        return Outcome(id, n: lists, aim: aim, ours: [ours], raw: [Sample(nanoseconds: one.median)])
    }

    private func renameTimes(lists: Int) async throws -> [UInt64] {
        let url = newFile()
        let ours = try await ContactStore(url, .normal)
        // 1,000 scores, each of 20 contacts.
        try await ours.source.add(ContactList(0..<20_000).values)
        let times = try await renameTimes(ours, lists: lists)
        try await ours.container.close()
        remove(url)
        return times
    }

    @MainActor
    private func renameTimes(_ ours: ContactStore, lists: Int) throws -> [UInt64] {
        let delegates = try (0..<lists).map { number in
            let delegate = CountingDelegate()
            try ours.source.register(
                delegate, dataKey: "list \(number)",
                ObjectRequest(
                    ContactEntity.self, where: \.score == Double(number) + 0.5, order: [.ascending(\.name)]))
            return delegate
        }
        let main = ours.container.mainTier
        let saves = 200
        var times: [UInt64] = []
        for save in 0..<saves {
            var renamed = ContactValue(save % lists)
            renamed.name = "Contact name \(save)"
            let value = renamed
            // Saved on this thread, so that main has no turn in which to merge it.
            try ours.source.performAndWait { context in _ = try ours.source.onAdd(value, in: context) }
            times.append(time { main.merge() })
        }
        let reports = delegates.reduce(0) { $0 + $1.reports }
        try expect(reports == saves, "\(reports) reports of \(saves) saves")
        // The first saves warm up.
        times.removeFirst(20)
        return times
    }
}
