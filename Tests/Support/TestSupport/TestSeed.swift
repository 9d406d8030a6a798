import Foundation

/// The seed of random tests: `COREDATASOURCE_SEED` if it is set, so that a run can be repeated; otherwise a random number.
package func testSeed() -> UInt64 {
    ProcessInfo.processInfo.environment["COREDATASOURCE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 32)
}

/// Whether tests try all cases instead of some: with `COREDATASOURCE_THOROUGH`.
package let isThorough = ProcessInfo.processInfo.environment["COREDATASOURCE_THOROUGH"] != nil
