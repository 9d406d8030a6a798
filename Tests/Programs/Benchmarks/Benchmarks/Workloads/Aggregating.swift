internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// W17: a count, a sum, an average and two extremes of all contacts, fetched on main; raw: one SELECT.
    func aggregating() async throws -> Outcome {
        let n = options.n
        let sql = "SELECT count(*), total(score), avg(age), min(birthday), max(name) FROM ContactEntity"
        return try await aggregating("W17", "SELECT CAST(\"total(score)\" AS INTEGER) FROM (\(sql))") { ours in
            let (count, sum, age, first, last) = try ours.source.main.aggregate(
                ObjectRequest<ContactEntity>(), .count(), .sum(\.score), .average(\.age), .min(\.birthday), .max(\.name)
            )
            guard count == Int64(n), age != nil, first != nil, last != nil else {
                throw WrongResult("\(count) contacts, of \(age ?? 0) years")
            }
            return Int(sum)
        }
    }

    /// W17-groups: a count and an average for each of 90 ages; raw: one SELECT with GROUP BY.
    func aggregatingGroups() async throws -> Outcome {
        let sql = "SELECT age, count(*) AS count, avg(score) AS average FROM ContactEntity GROUP BY age"
        let sum = "SELECT CAST(sum(count * average) AS INTEGER) FROM (\(sql))"
        return try await aggregating("W17-groups", sum) { ours in
            let groups = try ours.source.main.aggregate(
                ObjectRequest<ContactEntity>(), groupBy: \.age, .count(), .average(\.score))
            return Int(groups.reduce(0) { $0 + Double($1.values.0) * ($1.values.1 ?? 0) }.rounded())
        }
    }

    private func aggregating(
        _ id: String, _ sql: String, _ aggregate: @MainActor (ContactStore) throws -> Int
    ) async throws -> Outcome {
        let list = ContactList(0..<options.n)
        let url = newFile()
        let ours = try await ContactStore(url, .normal, registeredObjectByteLimit: 0)
        try await ours.source.add(list.values)
        let reader = raw_open_reader(url.path)
        defer { raw_close(reader) }
        var (result, rawResult) = (0, 0)
        let results = try await compare {
            let (sample, sum) = try await measure(aggregate, ours)
            result = sum
            return sample
        } raw: {
            measureRaw { rawResult = Int(raw_value(reader, sql)) }
        }
        try expect(abs(result - rawResult) <= 1, "the result is \(result), and in raw \(rawResult)")
        try await ours.container.close()
        remove(url)
        return Outcome(id, n: options.n, aim: id == "W17" ? "1.0" : "0.9", ours: results.ours, raw: results.raw)
    }

    @MainActor
    private func measure(
        _ aggregate: @MainActor (ContactStore) throws -> Int, _ ours: ContactStore
    ) throws -> (Sample, Int) {
        var result = 0
        let sample = try ours.measureOnMain { result = try aggregate(ours) }
        return (sample, result)
    }
}
