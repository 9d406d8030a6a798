/// The age of versions.
extension ModelBundle {
    /// The versions that came before one, oldest first.
    ///
    /// Only versions that Xcode's way of naming puts in order: the same name with a number at its end, as in `Model`, `Model 2` and
    /// `Model 3`, or `1.9` and `1.10`. The one without a number is the first. Nothing else in a bundle says how old a version is.
    public func versions(before version: String) -> [String] {
        let own = NumberedName(version)
        return versions.map(NumberedName.init).filter { $0.stem == own.stem && $0.precedes(own) }
            .sorted { $0.precedes($1) }.map(\.name)
    }
}

/// A name that ends with a number.
private struct NumberedName {
    let name: String
    /// What comes before the number and what separates them.
    let stem: String
    /// The parts of the number between its points.
    let numbers: [Int]

    init(_ name: String) {
        self.name = name
        var start = name.unicodeScalars.endIndex
        let scalars = name.unicodeScalars
        while start > scalars.startIndex {
            let before = scalars.index(before: start)
            guard ("0"..."9").contains(scalars[before]) || scalars[before] == "." else { break }
            start = before
        }
        let parts = String(scalars[start...]).split(separator: ".", omittingEmptySubsequences: true)
        let numbers = parts.compactMap { Int($0) }
        // Digits that no number holds are part of the name.
        guard numbers.count == parts.count else {
            (stem, self.numbers) = (name, [])
            return
        }
        self.numbers = numbers
        var stem = String(scalars[..<start])
        while let last = stem.last, " _-".contains(last) { stem.removeLast() }
        self.stem = stem
    }

    func precedes(_ other: NumberedName) -> Bool { numbers.lexicographicallyPrecedes(other.numbers) }
}
