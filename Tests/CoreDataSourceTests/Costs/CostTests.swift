import Foundation
import TestSupport
import Testing

/// What operations cost, counted and not timed: the same on every machine.
///
/// The expected counts are in `Tests/Fixtures/Costs/costs.tsv`. A change that costs more has to change that file too, and so
/// says so: `RECORD_COSTS=1 Scripts/test --filter CostTests` writes it again.
struct CostTests {
    @Test func noOperationCostsMoreThanIsWrittenDown() async throws {
        let found = try await measuredCosts()
        let file = PackageFiles.tests.appending(path: "Fixtures/Costs/costs.tsv")
        if ProcessInfo.processInfo.environment["RECORD_COSTS"] != nil {
            try CostTable.text(found).write(to: file, atomically: true, encoding: .utf8)
        }
        let expected = try CostTable.read(String(contentsOf: file, encoding: .utf8))
        #expect(found.map(\.name) == expected.map(\.name))
        for (found, expected) in zip(found, expected) {
            for (kind, (count, allowed)) in zip(Cost.kinds, zip(found.counts, expected.counts)) {
                // Pages are written whole, and a few bytes more can need one more.
                let tolerance = kind == Cost.logBytes ? 4120 : 0
                #expect(
                    abs(count - allowed) <= tolerance,
                    "\(found.name): \(count) \(kind), and \(allowed) are expected. If that is meant, run RECORD_COSTS=1 Scripts/test --filter CostTests."
                )
            }
        }
    }
}

/// The counts of one operation, in the order of ``kinds``.
struct Cost: Sendable {
    static let logBytes = "bytes of the log"
    static let kinds = ["statements", "rows read", "rows written", logBytes, "syncs"]

    let name: String
    let counts: [Int]
}

/// The file: a line of names, then a line for each operation.
enum CostTable {
    static func text(_ costs: [Cost]) -> String {
        let lines = costs.map { ([$0.name] + $0.counts.map(String.init)).joined(separator: "\t") }
        return ([(["operation"] + Cost.kinds).joined(separator: "\t")] + lines).joined(separator: "\n") + "\n"
    }

    static func read(_ text: String) throws -> [Cost] {
        try text.split(separator: "\n").dropFirst().map { line in
            let fields = line.split(separator: "\t")
            let counts = fields.dropFirst().compactMap { Int($0) }
            try #require(counts.count == Cost.kinds.count, "\(line)")
            return Cost(name: String(fields[0]), counts: counts)
        }
    }
}
