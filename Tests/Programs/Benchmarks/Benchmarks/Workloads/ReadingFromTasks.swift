internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W32: 64 tasks that each read 20 contacts by their keys, in one state, again and again, while another task saves; raw: as
    /// many reads, one by one, while nobody saves.
    func readingFromTasks() async throws -> Outcome {
        let (tasks, each, contacts) = (64, options.savesPerTask, 20)
        let list = ContactList(0..<20_000)
        let (url, rawURL) = (newFile(), newFile())
        let ours = try await ContactStore(url, .normal)
        try await ours.source.add(list.values)
        let store = raw_create(rawURL.path, schema, 1)
        raw_insert(store, list.raw, 0, list.values.count)
        raw_close(store)
        let reader = raw_open_reader(rawURL.path)
        let uids = list.values.map(\.uid)
        @Sendable func wanted(_ read: Int) -> [String] {
            (0..<contacts).map { uids[(read * 7919 + $0 * 104_729) % uids.count] }
        }
        let results = try await compare {
            let latencies = Latencies()
            let writer = Task {
                var number = 0
                while !Task.isCancelled {
                    number += 1
                    var value = ContactValue(number % 1000)
                    value.score = Double(number)
                    try await ours.source.add(value)
                }
            }
            var sample = try await ours.measure {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for task in 0..<tasks {
                        group.addTask {
                            var times: [UInt64] = []
                            for read in 0..<each {
                                let uids = wanted(task * each + read)
                                let start = raw_now()
                                let found = try await ours.container.read { context in
                                    try uids.count {
                                        try context.first(ContactEntity.self, where: \.uid, equals: $0) != nil
                                    }
                                }
                                times.append(raw_now() - start)
                                try expect(found == contacts, "\(found) contacts of \(contacts) were found")
                            }
                            latencies.add(times)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            writer.cancel()
            // The last save may have been cancelled.
            _ = await writer.result
            sample.latencies = latencies.all
            return sample
        } raw: {
            measureRaw {
                for read in 0..<tasks * each {
                    for uid in wanted(read) { _ = raw_find(reader, uid, Int32(uid.utf8.count)) }
                }
            }
        }
        raw_close(reader)
        try await ours.container.close()
        for url in [url, rawURL] { remove(url) }
        return Outcome("W32", n: tasks * each, aim: "", ours: results.ours, raw: results.raw)
    }
}
