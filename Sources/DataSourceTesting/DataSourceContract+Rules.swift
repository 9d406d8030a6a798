internal import CoreDataSource

/// One check for each rule. A check returns the violations as sentences.
extension DataSourceContract {
    func checkAdding(_ expected: StoredContents) async throws -> [String] {
        let again = try await withSource { container, source in
            try await source.add(values)
            return try await contents(after: values, in: container, source)
        }
        let inOneBatch = try await withSource { try await contents(after: values + values, in: $0, $1) }
        let advice = "Look up the object by its key before you insert an object, and set the attributes from the value."
        return [
            again.difference(from: expected).map {
                "Adding the same values again changed the stored objects: \($0). \(advice)"
            },
            inOneBatch.difference(from: expected).map {
                "Adding each value twice in one batch stored different objects than adding it once: \($0). \(advice)"
            },
        ].compactMap(\.self)
    }

    func checkDeleting(_ expected: StoredContents) async throws -> [String] {
        let half = values.count / 2
        let (first, second) = (Array(values[..<half]), Array(values[half...]))
        let (some, all) = try await withSource { container, source in
            try await source.add(values)
            try await source.delete(first)
            let some = try await StoredContents(container)
            // Delete the values of the first half once more.
            try await source.delete(values)
            return (some, try await StoredContents(container))
        }
        let alone = try await withSource { try await contents(after: second, in: $0, $1) }
        let (left, right) = (some.count(of: Object.self), alone.count(of: Object.self))
        var problems: [String] = []
        if !all.isEmpty(of: Object.self) {
            problems.append(
                "After all values were deleted, objects of \(Object.entityName) are left: \(all.count(of: Object.self)). Delete the object of the value in onDelete(_:in:)."
            )
        }
        if left != right {
            problems.append(
                "After \(half) of \(values.count) values were deleted, the number of objects of \(Object.entityName) is \(left) instead of \(right). Delete only the object of the value."
            )
        } else if let extra = some.excess(over: expected, alone, of: Object.self) {
            problems.append(
                "After some values were deleted, an object of another value had changed: \(extra). Delete only the object of the value, and change no other object."
            )
        }
        return problems
    }

    func checkSyncing() async throws -> [String] {
        try await withSource { container, source in
            try await source.sync(values, entity: Object.self)
            let before = try await StoredContents(container)
            let report = try await source.sync(values, entity: Object.self)
            var problems: [String] = []
            if report.inserted + report.updated + report.deleted > 0 {
                problems.append(
                    "Syncing the same list again inserted \(report.inserted), updated \(report.updated) and deleted \(report.deleted) objects. Set each attribute from the value alone, and return the existing object."
                )
            }
            if let difference = try await StoredContents(container).difference(from: before) {
                problems.append("Syncing the same list again changed the stored objects: \(difference).")
            }
            return problems
        }
    }

    func checkOrder(_ expected: StoredContents) async throws -> [String] {
        let middle = values.count / 2
        let orders = [Array(values.reversed()), Array(values[middle...] + values[..<middle])]
        var problems: [String] = []
        for order in orders {
            let found = try await withSource { try await contents(after: order, in: $0, $1) }
            if let difference = found.difference(from: expected) {
                problems.append("Adding the values in another order stored different objects: \(difference).")
                break
            }
        }
        if let problem = try await checkBatchSize(expected) { problems.append(problem) }
        let advice = "Derive the object of a value from that value alone."
        return problems.map { "\($0) \(advice)" }
    }

    /// Adds the values one by one, and compares the objects. A hook cannot link to the object of a later value. So if links
    /// are missing, adds the values one by one a second time, and compares the objects then.
    private func checkBatchSize(_ expected: StoredContents) async throws -> String? {
        try await withSource { container, source in
            for value in values { try await source.add([value]) }
            let once = try await StoredContents(container)
            guard let difference = once.difference(from: expected) else { return nil }
            guard once.lacksLinks(of: expected) else {
                return "Adding the values one by one stored different objects: \(difference)."
            }
            for value in values { try await source.add([value]) }
            return try await StoredContents(container).difference(from: expected).map {
                "Adding the values one by one, and then once more to set the links to later values, stored different objects: \($0). Set the links in link(_:from:in:), which is called each time that a value is added."
            }
        }
    }

    func checkThrowing(_ expected: StoredContents) async throws -> [String] {
        var problems: [String] = []
        for count in Set([1, values.count / 2, values.count]).sorted() {
            problems += try await withSource { container, source in
                do {
                    try await source.perform { context in
                        let values = Array(values.prefix(count))
                        try source.prepare(values, in: context)
                        for value in values { _ = try source.onAdd(value, in: context) }
                        throw Interruption()
                    }
                } catch is Interruption {}
                return try await effectsOfThrownBatch(
                    expected, "a batch that threw after \(count) of \(values.count) values", in: container, source)
            }
        }
        for (index, value) in refused.enumerated() {
            problems += try await withSource { container, source in
                do { try await source.add(values + [value]) } catch {
                    return try await effectsOfThrownBatch(
                        expected, "a batch with the refused value \(index)", in: container, source)
                }
                return ["Refused value \(index) was added without an error. Let the hook throw its errors."]
            }
        }
        return problems
    }

    /// Returns a sentence for each effect of a batch that threw. Such a batch must have no effects.
    private func effectsOfThrownBatch(
        _ expected: StoredContents, _ batch: String, in container: PersistentContainer, _ source: Source
    ) async throws -> [String] {
        var problems: [String] = []
        let empty = try await withSource { container, _ in try await StoredContents(container) }
        if let difference = try await StoredContents(container).difference(from: empty) {
            problems.append(
                "After \(batch), the store differs from a store without the values: \(difference). Change objects only in the context of the hook."
            )
        }
        if let difference = try await contents(after: values, in: container, source).difference(from: expected) {
            problems.append(
                "Adding the same values after \(batch) stored different objects: \(difference). Let no hook depend on state of the data source."
            )
        }
        return problems
    }
}

/// The error that a check throws in the middle of a batch.
private struct Interruption: Error {}
