internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W5-registered: objects found by their unique key in a private context that has them; raw: a SELECT by that key.
    func findingRegistered() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let (url, rawURL) = (newFile(), newFile())
        let ours = try await ContactStore(url, .full, registeredObjectByteLimit: max(64 << 20, options.n * 1024))
        try await ours.source.add(list.values)
        let reader = fill(rawURL, list)
        let wanted = Wanted(list.values.shuffledDeterministically[...])
        let results = try await compare {
            var sample = try await find(wanted, ours)
            try expect(sample.statements == 0, "\(sample.statements) statements ran for registered objects")
            sample.latencies = try await findTimed(wanted.uids.prefix(2000), ours)
            return sample
        } raw: {
            try findRaw(wanted, reader)
        }
        raw_close(reader)
        try await ours.container.close()
        remove(url)
        remove(rawURL)
        return Outcome("W5-registered", n: wanted.uids.count, aim: "0.06", ours: results.ours, raw: results.raw)
    }

    /// W5-store: the same with a context that has registered nothing and may keep nothing, each contact once, so that
    /// every look-up reads the store; as in the hook of an import into a large store. Both sides read in one transaction.
    func findingInStore() async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let (url, rawURL) = (newFile(), newFile())
        let filled = try await ContactStore(url, .full)
        try await filled.source.add(list.values)
        try await filled.container.close()
        let reader = fill(rawURL, list)
        let wanted = Wanted(list.values.shuffledDeterministically.prefix(options.n / 5))
        let ours = try await ContactStore(url, .full, registeredObjectByteLimit: 0)
        let results = try await compare {
            var sample = try await find(wanted, ours)
            try expect(sample.statements >= wanted.uids.count, "only \(sample.statements) statements ran")
            sample.latencies = try await findTimed(wanted.uids.prefix(2000), ours)
            return sample
        } raw: {
            try findRaw(wanted, reader, isOneTransaction: true)
        }
        raw_close(reader)
        try await ours.container.close()
        remove(url)
        remove(rawURL)
        return Outcome("W5-store", n: wanted.uids.count, aim: "1.05", ours: results.ours, raw: results.raw)
    }

    /// A raw store with the list, open for reading.
    private func fill(_ url: URL, _ list: borrowing ContactList) -> OpaquePointer? {
        let store = raw_create(url.path, schema, 1)
        raw_insert(store, list.raw, 0, list.values.count)
        raw_close(store)
        return raw_open_reader(url.path)
    }

    private func find(_ wanted: Wanted, _ ours: ContactStore) async throws -> Sample {
        try await ours.measure {
            let sum = try await ours.source.perform { context in
                var sum: Int64 = 0
                for uid in wanted.uids {
                    let contact = try context.first(ContactEntity.self, where: \.uid, equals: uid)
                    sum += Int64(contact?.age ?? -1)
                }
                return sum
            }
            try expect(sum == wanted.sum, "the ages found add up to \(sum) instead of \(wanted.sum)")
        }
    }

    /// The time of each look-up, in a run of its own: looking at the clock takes a part of it.
    private func findTimed(_ uids: ArraySlice<String>, _ ours: ContactStore) async throws -> [UInt64] {
        try await ours.source.perform { context in
            try uids.map { uid in
                try time { _ = try context.first(ContactEntity.self, where: \.uid, equals: uid) }
            }
        }
    }

    private func findRaw(_ wanted: Wanted, _ reader: OpaquePointer?, isOneTransaction: Bool = false) throws -> Sample {
        var sum: Int64 = 0
        let sample = measureRaw {
            if isOneTransaction { raw_run(reader, "BEGIN") }
            for uid in wanted.uids { sum += Int64(raw_find(reader, uid, Int32(uid.utf8.count))) }
            if isOneTransaction { raw_run(reader, "COMMIT") }
        }
        try expect(sum == wanted.sum, "the ages that raw found add up to \(sum) instead of \(wanted.sum)")
        return sample
    }
}

/// What is looked for, and the sum of the ages that are found.
private struct Wanted {
    let uids: [String]
    let sum: Int64

    init(_ values: ArraySlice<ContactValue>) {
        uids = values.map(\.uid)
        sum = values.reduce(0) { $0 + Int64($1.age) }
    }
}

extension [ContactValue] {
    /// In an order that looks random and is the same every time.
    fileprivate var shuffledDeterministically: [ContactValue] {
        var state: UInt64 = 0x2545_F491_4F6C_DD1D
        var shuffled = self
        for index in stride(from: count - 1, to: 0, by: -1) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            shuffled.swapAt(index, Int(state >> 33) % (index + 1))
        }
        return shuffled
    }
}
