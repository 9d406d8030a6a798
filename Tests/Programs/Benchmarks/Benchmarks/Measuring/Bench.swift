internal import CoreDataSource
internal import Foundation
internal import RawSQLite

/// Where and how everything is measured.
///
/// What makes the ratios fair: each workload has a process of its own, in which both sides run by turns, the first of them changing
/// every round; each on a fresh file of one schema, with one SQLite, the same pragmas and the same durability. The raw side
/// keeps its statements and binds without copying. Ours gives objects with identity, validation, uniqueness checks and change
/// reports; raw gives structs. A round before the first warms up and is not counted; the result is the median.
/// What either side left is read back by SQL and compared with the data, outside the measured time.
struct Bench: Sendable {
    let options: Options
    let folder: URL
    /// The statements that make a store as the library makes it.
    let schema: String

    init(_ options: Options) async throws {
        self.options = options
        folder = FileManager.default.temporaryDirectory.appending(path: "benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appending(path: "schema.sqlite")
        try await PersistentContainer(model: .contacts, store: .sqlite(url)).close()
        let statements = raw_schema(url.path)
        defer { free(statements) }
        schema = statements.map { String(cString: $0) } ?? ""
    }

    func removeFolder() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// A file that is not there yet.
    func newFile() -> URL {
        folder.appending(path: "\(UUID().uuidString).sqlite")
    }

    func remove(_ url: URL) {
        raw_remove(url.path, folder.path)
        for name in [".lock", ".gate", ".write", ".bell"] {
            try? FileManager.default.removeItem(atPath: url.path + name)
        }
    }

    /// Runs both sides by turns.
    func compare(
        rounds: Int? = nil, ours: () async throws -> Sample, raw: () throws -> Sample
    ) async throws -> (ours: [Sample], raw: [Sample]) {
        var results: (ours: [Sample], raw: [Sample]) = ([], [])
        for round in 0...(rounds ?? options.rounds) {
            for isOurs in [round % 2 == 0, round % 2 != 0] {
                if !isOurs {
                    let sample = try raw()
                    if round > 0 { results.raw.append(sample) }
                    continue
                }
                raw_reset_peak()
                var sample = try await ours()
                sample.peakBytes = raw_peak()
                if round > 0 { results.ours.append(sample) }
            }
        }
        return results
    }

    /// Runs both sides by turns, the raw one with work of its own before.
    func interleaved(
        ours: () async throws -> Sample, raw: () async throws -> Sample
    ) async throws -> (ours: [Sample], raw: [Sample]) {
        var results: (ours: [Sample], raw: [Sample]) = ([], [])
        for round in 0...options.rounds {
            for isOurs in [round % 2 == 0, round % 2 != 0] {
                let sample = try await isOurs ? ours() : raw()
                if round == 0 { continue }
                if isOurs { results.ours.append(sample) } else { results.raw.append(sample) }
            }
        }
        return results
    }

    /// Stops unless the store has just those rows. The file may be open.
    func verify(_ url: URL, count: Int, checksum: Int64) throws {
        let reader = raw_open_reader(url.path)
        defer { raw_close(reader) }
        let found = raw_value(reader, "SELECT count(*) FROM ContactEntity")
        guard found == count else { throw WrongResult("\(found) rows instead of \(count)") }
        let sum = raw_value(reader, ContactValue.checksumSQL)
        guard sum == checksum else { throw WrongResult("the rows' sum is \(sum) instead of \(checksum)") }
    }
}

/// A side that did something else than it should have: its time is invalid.
struct WrongResult: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = "The benchmark found a wrong result: " + description + "."
    }
}

/// Stops unless the claim holds.
func expect(_ claim: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !claim { throw WrongResult(otherwise()) }
}
