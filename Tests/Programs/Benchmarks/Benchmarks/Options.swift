internal import Foundation

/// What the command line asks for.
struct Options: Sendable {
    /// Objects in the workloads of 100,000.
    var n = 100_000
    /// Rows in the workloads of 1,000,000.
    var million = 1_000_000
    var saves = 5000
    var savesPerTask = 100
    var rounds = 7
    var filter: [String] = []
    var json: String?
    /// The numbers of objects for which the cost of each is compared; none for a run with ``n``.
    var scale: [Int] = []
    var isQuick = false
    /// For the process of one workload: its name.
    var onlyWorkload: String?
    /// For the process that is killed in the middle: the store it leaves a long log in.
    var pathForLongLog: String?
    /// For the process whose saves another one follows: the shared store that it saves into.
    var followedStorePath: String?

    static let usage = """
        usage: benchmarks [--quick] [--filter W1,W3] [--n 100000 | --scale 1000,10000,100000,1000000] [--rounds 7] [--json FILE]
        """
    /// What is measured at each scale where nothing else is asked for.
    private static let scaledWorkloads = ["W1", "W2", "W5-registered", "W5-store", "W6-unread", "W6-read"]

    init?(_ arguments: [String]) {
        var arguments = arguments[...]
        var wanted: Int?
        while let argument = arguments.popFirst() {
            switch argument {
            case "--quick":
                (n, million, saves, savesPerTask, rounds) = (20_000, 100_000, 500, 10, 3)
                isQuick = true
            case "--filter":
                guard let names = arguments.popFirst() else { return nil }
                filter = names.split(separator: ",").map(String.init)
            case "--n":
                guard let number = arguments.popFirst().flatMap({ Int($0) }), number >= 1000 else { return nil }
                wanted = number
            case "--json":
                guard let file = arguments.popFirst() else { return nil }
                json = file
            case "--scale":
                scale = arguments.popFirst()?.split(separator: ",").compactMap { Int($0) } ?? []
                guard !scale.isEmpty, scale.allSatisfy({ $0 >= 1000 }) else { return nil }
            case "--alone":
                guard let name = arguments.popFirst() else { return nil }
                onlyWorkload = name
            case "--rounds":
                guard let number = arguments.popFirst().flatMap({ Int($0) }), number >= 1 else { return nil }
                rounds = number
            case "--make-log":
                guard let file = arguments.popFirst() else { return nil }
                pathForLongLog = file
            case "--save-into":
                guard let file = arguments.popFirst() else { return nil }
                followedStorePath = file
            default: return nil
            }
        }
        n = wanted ?? n
        if !scale.isEmpty && filter.isEmpty { filter = Options.scaledWorkloads }
    }

    /// One for each number of objects. Millions of them are measured three times.
    var runs: [Options] {
        if scale.isEmpty { return [self] }
        return scale.sorted().map { n in
            var options = self
            options.n = n
            if n >= 1_000_000 { options.rounds = min(3, rounds) }
            return options
        }
    }

    /// The arguments for the process of one workload, which writes what it came to into that file.
    func arguments(alone id: String, json: String) -> [String] {
        (isQuick ? ["--quick"] : []) + ["--alone", id, "--n", "\(n)", "--rounds", "\(rounds)", "--json", json]
    }

    /// Whether the workload is wanted: `W3` stands for W3-sync and all others of its kind.
    func includes(_ id: String) -> Bool {
        if !scale.isEmpty && filter == Options.scaledWorkloads { return filter.contains(id) }
        return filter.isEmpty || filter.contains { $0 == id || id.hasPrefix($0 + "-") }
    }
}
