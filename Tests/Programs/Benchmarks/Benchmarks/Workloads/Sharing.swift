internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W22: saves into a store that processes share and nobody else has open; in place of raw: the same into one that the
    /// container has alone.
    ///
    /// - Parameter size: How many new objects each save has.
    func savingShared(_ size: Int, aim: String) async throws -> Outcome {
        let list = ContactList(0..<max(size * 10, min(options.n, size * 200)))
        let values = list.values
        let saves = stride(from: 0, to: values.count, by: size).map { Array(values[$0..<min($0 + size, values.count)]) }
        var samples: (shared: [Sample], alone: [Sample]) = ([], [])
        for round in 0...options.rounds {
            for sharing in round % 2 == 0 ? [StoreSharingMode.processes, .exclusive] : [.exclusive, .processes] {
                let url = newFile()
                let ours = try await ContactStore(url, .normal, sharing: sharing)
                let sample = try await ours.measure { for save in saves { try await ours.source.add(save) } }
                try verify(url, count: values.count, checksum: list.checksum)
                try await ours.container.close()
                remove(url)
                if round == 0 { continue }
                if sharing == .processes { samples.shared.append(sample) } else { samples.alone.append(sample) }
            }
        }
        return Outcome("W22-\(size)", n: values.count, aim: aim, ours: samples.shared, raw: samples.alone)
    }

    /// W23: two containers save one object each by turns, so that the lease is handed over each time; in place of raw: as many saves
    /// of one container alone.
    func alternating() async throws -> Outcome {
        try await savingOfTwo("W23", 100, .normal, aim: "", saveByTurns)
    }

    /// W23-both: two containers save one object after the other at the same time, into the same data source; in place of raw: as many
    /// saves of one container alone.
    func savingBoth() async throws -> Outcome {
        try await savingOfTwo("W23-both", options.saves / 5, .full, aim: "2.0", saveAtOnce)
    }

    private func savingOfTwo(
        _ id: String, _ count: Int, _ synchronous: SynchronousLevel, aim: String, _ save: @escaping SavingOfTwo
    ) async throws -> Outcome {
        let list = ContactList(0..<count)
        let values = list.values
        var samples: (both: [Sample], alone: [Sample]) = ([], [])
        for round in 0...options.rounds {
            for isAlone in [false, true] {
                let url = newFile()
                let ours = try await ContactStore(url, synchronous, sharing: .processes)
                let other = try await ContactStore(url, synchronous, sharing: .processes)
                let sources = isAlone ? [ours.source] : [ours.source, other.source]
                let latencies = Latencies()
                var sample = try await ours.measure { try await save(values, sources, latencies) }
                sample.latencies = latencies.all
                try verify(url, count: values.count, checksum: list.checksum)
                try await other.container.close()
                try await ours.container.close()
                remove(url)
                if round == 0 { continue }
                if isAlone { samples.alone.append(sample) } else { samples.both.append(sample) }
            }
        }
        return Outcome(id, n: values.count, aim: aim, ours: samples.both, raw: samples.alone)
    }
}

/// Saves values one by one, each with one of the sources.
typealias SavingOfTwo =
    @Sendable (_ values: [ContactValue], _ sources: [ContactSource], _ latencies: Latencies)
    async throws -> Void

/// The sources save by turns.
@Sendable func saveByTurns(_ values: [ContactValue], _ sources: [ContactSource], _ latencies: Latencies) async throws {
    for (index, value) in values.enumerated() {
        let start = raw_now()
        try await sources[index % sources.count].add(value)
        latencies.add(raw_now() - start)
    }
}

/// Each source saves a part of the values, all at the same time.
@Sendable func saveAtOnce(_ values: [ContactValue], _ sources: [ContactSource], _ latencies: Latencies) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, source) in sources.enumerated() {
            let own = stride(from: number, to: values.count, by: sources.count).map { values[$0] }
            group.addTask { try await saveByTurns(own, [source], latencies) }
        }
        try await group.waitForAll()
    }
}
