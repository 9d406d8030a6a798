/// The positions at which the fetches under way began.
struct OpenReads {
    /// The numbers of the saves that were committed then, the lowest first, and how many fetches began at each.
    private var starts: [(number: Int64, count: Int)] = []

    /// Where the oldest of them began; nil if none is under way.
    var oldest: Int64? { starts.first?.number }

    /// - Parameter number: At least the number of the previous fetch.
    mutating func begin(at number: Int64) {
        if let last = starts.last, last.number == number {
            starts[starts.count - 1].count += 1
        } else {
            starts.append((number, 1))
        }
    }

    mutating func end(from number: Int64) {
        guard let place = starts.firstIndex(where: { $0.number == number }) else { return }
        starts[place].count -= 1
        if starts[place].count == 0 { starts.remove(at: place) }
    }
}
