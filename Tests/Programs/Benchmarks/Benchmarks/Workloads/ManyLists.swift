internal import CoreDataSource
internal import Foundation

extension Bench {
    /// W31: main's time for a save of one contact while that many lists of 20 contacts are shown, of which one changes; instead of
    /// raw: the same with one list.
    ///
    /// - Parameter areRanges: Whether the predicates compare a range of scores, and not one score.
    func followingManyLists(_ id: String, lists: Int, areRanges: Bool = false, aim: String) async throws -> Outcome {
        let many = try await renameTimes(lists: lists, areRanges)
        let one = try await renameTimes(lists: 1, areRanges)
        let ours = Sample(nanoseconds: many.median, latencies: many)
        return Outcome(id, n: lists, aim: aim, ours: [ours], raw: [Sample(nanoseconds: one.median)])
    }

    private func renameTimes(lists: Int, _ areRanges: Bool) async throws -> [UInt64] {
        let url = newFile()
        let ours = try await ContactStore(url, .normal)
        // 1,000 scores, each of 20 contacts.
        try await ours.source.add(ContactList(0..<20_000).values)
        let times = try await renameTimes(ours, lists: lists, areRanges)
        try await ours.container.close()
        remove(url)
        return times
    }

    @MainActor
    private func renameTimes(_ ours: ContactStore, lists: Int, _ areRanges: Bool) throws -> [UInt64] {
        let delegates = try (0..<lists).map { number in
            let delegate = CountingDelegate()
            let predicate = areRanges ? range(number) : score(number)
            try ours.source.register(
                delegate, dataKey: "list \(number)",
                ObjectRequest(ContactEntity.self, where: predicate, order: [.ascending(\.name)]))
            return delegate
        }
        let main = ours.container.mainTier
        let saves = 200
        var times: [UInt64] = []
        for save in 0..<saves {
            var renamed = ContactValue(save % lists)
            renamed.name = "Contact name \(save)"
            saveElsewhere(renamed, ours)
            times.append(time { main.merge() })
        }
        let reports = delegates.reduce(0) { $0 + $1.reports }
        try expect(reports == saves, "\(reports) reports of \(saves) saves")
        // The first saves warm up.
        times.removeFirst(20)
        return times
    }

    private func score(_ number: Int) -> FetchPredicate<ContactEntity> {
        let score = Double(number) + 0.5
        return \.score == score
    }

    private func range(_ number: Int) -> FetchPredicate<ContactEntity> {
        let (low, high) = (Double(number), Double(number + 1))
        return \.score > low && \.score < high
    }

    /// Saves on another thread, while this thread waits. So main has no turn in which to merge the save, and none of the merge is done
    /// by the save.
    private func saveElsewhere(_ value: ContactValue, _ ours: ContactStore) {
        let saved = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            do {
                try ours.source.performAndWait { context in _ = try ours.source.onAdd(value, in: context) }
            } catch {
                preconditionFailure("A contact could not be saved: \(error)")
            }
            saved.signal()
        }
        saved.wait()
    }
}
