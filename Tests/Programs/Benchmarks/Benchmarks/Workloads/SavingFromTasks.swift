internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W4: 64 tasks that each save one object after the other, FULL; raw: as many transactions, one by one.
    func savingFromTasks() async throws -> Outcome {
        let tasks = 64
        let each = options.savesPerTask
        let list = ContactList(0..<tasks * each)
        let (values, raw, sum) = (list.values, list.raw, list.checksum)
        let results = try await compare {
            let url = newFile()
            let ours = try await ContactStore(url, .full)
            let latencies = Latencies()
            var sample = try await ours.measure {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for task in 0..<tasks {
                        let own = values[task * each..<(task + 1) * each]
                        group.addTask {
                            var times: [UInt64] = []
                            for value in own {
                                let start = raw_now()
                                try await ours.source.add(value)
                                times.append(raw_now() - start)
                            }
                            latencies.add(times)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            sample.latencies = latencies.all
            try verify(url, count: values.count, checksum: sum)
            try verifyOrder(url, each)
            try await ours.container.close()
            remove(url)
            return sample
        } raw: {
            let url = newFile()
            let store = raw_create(url.path, schema, 1)
            let sample = measureRaw { for index in values.indices { raw_insert(store, raw, index, index + 1) } }
            try verify(url, count: values.count, checksum: sum)
            raw_close(store)
            remove(url)
            return sample
        }
        return Outcome("W4", n: values.count, aim: "0.08", ours: results.ours, raw: results.raw)
    }

    /// Stops unless each task's contacts were saved in the task's order: keys grow with the uids.
    private func verifyOrder(_ url: URL, _ each: Int) throws {
        let reader = raw_open_reader(url.path)
        defer { raw_close(reader) }
        let number = "CAST(substr(uid, 5) AS INTEGER)"
        let wrong = raw_value(
            reader,
            "SELECT count(*) FROM (SELECT _key, lag(_key) OVER (PARTITION BY \(number) / \(each) ORDER BY uid) AS before "
                + "FROM ContactEntity) WHERE before > _key")
        try expect(wrong == 0, "\(wrong) saves overtook an earlier one of their task")
    }
}
