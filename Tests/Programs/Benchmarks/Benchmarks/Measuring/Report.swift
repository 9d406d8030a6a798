internal import Foundation
internal import RawSQLite

/// The file that `--json` writes.
struct Report: Codable {
    var machine = Report.describeMachine()
    var workloads: [Line] = []

    init() {}

    init(readFrom path: String) throws {
        self = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    static func describeMachine() -> String {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last ?? "unknown processor"
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return "\(model.trimmingCharacters(in: .whitespaces)), \(cores) cores, "
            + "\(ProcessInfo.processInfo.operatingSystemVersionString), SQLite \(String(cString: raw_version()))"
    }
}

extension Report {
    /// What a workload came to. Times are medians; what single operations took is nil where they cannot be measured.
    struct Line: Codable {
        var id: String
        var entity = "contact"
        var n: Int
        var ours: Double
        var raw: Double
        var ratio: Double
        var lowestRatio: Double?
        var highestRatio: Double?
        var p50: Double?
        var p99: Double?
        var longest: Double?
        var statements: Int
        var rows: Int
        var log: Int
        var peak: Double
        var bytes: Int?
        var wakeUps: Int?
        var server: Double?
        var roundTrips: Int?

        private enum CodingKeys: String, CodingKey {
            case id, entity, n, statements, ratio
            case ours = "ours_ms"
            case raw = "raw_ms"
            case lowestRatio = "lowest_ratio"
            case highestRatio = "highest_ratio"
            case p50 = "p50_us"
            case p99 = "p99_us"
            case longest = "longest_us"
            case rows = "rows_written"
            case log = "wal_bytes"
            case peak = "peak_rss_mb"
            case bytes = "bytes_per_object"
            case wakeUps = "wake_ups_per_minute"
            case server = "server_cpu_ms"
            case roundTrips = "round_trips"
        }
    }
}

extension Report.Line {
    init(_ outcome: Outcome) {
        let sample = outcome.sample
        let latencies = sample.latencies
        self.init(
            id: outcome.id, n: outcome.n, ours: Double(outcome.oursNanoseconds) / 1e6,
            raw: Double(outcome.rawNanoseconds) / 1e6, ratio: outcome.ratio,
            lowestRatio: outcome.ratios?.lowerBound, highestRatio: outcome.ratios?.upperBound,
            p50: latencies.isEmpty ? nil : Double(latencies.median) / 1e3,
            p99: latencies.isEmpty ? nil : Double(latencies.quantile(0.99)) / 1e3,
            longest: latencies.max().map { Double($0) / 1e3 },
            statements: sample.statements, rows: sample.rowsWritten, log: sample.walBytes,
            peak: Double(sample.peakBytes) / 1_048_576, bytes: outcome.bytes?.ours,
            wakeUps: outcome.wakeUps?.ours,
            server: sample.server.map { Double($0.nanoseconds) / 1e6 }, roundTrips: sample.server?.roundTrips)
    }
}
