internal import Foundation

/// The library beside the same work in plain SQLite C calls, both in one process, and each workload in another.
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
            if let path = options.pathForLongLog { return try await LogMaker.run(path) }
            if let path = options.followedStorePath { return try await FollowedProcess.run(path) }
            if let id = options.onlyWorkload { return try await WorkloadProcess.runHere(id, options) }
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
        fflush(nil)
        var report = Report()
        for run in options.runs {
            for workload in Workload.all where run.includes(workload.id) {
                report.workloads += try await WorkloadProcess.run(workload, run)
            }
        }
        if report.workloads.isEmpty {
            warn("No workload has such a name. There are: \(Workload.all.map(\.id).joined(separator: ", ")).")
        }
        if let file = options.json { try report.write(to: file) }
    }

    private static func end(_ message: String, code: Int32) {
        warn(message)
        exit(code)
    }

    private static func warn(_ message: String) {
        FileHandle.standardError.write(Data((message + "\n").utf8))
    }
}
