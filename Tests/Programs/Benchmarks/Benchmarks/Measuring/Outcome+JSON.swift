internal import Foundation
internal import RawSQLite

/// The file that `--json` writes.
struct Report: Encodable {
    var machine: String
    var workloads: [Outcome]

    init(_ outcomes: [Outcome]) {
        machine = Report.describeMachine()
        workloads = outcomes
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

extension Outcome: Encodable {
    private enum Key: String, CodingKey {
        case id, entity, n, statements, ratio
        case ours = "ours_ms"
        case raw = "raw_ms"
        case half = "p50_us"
        case most = "p99_us"
        case rows = "rows_written"
        case log = "wal_bytes"
        case peak = "peak_rss_mb"
        case bytes = "bytes_per_object"
        case server = "server_cpu_ms"
        case roundTrips = "round_trips"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode("contact", forKey: .entity)
        try container.encode(n, forKey: .n)
        try container.encode(Double(oursNanoseconds) / 1e6, forKey: .ours)
        try container.encode(Double(rawNanoseconds) / 1e6, forKey: .raw)
        try container.encode(ratio, forKey: .ratio)
        let latencies = sample.latencies
        // Null where single operations cannot be measured.
        let half = latencies.isEmpty ? nil : Double(latencies.median) / 1e3
        let most = latencies.isEmpty ? nil : Double(latencies.quantile(0.99)) / 1e3
        try container.encode(half, forKey: .half)
        try container.encode(most, forKey: .most)
        try container.encode(sample.statements, forKey: .statements)
        try container.encode(sample.rowsWritten, forKey: .rows)
        try container.encode(sample.walBytes, forKey: .log)
        try container.encode(Double(sample.peakBytes) / 1_048_576, forKey: .peak)
        try container.encodeIfPresent(bytes?.ours, forKey: .bytes)
        try container.encodeIfPresent(sample.server.map { Double($0.nanoseconds) / 1e6 }, forKey: .server)
        try container.encodeIfPresent(sample.server?.roundTrips, forKey: .roundTrips)
    }
}
