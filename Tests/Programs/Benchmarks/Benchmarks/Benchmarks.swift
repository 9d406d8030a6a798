internal import Foundation

/// The library beside the same work in plain SQLite C calls, in one process.
///
/// ```
/// Scripts/benchmark --filter W1,W3 --json report.json
/// ```
@main
enum Benchmarks {
    static func main() async {
        guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
            return end(Options.usage, code: 64)
        }
        do {
            if let path = options.logToMake { return try await LogMaker.run(path) }
            if let path = options.storeToSaveInto { return try await FollowedProcess.run(path) }
            try await run(options)
        } catch {
            end("\(error)", code: 1)
        }
    }

    private static func run(_ options: Options) async throws {
        #if DEBUG
        warn("This is a debug build: its ratios mean nothing. Use Scripts/benchmark.")
        #endif
        print(Report.describeMachine())
        print(Table.header)
        var outcomes: [Outcome] = []
        for run in options.runs { outcomes += try await outcomesOf(run) }
        if outcomes.isEmpty {
            warn("No workload has such a name. There are: \(Workload.all.map(\.id).joined(separator: ", ")).")
        }
        if let file = options.json { try Report(outcomes).write(to: file) }
        if let file = options.plot { try Plot(outcomes).write(to: file) }
    }

    private static func outcomesOf(_ options: Options) async throws -> [Outcome] {
        let bench = try await Bench(options)
        defer { bench.removeFolder() }
        var outcomes: [Outcome] = []
        var million: URL?
        for workload in Workload.all where options.includes(workload.id) {
            if workload.needsMillion && million == nil { million = try await bench.makeMillion() }
            for outcome in try await workload.run(bench, million ?? bench.folder) {
                print(Table.line(outcome))
                outcomes.append(outcome)
            }
        }
        return outcomes
    }

    private static func end(_ message: String, code: Int32) {
        warn(message)
        exit(code)
    }

    private static func warn(_ message: String) {
        FileHandle.standardError.write(Data((message + "\n").utf8))
    }
}
