/// The steps that turn the old lines into the new lines: keep, drop and add.
struct EditScript {
    private enum Step: Equatable {
        case keep(Int)
        case drop(Int)
        case add(String)
    }

    private var steps: [Step] = []

    /// Adds a step from one of ``lines``. Returns false if the line is not a step.
    mutating func append(_ line: some StringProtocol) -> Bool {
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        switch (parts[0], Int(parts[1])) {
        case ("add", _): steps.append(.add(String(parts[1])))
        case ("keep", let count?) where count > 0: steps.append(.keep(count))
        case ("drop", let count?) where count > 0: steps.append(.drop(count))
        default: return false
        }
        return true
    }

    var lines: [String] {
        steps.map { step in
            switch step {
            case .keep(let count): "keep \(count)"
            case .drop(let count): "drop \(count)"
            case .add(let line): "add \(line)"
            }
        }
    }

    /// Returns the new lines for the old lines. Lines after the last step are kept. Returns nil if the steps keep or drop more
    /// lines than there are.
    func applied(to lines: [String]) -> [String]? {
        var result: [String] = []
        var position = 0
        for step in steps {
            switch step {
            case .keep(let count):
                guard count <= lines.count - position else { return nil }
                result += lines[position..<position + count]
                position += count
            case .drop(let count):
                guard count <= lines.count - position else { return nil }
                position += count
            case .add(let line): result.append(line)
            }
        }
        return result + lines[position...]
    }
}

extension EditScript {
    /// Compares old lines with new lines. A block is a line without indentation, followed by indented lines. The blocks must be
    /// sorted, and the lines in each block must be sorted.
    ///
    /// - Complexity: linear in the number of bytes.
    init(from old: [String], to new: [String]) {
        let (oldBlocks, newBlocks) = (EditScript.blocks(old), EditScript.blocks(new))
        var position = 0
        for match in EditScript.matches(oldBlocks.map { old[$0.lowerBound] }, newBlocks.map { new[$0.lowerBound] }) {
            guard let block = match.old else {
                for line in new[newBlocks[match.new]] { add(.add(line)) }
                continue
            }
            if position < block { add(.drop(oldBlocks[block].lowerBound - oldBlocks[position].lowerBound)) }
            position = block + 1
            compare(Array(old[oldBlocks[block]]), Array(new[newBlocks[match.new]]))
        }
        if position < oldBlocks.count { add(.drop(old.count - oldBlocks[position].lowerBound)) }
        if case .keep = steps.last { steps.removeLast() }
    }

    private mutating func compare(_ old: [String], _ new: [String]) {
        var position = 0
        for match in EditScript.matches(old, new) {
            guard let line = match.old else {
                add(.add(new[match.new]))
                continue
            }
            add(.drop(line - position))
            add(.keep(1))
            position = line + 1
        }
        add(.drop(old.count - position))
    }

    /// Adds a step. Two steps in a row that keep lines, or that drop lines, become one step.
    private mutating func add(_ step: Step) {
        switch (steps.last, step) {
        case (_, .keep(0)), (_, .drop(0)): break
        case (.keep(let before), .keep(let count)): steps[steps.count - 1] = .keep(before + count)
        case (.drop(let before), .drop(let count)): steps[steps.count - 1] = .drop(before + count)
        default: steps.append(step)
        }
    }

    private static func blocks(_ lines: [String]) -> [Range<Int>] {
        let starts = lines.indices.filter { $0 == 0 || !lines[$0].hasPrefix(" ") }
        return zip(starts, starts.dropFirst() + [lines.count]).map { $0..<$1 }
    }

    /// Returns each new line with the position of the equal old line, or with nil if there is none. The positions increase.
    private static func matches(_ old: [String], _ new: [String]) -> [(new: Int, old: Int?)] {
        // Lines are compared by bytes, because equal strings with different bytes have different hashes.
        let positions = Dictionary(old.enumerated().map { (Array($1.utf8), $0) }) { first, _ in first }
        var next = 0
        return new.enumerated().map { index, line in
            guard let position = positions[Array(line.utf8)], position >= next else { return (index, nil) }
            next = position + 1
            return (index, position)
        }
    }
}
