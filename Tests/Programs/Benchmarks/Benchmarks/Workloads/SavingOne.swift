internal import CoreDataSource
internal import Foundation
internal import RawSQLite

/// How one object is saved.
enum SaveKind {
    /// `performAndWait`, NORMAL.
    case blocking
    /// `await add`, NORMAL.
    case awaited
    /// `await add`, FULL.
    case durable
}

extension Bench {
    /// W3: saves of one object each, one after the other; raw: a transaction with one insert each.
    func savingOne(_ kind: SaveKind) async throws -> Outcome {
        let list = ContactList(0..<options.saves)
        let (values, raw, sum) = (list.values, list.raw, list.checksum)
        let results = try await compare {
            let url = newFile()
            let ours = try await ContactStore(url, kind == .durable ? .full : .normal)
            let sample = try await kind == .blocking ? saveBlocking(values, ours) : saveAwaited(values, ours)
            try verify(url, count: values.count, checksum: sum)
            try await ours.container.close()
            remove(url)
            return sample
        } raw: {
            let url = newFile()
            let store = raw_create(url.path, schema, kind == .durable ? 1 : 0)
            let sample = measureRaw { for index in values.indices { raw_insert(store, raw, index, index + 1) } }
            try verify(url, count: values.count, checksum: sum)
            raw_close(store)
            remove(url)
            return sample
        }
        let (id, aim) =
            switch kind {
            case .blocking: ("W3-sync", "1.2")
            case .awaited: ("W3-async", "1.6")
            case .durable: ("W3-full", "1.0")
            }
        return Outcome(id, n: values.count, aim: aim, ours: results.ours, raw: results.raw)
    }

    @concurrent
    private func saveBlocking(_ values: [ContactValue], _ ours: ContactStore) async throws -> Sample {
        let latencies = Latencies()
        var sample = try await ours.measure {
            for value in values {
                try latencies.add(
                    time {
                        try ours.source.performAndWait { context in _ = try ours.source.onAdd(value, in: context) }
                    })
            }
        }
        sample.latencies = latencies.all
        return sample
    }

    @concurrent
    private func saveAwaited(_ values: [ContactValue], _ ours: ContactStore) async throws -> Sample {
        let latencies = Latencies()
        var sample = try await ours.measure {
            for value in values {
                let start = raw_now()
                try await ours.source.add(value)
                latencies.add(raw_now() - start)
            }
        }
        sample.latencies = latencies.all
        return sample
    }
}
