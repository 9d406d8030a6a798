internal import Foundation

/// A process for one workload. What a workload leaves behind, above all how it has divided the memory, would change the times of the
/// next one, so that they would depend on what else was asked for.
enum WorkloadProcess {
    /// Runs a workload in a process of its own, which prints the lines of the table.
    static func run(_ workload: Workload, _ options: Options) async throws -> [Report.Line] {
        let file = FileManager.default.temporaryDirectory.appending(path: "benchmarks-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = options.arguments(alone: workload.id, json: file.path)
        try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in ended.resume() }
            do { try process.run() } catch { ended.resume(throwing: error) }
        }
        // It has said why.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
        return try Report(readFrom: file.path).workloads
    }

    /// The work of that process.
    static func runHere(_ id: String, _ options: Options) async throws {
        let bench = try await Bench(options)
        defer { bench.removeFolder() }
        var report = Report()
        for workload in Workload.all where workload.id == id {
            let million = workload.needsMillion ? try await bench.makeMillion() : bench.folder
            for outcome in try await workload.run(bench, million) {
                print(Table.line(outcome))
                report.workloads.append(Report.Line(outcome))
            }
        }
        if let file = options.json { try report.write(to: file) }
    }
}
