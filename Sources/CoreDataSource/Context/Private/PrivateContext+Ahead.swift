internal import RowStore

/// What a context knows of the rows that are written while its batch still runs.
///
/// A large save would otherwise use one core for its hooks, and then one for SQLite. It is tried only while no other data source
/// saves: everybody else takes precedence.
struct BatchAhead {
    /// How many rows are handed over at once.
    static let partSize = 256
    /// The fewest inserted objects of an entity for which it is tried.
    static let threshold = 1024
    /// How many large batches go by without a try, where one was in vain.
    private static let pause = 16

    /// The newest save when the batch began; nil if nothing is written ahead of this batch.
    private var newestSave: Int64?
    /// That of the batch; between two batches that of the last one that had one.
    private var headStart: HeadStart?
    private var isInBatch = false
    /// How many large batches are still to go by.
    private var batchesToSkip = 0

    /// A batch begins.
    ///
    /// - Parameter newestSave: The newest save of all; nil to write nothing ahead.
    mutating func begin(newestSave: Int64?) {
        self.newestSave = newestSave
        isInBatch = true
        if let last = headStart, last.wasInVain { batchesToSkip = BatchAhead.pause }
        headStart = nil
    }

    /// The head start of the batch, which begins now if it has not yet; nil if there is none.
    mutating func take(in root: RootContext) -> HeadStart? {
        if let headStart { return headStart.isOver ? nil : headStart }
        guard let before = newestSave else { return nil }
        // It is tried once.
        newestSave = nil
        if batchesToSkip > 0 {
            batchesToSkip -= 1
        } else if root.newestSave == before {
            headStart = HeadStart()
        }
        return headStart
    }

    /// The head start of the running batch, if it has one; the save is made with it.
    var taken: HeadStart? { isInBatch ? headStart : nil }

    /// The batch has ended.
    mutating func end() {
        newestSave = nil
        isInBatch = false
    }
}

extension PrivateContext {
    /// The batch may insert so many objects.
    func expectInserts(_ count: Int) {
        // Keys are reserved in a transaction of their own, which would end a head start.
        if count >= BatchAhead.threshold { stack.keys.reserve(for: count) }
    }

    /// Hands the objects that the batch has inserted to the store, but for the last one, which has no values yet.
    func writeAhead(_ binding: EntityBinding) {
        // What is derived is known at the save only.
        guard binding.inserted.count >= BatchAhead.threshold, binding.isOwned, binding.derivations.isEmpty,
            let headStart = ahead.take(in: stack.root)
        else { return }
        var rows: [StoredRow] = []
        rows.reserveCapacity(binding.inserted.count - binding.aheadCount)
        for object in binding.inserted[binding.aheadCount..<binding.inserted.count - 1] where object.state == .inserted
        {
            object.row.compact(object.layout)
            rows.append(StoredRow(key: object.key, row: object.row))
        }
        binding.aheadCount = binding.inserted.count - 1
        stack.root.write(NewRows(entity: binding.layout.index, rows), ahead: headStart)
    }
}
