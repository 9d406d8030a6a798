import Foundation
import Testing

/// Time limits are there to end a test that waits forever. A test begins with the others, and may get a thread minutes later on a
/// busy machine.
struct TimeLimitTests {
    @Test func noTestIsCutOffOnABusyMachine() throws {
        let limit = #/\.timeLimit\(\.minutes\((\d+)\)\)/#
        let limits = try MeasuredFile.all(in: "Tests").flatMap { file in
            file.lines.flatMap { $0.matches(of: limit) }.map { (file.path, Int($0.output.1) ?? 0) }
        }
        #expect(!limits.isEmpty)
        for (path, minutes) in limits where minutes < 30 { Issue.record("\(path): \(minutes) minutes") }
    }
}
