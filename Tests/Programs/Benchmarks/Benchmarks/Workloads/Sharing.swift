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
                let ours = try await Ours(url, .normal, sharing: sharing)
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
        let list = ContactList(0..<100)
        let values = list.values
        var samples: (by: [Sample], alone: [Sample]) = ([], [])
        for round in 0...max(3, options.rounds / 2) {
            for isAlone in [false, true] {
                let url = newFile()
                let ours = try await Ours(url, .normal, sharing: .processes)
                let other = try await Ours(url, .normal, sharing: .processes)
                let latencies = Latencies()
                var sample = try await ours.measure {
                    for (index, value) in values.enumerated() {
                        let start = raw_now()
                        try await (isAlone || index % 2 == 0 ? ours : other).source.add(value)
                        latencies.add(raw_now() - start)
                    }
                }
                sample.latencies = latencies.all
                try verify(url, count: values.count, checksum: list.checksum)
                try await other.container.close()
                try await ours.container.close()
                remove(url)
                if round == 0 { continue }
                if isAlone { samples.alone.append(sample) } else { samples.by.append(sample) }
            }
        }
        return Outcome("W23", n: values.count, aim: "", ours: samples.by, raw: samples.alone)
    }

    /// W23-both: two containers save one object after the other at the same time, into the same data source; in place of raw: as many
    /// saves of one container alone.
    func savingBoth() async throws -> Outcome {
        let list = ContactList(0..<options.saves / 5)
        let values = list.values
        var samples: (both: [Sample], alone: [Sample]) = ([], [])
        for round in 0...max(3, options.rounds / 2) {
            for isAlone in [false, true] {
                let url = newFile()
                let ours = try await Ours(url, .full, sharing: .processes)
                let other = try await Ours(url, .full, sharing: .processes)
                let sources = isAlone ? [ours.source] : [ours.source, other.source]
                let latencies = Latencies()
                var sample = try await ours.measure { try await saveAtOnce(values, sources, latencies) }
                sample.latencies = latencies.all
                try verify(url, count: values.count, checksum: list.checksum)
                try await other.container.close()
                try await ours.container.close()
                remove(url)
                if round == 0 { continue }
                if isAlone { samples.alone.append(sample) } else { samples.both.append(sample) }
            }
        }
        return Outcome("W23-both", n: values.count, aim: "2.0", ours: samples.both, raw: samples.alone)
    }
}

/// Saves one value after the other. Each source saves a part of them, all at the same time.
func saveAtOnce(_ values: [ContactValue], _ sources: [ContactSource], _ latencies: Latencies) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, source) in sources.enumerated() {
            group.addTask {
                for index in stride(from: number, to: values.count, by: sources.count) {
                    let start = raw_now()
                    try await source.add(values[index])
                    latencies.add(raw_now() - start)
                }
            }
        }
        try await group.waitForAll()
    }
}
