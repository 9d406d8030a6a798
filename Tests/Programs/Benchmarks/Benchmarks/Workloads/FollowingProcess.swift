internal import CoreDataSource
internal import Foundation
internal import RawSQLite
internal import TestSupport

extension Bench {
    /// W25-file: from the end of a save in one process to the report of a list in another, over one file that they share; in place
    /// of raw: the save itself. Neither process does anything else.
    func followingProcess() async throws -> Outcome {
        let url = newFile()
        let ours = try await ContactStore(url, .normal, sharing: .processes)
        try await ours.source.add(ContactList(0..<1000).values)
        let (reports, saves) = (Latencies(), Latencies())
        var sample = try await ours.measure { try await followProcess(ours, reports, saves) }
        try await ours.container.close()
        remove(url)
        (sample.nanoseconds, sample.latencies) = (reports.all.median, reports.all)
        return Outcome(
            "W25-file", n: saves.all.count, aim: "1 ms", ours: [sample],
            raw: [Sample(nanoseconds: saves.all.median)])
    }

    @MainActor
    private func followProcess(_ ours: ContactStore, _ reports: Latencies, _ saves: Latencies) async throws {
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--save-into", ours.url.path]
        (process.standardInput, process.standardOutput) = (input.fileHandleForReading, output)
        try process.run()
        let followed = Conversation(
            process, input: input.fileHandleForWriting, output: output.fileHandleForReading, separator: "\n")
        try expect(await followed.next() == "open", "the other process did not open the store")
        try await reportTimes(of: ours.source, reports, saves) { save in
            try followed.send("\(save)")
            return {
                let times = (await followed.next() ?? "").split(separator: " ").compactMap { UInt64($0) }
                guard times.count == 2 else { throw WrongResult("the other process has ended") }
                return (times[0], times[1])
            }
        }
        try expect(try await followed.end() == 0, "the other process failed")
    }

    /// Makes saves of one object one after the other, and notes how long each took, and how long after its end a list of another
    /// container has reported it.
    ///
    /// - Parameter begin: Begins the save of that number, and returns a function that waits for it.
    @MainActor
    func reportTimes(
        of other: ContactSource, _ reports: Latencies, _ saves: Latencies,
        begin: @MainActor (Int) throws -> (@MainActor () async throws -> (start: UInt64, end: UInt64))
    ) async throws {
        let request = ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)])
        var updates = other.updates(request).makeAsyncIterator()
        _ = await updates.next()
        for save in 0..<200 {
            let finish = try begin(save)
            guard await updates.next() != nil else { throw WrongResult("the list has ended") }
            let shown = raw_now()
            let (start, end) = try await finish()
            saves.add(end - start)
            // The first ones prepare their statements.
            if save >= 20 { reports.add(shown > end ? shown - end : 0) }
        }
    }
}

/// The process whose saves another one follows. For each number on its standard input it saves one object, and prints when it
/// began and when that was done.
enum FollowedProcess {
    @concurrent
    static func run(_ path: String) async throws {
        let ours = try await ContactStore(URL(fileURLWithPath: path), .normal, sharing: .processes)
        say("open")
        while let number = readLine().flatMap({ Int($0) }) {
            let start = raw_now()
            try await ours.source.add(ContactValue(moved: number))
            say("\(start) \(raw_now())")
        }
        try await ours.container.close()
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}

extension ContactValue {
    /// The contact of that number with another name, so that it moves in a list.
    init(moved number: Int) {
        self.init(number)
        name = "Contact name \(number * 104_729)"
    }
}
