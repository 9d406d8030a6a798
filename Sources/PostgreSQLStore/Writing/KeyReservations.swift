#if PostgreSQL
/// The keys that a member has reserved, and those that it must not use, because a server that has lost its newest commits may
/// have given them again.
struct KeyReservations {
    /// In the order in which they were made.
    private var ranges: [Range<Int64>] = []
    private var lost: [Range<Int64>] = []

    /// Of older reservations it is enough to know that they were made.
    private static let rangeLimit = 256

    /// The end of the newest reservation; 0 if there is none.
    var bound: Int64 { ranges.last?.upperBound ?? 0 }

    mutating func add(_ range: Range<Int64>) {
        if range.isEmpty { return }
        ranges.append(range)
        if ranges.count > KeyReservations.rangeLimit { ranges.removeFirst() }
    }

    /// Where the reservations begin that the server does not know.
    ///
    /// - Parameter known: The end of the newest reservation that it knows; 0 for none.
    func start(after known: Int64) -> Int64? { ranges.first { $0.lowerBound >= known }?.lowerBound }

    /// Reservations that the server does not know may belong to others now.
    mutating func lose(after known: Int64) {
        lost += ranges.filter { $0.lowerBound >= known }
        if lost.count > KeyReservations.rangeLimit { lost.removeFirst(lost.count - KeyReservations.rangeLimit) }
    }

    func isLost(_ key: Int64) -> Bool { lost.contains { $0.contains(key) } }

    var hasLost: Bool { !lost.isEmpty }
}
#endif
