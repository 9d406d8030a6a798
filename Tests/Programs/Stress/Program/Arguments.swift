import Foundation

/// How much of a suite is run.
enum Size: String {
    /// For CI: at most about a minute each.
    case small
    /// For runs by hand.
    case full

    func choose<Value>(_ small: Value, _ full: Value) -> Value { self == .small ? small : full }
}

/// What the program was asked for.
struct Arguments {
    var suites: [Suite] = []
    var size = Size.small
    var seed = UInt64.random(in: 0..<1 << 32)
    /// How many schedules, or rounds of commits and checkpoints, are run in place of those of the size; one, to have a schedule
    /// again.
    var count: Int?
    /// Whether this process runs the one suite itself; otherwise it starts one process for each.
    var isInside = false
    /// The arguments of a suite's child.
    var child: [String] = []

    static let usage = """
        usage: stress SUITE... [--size small|full] [--seed N] [--count N]
        SUITE is all, or one of: \(Suite.allCases.map(\.rawValue).joined(separator: ", "))
        --count is how many schedules are run; with processes, only so many rounds of commits and checkpoints are; others take no
        notice of it
        """

    /// Nil if they are not understood.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        if rest.first == "--child" {
            child = Array(rest.dropFirst())
            return
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--size":
                guard let size = rest.popFirst().flatMap(Size.init) else { return nil }
                self.size = size
            case "--seed":
                guard let seed = rest.popFirst().flatMap({ UInt64($0) }) else { return nil }
                self.seed = seed
            case "--count":
                guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else { return nil }
                self.count = count
            case "--inside": isInside = true
            case "all": suites = Suite.allCases
            default:
                guard let suite = Suite(rawValue: argument) else { return nil }
                suites.append(suite)
            }
        }
        if suites.isEmpty || isInside && suites.count > 1 { return nil }
    }
}
