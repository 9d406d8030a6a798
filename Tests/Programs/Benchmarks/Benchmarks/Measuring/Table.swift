internal import Foundation

/// The table on standard output, a line as soon as it is known.
enum Table {
    static let header =
        cell("id", 15, isNumber: false) + cell("n", 9) + cell("ours ms", 12) + cell("raw ms", 12) + cell("ratio", 8)
        + cell("lowest", 8) + cell("highest", 8) + cell("aim", 11) + cell("p50 us", 10) + cell("p99 us", 10)
        + cell("max us", 10) + cell("rss MB", 8)

    static func line(_ outcome: Outcome) -> String {
        let latencies = outcome.sample.latencies
        let counts =
            outcome.bytes.map { ("\($0.ours) B", "\($0.raw) B") }
            ?? outcome.wakeUps.map { ("\($0.ours)/min", "\($0.raw)/min") }
        let ours = counts?.0 ?? number(Double(outcome.oursNanoseconds) / 1e6, 3)
        let raw = counts?.1 ?? number(Double(outcome.rawNanoseconds) / 1e6, 3)
        return cell(outcome.id, 15, isNumber: false) + cell("\(outcome.n)", 9) + cell(ours, 12) + cell(raw, 12)
            + cell(number(outcome.ratio, 2), 8) + cell(outcome.ratios.map { number($0.lowerBound, 2) } ?? "", 8)
            + cell(outcome.ratios.map { number($0.upperBound, 2) } ?? "", 8) + cell(outcome.aim, 11)
            + cell(latencies.isEmpty ? "" : number(Double(latencies.median) / 1e3, 2), 10)
            + cell(latencies.isEmpty ? "" : number(Double(latencies.quantile(0.99)) / 1e3, 2), 10)
            + cell(latencies.max().map { number(Double($0) / 1e3, 2) } ?? "", 10)
            + cell(number(Double(outcome.sample.peakBytes) / 1_048_576, 0), 8)
    }

    private static func cell(_ text: String, _ width: Int, isNumber: Bool = true) -> String {
        let padding = String(repeating: " ", count: max(0, width - text.count))
        return isNumber ? padding + text : text + padding
    }

    private static func number(_ value: Double, _ digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}
