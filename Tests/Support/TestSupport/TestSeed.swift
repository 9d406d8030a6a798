import Foundation

/// Where random tests begin: at `COREDATASOURCE_SEED` if it is set, so that a run can be had again; elsewhere each time.
package func testSeed() -> UInt64 {
    ProcessInfo.processInfo.environment["COREDATASOURCE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 32)
}

/// Whether tests that else try some of many cases are to try all of them: with `COREDATASOURCE_THOROUGH`.
package let isThorough = ProcessInfo.processInfo.environment["COREDATASOURCE_THOROUGH"] != nil
