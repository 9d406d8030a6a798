internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W1: a list into an empty store, through the hook, in one save; raw: one transaction of inserts.
    func adding() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let (values, raw, sum) = (list.values, list.raw, list.checksum)
        let results = try await compare {
            let url = newFile()
            let ours = try await ContactStore(url, .full)
            let sample = try await ours.measure { try await ours.source.add(values) }
            try expect(sample.rowsWritten == values.count, "\(sample.rowsWritten) rows were written")
            try verify(url, count: values.count, checksum: sum)
            try await ours.container.close()
            remove(url)
            return sample
        } raw: {
            let url = newFile()
            let store = raw_create(url.path, schema, 1)
            let sample = measureRaw { raw_insert(store, raw, 0, values.count) }
            try verify(url, count: values.count, checksum: sum)
            raw_close(store)
            remove(url)
            return sample
        }
        return Outcome("W1", n: values.count, aim: "1.1", ours: results.ours, raw: results.raw)
    }

    /// W1-linked: the same with the group of each contact, looked up in the hook among 1,000; raw: their keys are known.
    func addingLinked() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let (values, raw, sum) = (list.values, list.raw, list.checksum)
        let members = "SELECT count(*) FROM GroupEntity JOIN ContactEntity ON \"group\" = GroupEntity._key"
        func verify(_ url: URL) throws {
            try self.verify(url, count: values.count, checksum: sum)
            let reader = raw_open_reader(url.path)
            defer { raw_close(reader) }
            try expect(raw_value(reader, members) == values.count, "contacts without a group")
        }
        let results = try await compare {
            let url = newFile()
            let ours = try await OpenStore<MemberSource>(url, .full)
            let sample = try await ours.measure { try await ours.source.add(values) }
            try verify(url)
            try await ours.container.close()
            remove(url)
            return sample
        } raw: {
            let url = newFile()
            let store = raw_create(url.path, schema, 1)
            let sample = measureRaw { raw_insert_linked(store, raw, MemberSource.groupCount) }
            try verify(url)
            raw_close(store)
            remove(url)
            return sample
        }
        return Outcome("W1-linked", n: values.count, aim: "1.3 W1", ours: results.ours, raw: results.raw)
    }

    /// W1-others: one-object saves of another data source while W1 runs, again and again; raw: the same saves of ours when
    /// nothing else is.
    func savingBeside() async throws -> Outcome {
        let values = ContactList(0..<options.n).values
        var samples: (beside: [Sample], alone: [Sample]) = ([], [])
        for round in 0...options.rounds {
            let url = newFile()
            let ours = try await ContactStore(url, .normal)
            let groups = try await ours.container.dataSource(GroupSource.self)
            let importing = Task { try await ours.source.add(values) }
            let isDone = Latencies()
            let watching = Task {
                _ = try await importing.value
                isDone.add(1)
            }
            var beside: [UInt64] = []
            while isDone.all.isEmpty { beside.append(try await saveGroup(beside.count, groups)) }
            try await watching.value
            var alone: [UInt64] = []
            while alone.count < beside.count { alone.append(try await saveGroup(beside.count + alone.count, groups)) }
            try await ours.container.close()
            remove(url)
            // The first round warms up.
            if round == 0 { continue }
            samples.beside.append(Sample(nanoseconds: beside.median, latencies: beside))
            samples.alone.append(Sample(nanoseconds: alone.median, latencies: alone))
        }
        return Outcome("W1-others", n: values.count, aim: "", ours: samples.beside, raw: samples.alone)
    }

    /// W1-wait and W1-wait-two: the longest wait for a one-object save of another data source while W1 runs, with one large save, or with two
    /// that follow each other; raw: the longest of plain C's transactions for the rows of one of them each.
    func waitingBeside(largeSaves: Int) async throws -> Outcome {
        let count = options.n
        let lists = (0..<largeSaves).map { ContactList($0 * count..<($0 + 1) * count).values }
        let list = ContactList(0..<largeSaves * count)
        let raw = list.raw
        let results = try await compare(rounds: options.rounds) {
            let waits = try await waits(lists)
            return Sample(nanoseconds: waits.max() ?? 0, latencies: waits)
        } raw: {
            let url = newFile()
            let store = raw_create(url.path, schema, 0)
            // The second transaction takes longer, because the index of the unique values is larger then.
            let times = (0..<largeSaves).map { part in
                measureRaw { raw_insert(store, raw, part * count, (part + 1) * count) }.nanoseconds
            }
            raw_close(store)
            remove(url)
            return Sample(nanoseconds: times.max() ?? 0)
        }
        return Outcome(
            largeSaves == 1 ? "W1-wait" : "W1-wait-two", n: count, aim: "1.2", ours: results.ours, raw: results.raw)
    }

    /// How long each one-object save waits while the lists are saved, each list in one save.
    private func waits(_ lists: [[ContactValue]]) async throws -> [UInt64] {
        let url = newFile()
        let ours = try await ContactStore(url, .normal)
        let groups = try await ours.container.dataSource(GroupSource.self)
        let isDone = Latencies()
        let importing = Task {
            defer { isDone.add(1) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for values in lists { group.addTask { try await ours.source.add(values) } }
                try await group.waitForAll()
            }
        }
        var waits: [UInt64] = []
        while isDone.all.isEmpty { waits.append(try await saveGroup(waits.count, groups)) }
        try await importing.value
        try verify(url, count: lists.reduce(0) { $0 + $1.count }, checksum: checksum(lists))
        try await ours.container.close()
        remove(url)
        return waits
    }

    private func checksum(_ lists: [[ContactValue]]) -> Int64 {
        lists.reduce(0) { sum, values in values.reduce(sum) { $0 + $1.checksum } }
    }

    func saveGroup(_ number: Int, _ groups: GroupSource) async throws -> UInt64 {
        let start = raw_now()
        try await groups.add("group \(number)")
        return raw_now() - start
    }
}
