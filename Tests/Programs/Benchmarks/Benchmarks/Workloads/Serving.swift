#if PostgreSQL
internal import CoreDataSource
internal import Foundation
internal import RawPostgreSQL
internal import RawSQLite

extension Workload {
    /// Those on a PostgreSQL server, which this process starts.
    static let onServers = [
        Workload(id: "W23-server") { bench, _ in [try await bench.alternatingOnServer()] },
        Workload(id: "W23-server-both") { bench, _ in [try await bench.savingBothOnServer()] },
        Workload(id: "W24-add") { bench, _ in [try await bench.addingOnServer()] },
        Workload(id: "W24-sync") { bench, _ in [try await bench.syncingOnServer()] },
        Workload(id: "W24-one") { bench, _ in [try await bench.savingOnServer(tasks: 1, aim: "1.4")] },
        Workload(id: "W24-tasks") { bench, _ in [try await bench.savingOnServer(tasks: 64, aim: "0.2")] },
        Workload(id: "W24-import") { bench, _ in [try await bench.importingLinkedOnServer()] },
        Workload(id: "W24-wait") { bench, _ in [try await bench.waitingOnServer()] },
        Workload(id: "W24-registered") { bench, _ in [try await bench.findingOnServer()] },
        Workload(id: "W25") { bench, _ in [try await bench.followingOnServer(isNotified: true)] },
        Workload(id: "W25-polling") { bench, _ in [try await bench.followingOnServer(isNotified: false)] },
        Workload(id: "W25-followers") { bench, _ in [try await bench.followersOnServer(8)] },
    ]
}

extension Bench {
    /// W23-server: two containers save one object each by turns, so that the lease is handed over each time; in place of raw: as
    /// many saves of one container alone.
    func alternatingOnServer() async throws -> Outcome {
        try await savingOfTwoOnServer("W23-server", 100, aim: "", saveByTurns)
    }

    /// W23-server-both: two containers save one object after the other at the same time, into the same data source; in place of raw: as
    /// many saves of one container alone.
    func savingBothOnServer() async throws -> Outcome {
        try await savingOfTwoOnServer("W23-server-both", options.saves / 5, aim: "2.0", saveAtOnce)
    }

    private func savingOfTwoOnServer(
        _ id: String, _ count: Int, aim: String, _ save: @escaping SavingOfTwo
    ) async throws -> Outcome {
        let values = ContactList(0..<count).values
        func saving(isAlone: Bool) async throws -> Sample {
            let database = try Database()
            let ours = try await ServerStore(database.connection, .full)
            let other = try await ServerStore(database.connection, .full)
            let sources = isAlone ? [ours.source] : [ours.source, other.source]
            let latencies = Latencies()
            var sample = try await ours.measure { try await save(values, sources, latencies) }
            sample.latencies = latencies.all
            try await other.container.close()
            try await ours.container.close()
            return sample
        }
        let results = try await interleaved {
            try await saving(isAlone: false)
        } raw: {
            try await saving(isAlone: true)
        }
        return Outcome(id, n: values.count, aim: aim, ours: results.ours, raw: results.raw)
    }

    /// W24-add: W1 on a server; raw: the faster of COPY and unnest, in one transaction.
    func addingOnServer() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let (values, raw) = (list.values, list.raw)
        let results = try await interleaved {
            let ours = try await ServerStore(Database().connection, .full)
            let sample = try await ours.measure { try await ours.source.add(values) }
            try expect(sample.rowsWritten == values.count, "\(sample.rowsWritten) rows were written")
            try await ours.container.close()
            return sample
        } raw: {
            try await fasterOfCopyAndArrays { server in
                let sample = measureRaw { raw_server_insert(server, raw, 0, values.count) }
                try verify(server, values.count)
                return sample
            }
        }
        return Outcome("W24-add", n: values.count, aim: "1.1", ours: results.ours, raw: results.raw)
    }

    /// W24-sync: W2 on a server, 1% changed; raw: the faster of COPY and unnest into a temporary table, then
    /// one UPDATE of what differs.
    func syncingOnServer() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let changed = list.withOnePercentChanged()
        let expected = (options.n + 99) / 100
        let (first, second) = (list.values, changed.values)
        let (rawFirst, rawSecond) = (list.raw, changed.raw)
        let results = try await interleaved {
            let ours = try await ServerStore(
                Database().connection, .full, registeredObjectByteLimit: max(64 << 20, options.n * 1024))
            _ = try await ours.source.sync(first, entity: ContactEntity.self)
            let sample = try await ours.measure {
                let report = try await ours.source.sync(second, entity: ContactEntity.self)
                try expect(report.updated == expected && report.inserted == 0, "a sync reported \(report)")
            }
            try await ours.container.close()
            return sample
        } raw: {
            try await fasterOfCopyAndArrays { server in
                raw_server_insert(server, rawFirst, 0, first.count)
                var written: Int64 = 0
                let sample = measureRaw { written = raw_server_sync(server, rawSecond) }
                try expect(written == expected, "raw wrote \(written) rows")
                return sample
            }
        }
        return Outcome("W24-sync", n: second.count, aim: "0.35", ours: results.ours, raw: results.raw)
    }

    /// W24-one and W24-tasks: saves of one object, durable, by one task or by 64; raw: as many transactions one by one, each
    /// sent at once.
    func savingOnServer(tasks: Int, aim: String) async throws -> Outcome {
        let each = tasks == 1 ? options.saves / 5 : options.savesPerTask
        let list = ContactList(0..<tasks * each)
        let (values, raw) = (list.values, list.raw)
        let results = try await interleaved {
            let ours = try await ServerStore(Database().connection, .full)
            let latencies = Latencies()
            var sample = try await ours.measure {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for task in 0..<tasks {
                        let own = values[task * each..<(task + 1) * each]
                        group.addTask {
                            for value in own {
                                let start = raw_now()
                                try await ours.source.add(value)
                                latencies.add(raw_now() - start)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            sample.latencies = latencies.all
            try await ours.container.close()
            return sample
        } raw: {
            let server = try await Database.raw(.full)
            let sample = measureRaw { for index in values.indices { raw_server_insert_one(server, raw, index) } }
            try verify(server, values.count)
            raw_server_close(server)
            return sample
        }
        let id = tasks == 1 ? "W24-one" : "W24-tasks"
        return Outcome(id, n: values.count, aim: aim, ours: results.ours, raw: results.raw)
    }

    /// W24-wait: the longest wait for a one-object save of another data source while W24-add runs; in place of raw: the longest wait for as
    /// many of these saves when nothing else is saved.
    func waitingOnServer() async throws -> Outcome {
        let values = ContactList(0..<options.n).values
        var samples: (beside: [Sample], alone: [Sample]) = ([], [])
        for round in 0...options.rounds {
            let ours = try await ServerStore(Database().connection, .full)
            let groups = try await ours.container.dataSource(GroupSource.self)
            let isDone = Latencies()
            let importing = Task {
                defer { isDone.add(1) }
                try await ours.source.add(values)
            }
            var (beside, alone): ([UInt64], [UInt64]) = ([], [])
            while isDone.all.isEmpty { beside.append(try await saveGroup(beside.count, groups)) }
            try await importing.value
            while alone.count < beside.count { alone.append(try await saveGroup(beside.count + alone.count, groups)) }
            try await ours.container.close()
            // The first round warms up.
            if round == 0 { continue }
            samples.beside.append(Sample(nanoseconds: beside.max() ?? 0, latencies: beside))
            samples.alone.append(Sample(nanoseconds: alone.max() ?? 0, latencies: alone))
        }
        return Outcome("W24-wait", n: values.count, aim: "50 ms", ours: samples.beside, raw: samples.alone)
    }

    /// W24-registered: objects found by a unique value while they are registered; none of it may ask the server. Raw: a round
    /// trip for each, SELECT 1.
    func findingOnServer() async throws -> Outcome {
        let values = ContactList(0..<1000).values
        let results = try await interleaved {
            let ours = try await ServerStore(Database().connection, .normal)
            try await ours.source.add(values)
            let sample = try await ours.measure {
                try await ours.source.perform { context in
                    for value in values {
                        let found = try context.first(ContactEntity.self, where: \.uid, equals: value.uid)
                        try expect(found?.age == value.age, "a contact was not found")
                    }
                }
            }
            try expect(sample.statements == 0, "\(sample.statements) look-ups asked the server")
            try await ours.container.close()
            return sample
        } raw: {
            let server = try await Database.raw(.normal)
            let sample = measureRaw { for _ in values { _ = raw_server_value(server, "SELECT 1") } }
            raw_server_close(server)
            return sample
        }
        return Outcome("W24-registered", n: values.count, aim: "", ours: results.ours, raw: results.raw)
    }

    /// W25 and W25-polling: from the end of a save on one container to the report of another's list, with notifications or without;
    /// in place of raw: the save itself.
    func followingOnServer(isNotified: Bool) async throws -> Outcome {
        let database = try Database()
        let ours = try await ServerStore(database.connection, .normal)
        let other =
            try await isNotified
            ? ServerStore(database.connection, .normal) : ServerStore(unnotified: database.connection, .normal)
        try await ours.source.add(ContactList(0..<1000).values)
        let (reports, saves) = (Latencies(), Latencies())
        var sample = try await ours.measure {
            try await reportTimes(of: other.source, reports, saves) { save in
                let adding = Task.detached {
                    let start = raw_now()
                    try await ours.source.add(ContactValue(moved: save))
                    return (start, raw_now())
                }
                return { try await adding.value }
            }
        }
        try await other.container.close()
        try await ours.container.close()
        (sample.nanoseconds, sample.latencies) = (reports.all.median, reports.all)
        return Outcome(
            isNotified ? "W25" : "W25-polling", n: saves.all.count, aim: "", ours: [sample],
            raw: [Sample(nanoseconds: saves.all.median)])
    }

    /// W25-followers: saves that other containers follow, with a pause after each, so that nobody takes in two at once; in place of
    /// raw: the same saves that nobody follows. The difference of the server's processor times is the cost of the followers.
    func followersOnServer(_ count: Int) async throws -> Outcome {
        let values = ContactList(0..<200).values
        func saving(followers count: Int) async throws -> Sample {
            let database = try Database()
            let ours = try await ServerStore(database.connection, .full)
            var followers: [ServerStore] = []
            for _ in 0..<count { followers.append(try await ServerStore(database.connection, .full)) }
            let sample = try await ours.measure {
                for value in values {
                    try await ours.source.add(value)
                    try await Task.sleep(for: .milliseconds(4))
                }
            }
            for follower in followers { try await follower.container.close() }
            try await ours.container.close()
            return sample
        }
        let results = try await interleaved {
            try await saving(followers: count)
        } raw: {
            try await saving(followers: 0)
        }
        let used = results.ours.compactMap(\.server?.nanoseconds).median
        let alone = results.raw.compactMap(\.server?.nanoseconds).median
        var outcome = Outcome("W25-followers", n: values.count, aim: "", ours: results.ours, raw: results.raw)
        outcome.sample.server?.nanoseconds = used > alone ? used - alone : 0
        return outcome
    }

    /// Runs the work both ways, each in a database of its own.
    private func fasterOfCopyAndArrays(_ work: (OpaquePointer?) throws -> Sample) async throws -> Sample {
        var samples: [Sample] = []
        for usesArrays in [false, true] {
            let server = try await Database.raw(.full)
            if usesArrays { raw_server_use_arrays(server) }
            samples.append(try work(server))
            raw_server_close(server)
        }
        return samples[0].nanoseconds <= samples[1].nanoseconds ? samples[0] : samples[1]
    }

    private func verify(_ server: OpaquePointer?, _ count: Int) throws {
        let found = raw_server_value(server, "SELECT count(*) FROM %s")
        try expect(found == count, "\(found) rows instead of \(count)")
    }
}
#else
extension Workload {
    static let onServers: [Workload] = []
}
#endif
