/// The steps that turn the lines of a first string into the lines of a second string: keep, drop and add, in order.
struct LineScript {
    private enum Step: Equatable {
        case keep(Int)
        case drop(Int)
        case add(String)
    }

    private var steps: [Step] = []

    /// Reads a line of ``lines`` back; false if the line is not a step.
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

    /// The lines of the second string; nil if the script keeps or drops more lines than there are. Lines after the last step
    /// are kept.
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

extension LineScript {
    /// Compares the lines of two strings. A block is a line without indentation, with the indented lines below it. Blocks are
    /// sorted, and so are the lines within each block.
    ///
    /// - Complexity: linear in the length of the strings.
    init(from old: [String], to new: [String]) {
        let (oldBlocks, newBlocks) = (LineScript.blocks(old), LineScript.blocks(new))
        var position = 0
        for match in LineScript.matches(oldBlocks.map { old[$0.lowerBound] }, newBlocks.map { new[$0.lowerBound] }) {
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
        for match in LineScript.matches(old, new) {
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

    /// Joins the step with the last step if both keep or both drop lines.
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

    /// The position of the equal old line for each new line; nil if there is none. The positions increase.
    private static func matches(_ old: [String], _ new: [String]) -> [(new: Int, old: Int?)] {
        // Lines are compared by bytes: equal strings can have different bytes, and so different hashes.
        let positions = Dictionary(old.enumerated().map { (Array($1.utf8), $0) }) { first, _ in first }
        var next = 0
        return new.enumerated().map { index, line in
            guard let position = positions[Array(line.utf8)], position >= next else { return (index, nil) }
            next = position + 1
            return (index, position)
        }
    }
}
