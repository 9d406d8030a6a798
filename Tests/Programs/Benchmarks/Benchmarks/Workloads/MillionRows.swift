internal import CoreDataSource
internal import Foundation
internal import RawSQLite

extension Bench {
    /// A closed store of ours with a million contacts, to be opened or copied.
    func makeMillion() async throws -> URL {
        let url = newFile()
        let ours = try await ContactStore(url, .normal)
        for start in stride(from: 0, to: options.million, by: 10_000) {
            try await ours.source.add((start..<start + 10_000).map { ContactValue($0) })
        }
        try await ours.container.close()
        return url
    }

    /// A copy of files that nobody has open, and that the disk has.
    func copy(_ url: URL, withLog: Bool = false) throws -> URL {
        let copy = newFile()
        for ending in withLog ? ["", "-wal"] : [""] {
            try FileManager.default.copyItem(atPath: url.path + ending, toPath: copy.path + ending)
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: copy.path + ending))
            try file.synchronize()
            try file.close()
        }
        return copy
    }

    /// W12: the start with a million rows, files in the cache of the system; raw: opening and reading one row of metadata.
    func starting(_ million: URL) async throws -> Outcome {
        let starts = 20
        let results = try await compare {
            var times: [UInt64] = []
            for _ in 0..<starts { times.append(try await start(million)) }
            return Sample(nanoseconds: times.median, latencies: times)
        } raw: {
            Sample(nanoseconds: try (0..<starts).map { _ in try startRaw(million) }.median)
        }
        return Outcome("W12", n: options.million, aim: "5 ms", ours: results.ours, raw: results.raw)
    }

    /// W12-killed: the start after a process was killed with a long log, which has to be read first.
    func startingAfterKill() async throws -> Outcome {
        let killed = newFile()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--make-log", killed.path]
        try process.run()
        process.waitUntilExit()
        try expect(process.terminationReason == .uncaughtSignal, "the process that should be killed ended by itself")
        let results = try await compare {
            let url = try copy(killed, withLog: true)
            let sample = Sample(nanoseconds: try await start(url))
            try verify(url, count: LogMaker.count, checksum: ContactList(0..<LogMaker.count).checksum)
            remove(url)
            return sample
        } raw: {
            let url = try copy(killed, withLog: true)
            let sample = Sample(nanoseconds: try startRaw(url))
            remove(url)
            return sample
        }
        remove(killed)
        return Outcome("W12-killed", n: LogMaker.count, aim: "500 ms", ours: results.ours, raw: results.raw)
    }

    /// W14: the reset of a million rows by another database key; raw: removing the files and making the schema.
    func resetting(_ million: URL) async throws -> Outcome {
        let results = try await compare {
            let url = try copy(million)
            let start = raw_now()
            let container = try await PersistentContainer(model: .contacts, store: .sqlite(url), databaseKey: "2")
            let sample = Sample(nanoseconds: raw_now() - start)
            try expect(
                container.startup.reason == .databaseKeyChanged && container.startup.rowsDropped == options.million,
                "the start was \(container.startup)")
            try verify(url, count: 0, checksum: 0)
            try await container.close()
            remove(url)
            return sample
        } raw: {
            let url = try copy(million)
            let start = raw_now()
            raw_remove(url.path, folder.path)
            let store = raw_create(url.path, schema, 1)
            let sample = Sample(nanoseconds: raw_now() - start)
            raw_close(store)
            remove(url)
            return sample
        }
        return Outcome("W14", n: options.million, aim: "1.0", ours: results.ours, raw: results.raw)
    }

    private func start(_ url: URL) async throws -> UInt64 {
        let start = raw_now()
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(url))
        let end = raw_now()
        try expect(container.startup.reason == .current, "the start was \(container.startup)")
        try await container.close()
        return end - start
    }

    private func startRaw(_ url: URL) throws -> UInt64 {
        let start = raw_now()
        let store = raw_open(url.path, 1)
        let isFound = raw_read_metadata(store)
        let end = raw_now()
        raw_close(store)
        try expect(isFound == 1, "raw found no metadata")
        return end - start
    }
}

/// The process that dies with a long log.
enum LogMaker {
    static let count = 100_000

    static func run(_ path: String) async throws {
        let ours = try await ContactStore(URL(fileURLWithPath: path), .full)
        for start in stride(from: 0, to: count, by: 5000) {
            try await ours.source.add((start..<start + 5000).map { ContactValue($0) })
        }
        kill(getpid(), SIGKILL)
    }
}
